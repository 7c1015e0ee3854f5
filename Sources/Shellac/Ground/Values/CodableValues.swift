// Codable types as database values, stored as a single value, a raw value or JSON.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Codable values conform with one line. One that encodes itself as a single value is stored as that value, and any other
// as JSON text with sorted keys:
//
//     struct Address: Codable, DatabaseValueConvertible {
//         var street: String
//         var city: String
//     }
//
// Equal values give equal texts, so that comparing what is stored compares the values. (Sets are an exception, and
// dictionaries whose keys are neither strings nor integers: Swift encodes them in no particular order.) Data inside
// is in Base64, dates are in milliseconds since 1970, unless the type's own encoder says otherwise.

extension DatabaseValueConvertible where Self: Encodable {
    /// The value as a column stores it: the single value that it encodes itself as, or JSON.
    ///
    /// A text that would be read as JSON, such as one in quotes, is quoted. A value that cannot be encoded, such as
    /// not-a-number in JSON, is stored as NULL, so that a NOT NULL column refuses it.
    public var databaseValue: DatabaseValue {
        do {
            guard let single = try SingleValueEncoding.value(of: self) else { return jsonValue ?? .null }
            if case .string(let text) = single.storage, Self.readsJSON(text) { return jsonValue ?? single }
            return single
        } catch {
            return .null
        }
    }

    private var jsonValue: DatabaseValue? {
        guard let json = try? Self.databaseJSONEncoder().encode(self) else { return nil }
        return DatabaseValue(.string(String(decoding: json, as: UTF8.self)))
    }

    /// Whether a text, which is to be stored, would be taken for JSON.
    private static func readsJSON(_ text: String) -> Bool {
        guard JSON.mayBegin(text) else { return false }
        func reads(_ type: (some Decodable & DatabaseValueConvertible).Type) -> Bool {
            (try? type.databaseJSONDecoder().decode(type, from: Data(text.utf8))) != nil
        }
        guard let type = self as? any (Decodable & DatabaseValueConvertible).Type else { return false }
        return reads(type)
    }
}

extension DatabaseValueConvertible where Self: Decodable {
    /// Returns the value that was stored as a single value, or as JSON.
    ///
    /// - Parameter value: The stored value. What a text says as JSON comes first: see ``databaseValue``, which quotes the texts that say
    ///   something else.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        if case .string(let text) = value.storage {
            guard JSON.mayBegin(text) else { return fromSingleValue(value) }
            return value.json.flatMap(fromJSON) ?? fromSingleValue(value)
        }
        return fromSingleValue(value) ?? value.json.flatMap(fromJSON)
    }

    /// Reads NULL as nil where an optional is read, also for a type that can be decoded from nothing.
    @_documentation(visibility: internal)
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Self? {
        value.isNull ? nil : fromDatabaseValue(value.databaseValue)
    }

    private static func fromSingleValue(_ value: DatabaseValue) -> Self? {
        try? Self(from: SingleValueDecoder(value: value))
    }

    private static func fromJSON(_ json: Data) -> Self? {
        try? databaseJSONDecoder().decode(Self.self, from: json)
    }
}

// A type that is both stores its raw value.

extension DatabaseValueConvertible
where Self: Encodable & RawRepresentable, RawValue: DatabaseValueConvertible {
    /// The raw value, as a column stores it.
    public var databaseValue: DatabaseValue { rawValue.databaseValue }
}

extension DatabaseValueConvertible
where Self: Decodable & RawRepresentable, RawValue: DatabaseValueConvertible {
    /// Returns the value of a raw value that was stored, or nil where there is none, as for an unknown case of an enum.
    ///
    /// - Parameter value: The stored raw value. Nil is returned where it does not convert, too.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(value).flatMap(Self.init(rawValue:))
    }
}

extension DatabaseValueConvertible {
    /// Returns the default decoder: data in Base64, dates in milliseconds since 1970, no infinite numbers.
    public static func databaseJSONDecoder() -> JSONDecoder { JSON.decoder() }

    /// Returns the default encoder: sorted keys, data in Base64, dates in milliseconds since 1970, no infinite numbers.
    public static func databaseJSONEncoder() -> JSONEncoder { JSON.encoder() }
}

extension DatabaseValue {
    /// The JSON that the value is, where it is any. Nil for NULL.
    var json: Data? {
        switch storage {
        case .null: nil
        // A column may have made a number of a text that was one.
        case .int64(let integer): Data("\(integer)".utf8)
        case .double(let double): Data("\(double)".utf8)
        case .string(let text): Data(text.utf8)
        case .blob(let data): data
        }
    }
}

/// How nested values are stored.
enum JSON {
    /// Whether a text may be JSON, by its first character. Most texts are not.
    static func mayBegin(_ text: String) -> Bool {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): continue
            case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "-"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "t"), UInt8(ascii: "f"),
                UInt8(ascii: "n"):
                return true
            default: return false
            }
        }
        return false
    }

    static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dataEncodingStrategy = .base64
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.nonConformingFloatEncodingStrategy = .throw
        encoder.outputFormatting = .sortedKeys
        return encoder
    }

    static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dataDecodingStrategy = .base64
        decoder.dateDecodingStrategy = .millisecondsSince1970
        decoder.nonConformingFloatDecodingStrategy = .throw
        return decoder
    }
}

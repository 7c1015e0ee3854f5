// Codable types as database values, stored as a single value, a raw value or JSON.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Codable values conform with one line. A value that encodes itself as a single value is stored as
// that value. Any other value is stored as JSON text with sorted keys:
//
//     struct Address: Codable, DatabaseValueConvertible {
//         var street: String
//         var city: String
//     }
//
// Equal values give equal texts, so comparing the stored texts compares the values. (Sets are an
// exception, and so are dictionaries whose keys are neither strings nor integers. Swift encodes
// them in no particular order.) Nested data is in Base64, and nested dates are in milliseconds
// since 1970, unless the type's own encoder differs.

extension DatabaseValueConvertible where Self: Encodable {
    /// The value as a column stores it: the single value that it encodes itself as, or JSON.
    ///
    /// A text that would be read as JSON, such as one in quotes, is quoted. A value that cannot be
    /// encoded, such as not-a-number in JSON, is stored as NULL. So a NOT NULL column rejects it.
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

    /// Whether a text, once stored, would be read as JSON.
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
    /// - Parameter value: The stored value. If a text is valid JSON for the type, the JSON is
    ///   decoded first. See ``databaseValue``, which quotes other texts that look like JSON.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        if case .string(let text) = value.storage {
            guard JSON.mayBegin(text) else { return fromSingleValue(value) }
            return value.json.flatMap(fromJSON) ?? fromSingleValue(value)
        }
        return fromSingleValue(value) ?? value.json.flatMap(fromJSON)
    }

    /// Reads NULL as nil for an optional, even if the type can be decoded from nothing.
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

// A type that is both Codable and RawRepresentable stores its raw value.

extension DatabaseValueConvertible
where Self: Encodable & RawRepresentable, RawValue: DatabaseValueConvertible {
    /// The raw value, as a column stores it.
    public var databaseValue: DatabaseValue { rawValue.databaseValue }
}

extension DatabaseValueConvertible
where Self: Decodable & RawRepresentable, RawValue: DatabaseValueConvertible {
    /// Returns the value of a stored raw value. Returns nil if there is none, as for an unknown
    /// case of an enum.
    ///
    /// - Parameter value: The stored raw value. If it does not convert, the result is nil, too.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(value).flatMap(Self.init(rawValue:))
    }
}

extension DatabaseValueConvertible {
    /// Returns the default decoder: data in Base64, dates in milliseconds since 1970, no infinite
    /// numbers.
    public static func databaseJSONDecoder() -> JSONDecoder { JSON.decoder() }

    /// Returns the default encoder: sorted keys, data in Base64, dates in milliseconds since 1970,
    /// no infinite numbers.
    public static func databaseJSONEncoder() -> JSONEncoder { JSON.encoder() }
}

extension DatabaseValue {
    /// The value as JSON, or nil for NULL. It may not be valid JSON.
    var json: Data? {
        switch storage {
        case .null: nil
        // A column may have converted a numeric text to a number.
        case .int64(let integer): Data("\(integer)".utf8)
        case .double(let double): Data("\(double)".utf8)
        case .string(let text): Data(text.utf8)
        case .blob(let data): data
        }
    }
}

/// The JSON form of nested values.
enum JSON {
    /// Whether the first character of a text allows it to be JSON. Most texts are not.
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

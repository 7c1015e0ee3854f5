#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Codable values conform with one line, and are stored as JSON text with sorted keys:
//
//     struct Address: Codable, DatabaseValueConvertible {
//         var street: String
//         var city: String
//     }
//
// Equal values give equal texts, so that comparing what is stored compares the values. (Sets are an exception, and
// dictionaries whose keys are neither strings nor integers: Swift encodes them in no particular order.) Data inside
// is in Base64, dates are in milliseconds since 1970.

extension DatabaseValueConvertible where Self: Encodable {
    /// The value as JSON. A value that cannot be encoded, such as a not-a-number, is stored as NULL, so that
    /// a NOT NULL column refuses it.
    public var databaseValue: DatabaseValue {
        guard let json = try? JSON.encoder().encode(self) else { return .null }
        return DatabaseValue(.string(String(decoding: json, as: UTF8.self)))
    }
}

extension DatabaseValueConvertible where Self: Decodable {
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        let json: Data
        switch value.storage {
        case .null: return nil
        // A column may have made a number of a text that was one.
        case .int64(let integer): json = Data("\(integer)".utf8)
        case .double(let double): json = Data("\(double)".utf8)
        case .string(let text): json = Data(text.utf8)
        case .blob(let data): json = data
        }
        return try? JSON.decoder().decode(Self.self, from: json)
    }
}

// A type that is both stores its raw value.

extension DatabaseValueConvertible
where Self: Encodable & RawRepresentable, RawValue: DatabaseValueConvertible {
    public var databaseValue: DatabaseValue { rawValue.databaseValue }
}

extension DatabaseValueConvertible
where Self: Decodable & RawRepresentable, RawValue: DatabaseValueConvertible {
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(value).flatMap(Self.init(rawValue:))
    }
}

/// How nested values are stored.
enum JSON {
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

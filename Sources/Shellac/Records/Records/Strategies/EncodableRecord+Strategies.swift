// The default coding strategies and JSON coders of records, and key values by strategy.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension EncodableRecord {
    public static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .deferredToDate
    }

    public static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
        .deferredToData
    }

    public static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .deferredToUUID
    }

    public static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .useDefaultKeys }

    /// Returns the default encoder: sorted keys, data in Base64, dates in milliseconds since 1970,
    /// no infinite numbers.
    ///
    /// - Parameter column: The name of the column. The default encoder is the same for all.
    public static func databaseJSONEncoder(for column: String) -> JSONEncoder { jsonEncoder }

    /// The encoder of JSON, if the type defines no other.
    static var jsonEncoder: JSONEncoder {
        let encoder = JSON.encoder()
        encoder.userInfo = sendable(encodingUserInfo)
        return encoder
    }

    public static var databaseEncodingUserInfo: [CodingUserInfoKey: any Sendable] { [:] }
}

extension TableRecord where Self: EncodableRecord {
    public static func databaseKeyValue(
        _ value: any DatabaseValueConvertible, for column: String
    ) throws -> DatabaseValue { try storedKeyValue(value, for: column) }
}

extension EncodableRecord {
    @_documentation(visibility: internal)
    public static func databaseKeyValue(
        _ value: any DatabaseValueConvertible, for column: String
    ) throws -> DatabaseValue { try storedKeyValue(value, for: column) }

    /// Returns a value as the strategies of the type store it in a column.
    static func storedKeyValue(
        _ value: any DatabaseValueConvertible, for column: String
    ) throws -> DatabaseValue {
        switch value {
        case let date as Date: return databaseDateEncodingStrategy(for: column).value(for: date)
        case let data as Data:
            guard let value = databaseDataEncodingStrategy(for: column).value(for: data) else {
                throw EncodingError.invalidValue(
                    data,
                    EncodingError.Context(
                        codingPath: [ColumnKey(column)],
                        debugDescription: "the data of the column \(column) is not UTF-8 text"))
            }
            return value
        case let uuid as UUID: return databaseUUIDEncodingStrategy(for: column).value(for: uuid)
        default: return value.databaseValue
        }
    }
}

extension FetchableRecord {
    public static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .deferredToDate
    }

    public static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
        .deferredToData
    }

    public static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .useDefaultKeys }

    /// Returns the default decoder: data in Base64, dates in milliseconds since 1970, no infinite
    /// numbers.
    ///
    /// - Parameter column: The name of the column. The default decoder is the same for all.
    public static func databaseJSONDecoder(for column: String) -> JSONDecoder { jsonDecoder }

    /// The decoder of JSON, if the type defines no other.
    static var jsonDecoder: JSONDecoder {
        let decoder = JSON.decoder()
        decoder.userInfo = sendable(decodingUserInfo)
        return decoder
    }

    public static var databaseDecodingUserInfo: [CodingUserInfoKey: any Sendable] { [:] }
}

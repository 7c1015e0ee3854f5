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

    /// By default: sorted keys, data in Base64, dates in milliseconds since 1970, no infinite numbers.
    public static func databaseJSONEncoder(for column: String) -> JSONEncoder {
        let encoder = JSON.encoder()
        encoder.userInfo = sendable(encodingUserInfo)
        return encoder
    }

    public static var databaseEncodingUserInfo: [CodingUserInfoKey: any Sendable] { [:] }
}

extension FetchableRecord {
    public static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .deferredToDate
    }

    public static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
        .deferredToData
    }

    public static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .useDefaultKeys }

    /// By default: data in Base64, dates in milliseconds since 1970, no infinite numbers.
    public static func databaseJSONDecoder(for column: String) -> JSONDecoder {
        let decoder = JSON.decoder()
        decoder.userInfo = sendable(decodingUserInfo)
        return decoder
    }

    public static var databaseDecodingUserInfo: [CodingUserInfoKey: any Sendable] { [:] }
}

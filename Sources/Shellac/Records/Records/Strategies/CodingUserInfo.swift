// The `userInfo` of Codable records, in either of the two types that a record may declare it with.
//
// A declaration of another type than the one that a protocol requires is no witness of it, and the compiler does not say
// so. So each type is required by a protocol of its own, and a record's declaration witnesses one of them.

/// A type whose records find a `userInfo` in their decoder. Do not conform to this protocol: see ``FetchableRecord``.
@_documentation(visibility: internal)
public protocol DatabaseDecodingContext {
    /// By default, what ``FetchableRecord/databaseDecodingUserInfo`` says.
    static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { get }
}

/// A type whose records find a `userInfo` in their encoder. Do not conform to this protocol: see ``EncodableRecord``.
@_documentation(visibility: internal)
public protocol DatabaseEncodingContext {
    /// By default, what ``EncodableRecord/databaseEncodingUserInfo`` says.
    static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { get }
}

extension DatabaseDecodingContext {
    @_documentation(visibility: internal)
    public static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] {
        guard let record = self as? any FetchableRecord.Type else { return [:] }
        let userInfo: [CodingUserInfoKey: any Sendable] = sendableUserInfo(record)
        return userInfo
    }

    /// The `userInfo`, whichever type it was declared with.
    static var decodingUserInfo: [CodingUserInfoKey: Any] { databaseDecodingUserInfo }
}

extension DatabaseEncodingContext {
    @_documentation(visibility: internal)
    public static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] {
        guard let record = self as? any EncodableRecord.Type else { return [:] }
        let userInfo: [CodingUserInfoKey: any Sendable] = sendableUserInfo(record)
        return userInfo
    }

    /// The `userInfo`, whichever type it was declared with.
    static var encodingUserInfo: [CodingUserInfoKey: Any] { databaseEncodingUserInfo }
}

private func sendableUserInfo<Record: FetchableRecord>(
    _ type: Record.Type
) -> [CodingUserInfoKey: any Sendable] { type.databaseDecodingUserInfo }

private func sendableUserInfo<Record: EncodableRecord>(
    _ type: Record.Type
) -> [CodingUserInfoKey: any Sendable] { type.databaseEncodingUserInfo }

/// Returns the values for a coder of JSON, which is used by the thread that has made it, and freed.
func sendable(_ userInfo: [CodingUserInfoKey: Any]) -> [CodingUserInfoKey: any Sendable] {
    // `Sendable` is a marker: it is not there when the program runs, and cannot be asked for.
    // (`as Any` keeps Swift from opening the box, whose content has another size.)
    userInfo.mapValues { unsafeBitCast($0 as Any, to: (any Sendable).self) }
}

// The `userInfo` of Codable records, in either of the two types that a record may declare.
//
// If a declaration has another type than a protocol requires, it does not satisfy the requirement,
// and the compiler does not report it. So each type has a protocol of its own, and a record's
// declaration satisfies one of them.

/// A type whose records find a `userInfo` in their decoder. Do not conform to this protocol: see
/// ``FetchableRecord``.
@_documentation(visibility: internal)
public protocol DatabaseDecodingContext {
    /// By default, the value of ``FetchableRecord/databaseDecodingUserInfo``.
    static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] { get }
}

/// A type whose records find a `userInfo` in their encoder. Do not conform to this protocol: see
/// ``EncodableRecord``.
@_documentation(visibility: internal)
public protocol DatabaseEncodingContext {
    /// By default, the value of ``EncodableRecord/databaseEncodingUserInfo``.
    static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { get }
}

extension DatabaseDecodingContext {
    @_documentation(visibility: internal)
    public static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] {
        guard let record = self as? any FetchableRecord.Type else { return [:] }
        let userInfo: [CodingUserInfoKey: any Sendable] = sendableUserInfo(record)
        return userInfo
    }

    /// The `userInfo`, in whichever type it was declared.
    static var decodingUserInfo: [CodingUserInfoKey: Any] { databaseDecodingUserInfo }
}

extension DatabaseEncodingContext {
    @_documentation(visibility: internal)
    public static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] {
        guard let record = self as? any EncodableRecord.Type else { return [:] }
        let userInfo: [CodingUserInfoKey: any Sendable] = sendableUserInfo(record)
        return userInfo
    }

    /// The `userInfo`, in whichever type it was declared.
    static var encodingUserInfo: [CodingUserInfoKey: Any] { databaseEncodingUserInfo }
}

private func sendableUserInfo<Record: FetchableRecord>(
    _ type: Record.Type
) -> [CodingUserInfoKey: any Sendable] { type.databaseDecodingUserInfo }

private func sendableUserInfo<Record: EncodableRecord>(
    _ type: Record.Type
) -> [CodingUserInfoKey: any Sendable] { type.databaseEncodingUserInfo }

/// Returns the values for a coder of JSON, which the thread that made it uses and frees.
func sendable(_ userInfo: [CodingUserInfoKey: Any]) -> [CodingUserInfoKey: any Sendable] {
    // `Sendable` is a marker. It does not exist at run time, and cannot be tested. (`as Any` keeps
    // Swift from opening the box, whose content has another size.)
    userInfo.mapValues { unsafeBitCast($0 as Any, to: (any Sendable).self) }
}

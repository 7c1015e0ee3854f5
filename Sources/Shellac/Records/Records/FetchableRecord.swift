// The protocol of types that are initialized from a row, with their decoding strategies.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A type that reads itself from a row.
///
/// ```swift
/// struct Player: FetchableRecord {
///     var name: String
///     var score: Int
///
///     init(row: Row) throws {
///         name = try row["name"]
///         score = try row["score"]
///     }
/// }
///
/// let players = try Player.fetchAll(db, sql: "SELECT * FROM player ORDER BY score DESC")
/// ```
///
/// A `Decodable` type does so without a line of code: each property is a column, which holds JSON where the property is
/// no ``DatabaseValueConvertible``, nor decodes itself from a single value. See `fetchCursor`, `fetchAll`, `fetchSet` and `fetchOne` for
/// what fetches.
public protocol FetchableRecord: DatabaseFetchable, DatabaseDecodingContext, SendableMetatype {
    /// Reads a row.
    ///
    /// - Parameter row: The row. It is good until this returns: use ``Row/copy()`` to keep it.
    /// - Throws: an error that whoever fetches the record gets: mostly a ``RowDecodingError``.
    init(row: Row) throws

    /// Returns how a `Decodable` record reads the dates of a column.
    ///
    /// - Parameter column: The name of the column, and not that of the coding key.
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy
    /// Returns how a `Decodable` record reads the data of a column.
    ///
    /// - Parameter column: The name of the column, and not that of the coding key.
    static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy
    /// A strategy that maps column names to the coding keys of a `Decodable` record.
    static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { get }
    /// Returns the decoder that reads the JSON of a column.
    ///
    /// - Parameter column: The name of the column, and not that of the coding key.
    static func databaseJSONDecoder(for column: String) -> JSONDecoder
    /// The `userInfo` that a `Decodable` record finds in its decoder. A type may declare it as
    /// `[CodingUserInfoKey: Any]`, too.
    static var databaseDecodingUserInfo: [CodingUserInfoKey: any Sendable] { get }
}

extension FetchableRecord {
    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func currentElement(of row: LiveRow) throws -> Self { try Self(row: Row(row)) }
}

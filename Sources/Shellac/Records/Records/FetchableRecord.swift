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
/// A `Decodable` type needs no code for this: each property is a column. The column holds JSON if
/// the property is not a ``DatabaseValueConvertible``, and does not decode itself from a single
/// value. The methods that fetch are `fetchCursor`, `fetchAll`, `fetchSet` and `fetchOne`.
public protocol FetchableRecord: DatabaseFetchable, DatabaseDecodingContext, SendableMetatype {
    /// Initializes the record from a row.
    ///
    /// - Parameter row: The row. It is valid until this returns. Use ``Row/copy()`` to keep it.
    /// - Throws: an error that the code that fetches the record gets, usually a
    ///   ``RowDecodingError``.
    init(row: Row) throws

    /// Returns the strategy by which a `Decodable` record reads the dates of a column.
    ///
    /// - Parameter column: The name of the column, not of the coding key.
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy
    /// Returns the strategy by which a `Decodable` record reads the data of a column.
    ///
    /// - Parameter column: The name of the column, not of the coding key.
    static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy
    /// The strategy that maps column names to the coding keys of a `Decodable` record.
    static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { get }
    /// Returns the decoder that reads the JSON of a column.
    ///
    /// - Parameter column: The name of the column, not of the coding key.
    static func databaseJSONDecoder(for column: String) -> JSONDecoder
    /// The `userInfo` that a `Decodable` record finds in its decoder. A type may also declare it as
    /// `[CodingUserInfoKey: Any]`.
    static var databaseDecodingUserInfo: [CodingUserInfoKey: any Sendable] { get }
}

extension FetchableRecord {
    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func currentElement(of row: LiveRow) throws -> Self { try Self(row: Row(row)) }
}

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
/// A `Decodable` type does so without a line of code. See `fetchCursor`, `fetchAll`, `fetchSet` and `fetchOne` for
/// what fetches.
public protocol FetchableRecord: DatabaseFetchable, SendableMetatype {
    /// Reads a row. It is good until this returns: use ``Row/copy()`` to keep it.
    init(row: Row) throws
}

extension FetchableRecord {
    @inlinable @inline(__always)
    public static func currentElement(of row: LiveRow) throws -> Self { try Self(row: Row(row)) }
}

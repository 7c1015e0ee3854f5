/// A statement that repeatedly reads whole tables, and the index that would help.
///
/// ```text
/// an index would help a statement that has read 120000 rows in 40 runs, to give 40:
/// SELECT * FROM player WHERE teamId = ?
/// CREATE INDEX "player_teamId" ON "player"("teamId")
/// ```
///
/// The advice comes from SQLite itself. Its planner gets the same tables, without rows, and with an
/// index on each of the columns that the statement reads. Then it chooses. At the end of an access,
/// the advice is reported to ``Configuration/reportHandler``, or as described in
/// ``Configuration/advisesIndexes``.
///
/// An index slows down each write to its table. Whether it is worth that is for the program's
/// developers to decide.
public struct IndexAdvice: Sendable, CustomStringConvertible {
    /// The SQL of the statement.
    public let sql: String
    /// The number of times that the connection has run it.
    public let runCount: Int
    /// The number of rows that SQLite has scanned, or put into an index created for one run.
    public let rowsRead: Int
    /// The number of rows that the statement has returned.
    public let rowCount: Int
    /// The indexes that would help, as SQL.
    public let indexes: [String]

    public var description: String {
        "an index would help a statement that has read \(rowsRead) rows in \(runCount) runs to return "
            + "\(rowCount): \(sql)\n"
            + indexes.joined(separator: "\n")
    }
}

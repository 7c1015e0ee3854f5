/// A statement that reads whole tables again and again, and the index that would help.
///
/// ```text
/// an index would help a statement that has read 120000 rows in 40 runs, to give 40:
/// SELECT * FROM player WHERE teamId = ?
/// CREATE INDEX "player_teamId" ON "player"("teamId")
/// ```
///
/// SQLite itself says so: its planner is shown the same tables, empty, with an index on each of the columns that the statement reads,
/// and chooses. It is told by ``Configuration/report``, or as ``Configuration/advisesIndexes`` says, at the end of an access.
///
/// An index makes each write to its table slower. Whether it is worth that, the program's developers know.
public struct IndexAdvice: Sendable, CustomStringConvertible {
    /// The SQL of the statement.
    public let sql: String
    /// How often the connection has run it.
    public let runCount: Int
    /// How many rows SQLite has read one after the other, or put into an index made for one run.
    public let rowsRead: Int
    /// How many rows the statement has given.
    public let rowCount: Int
    /// What would help, as SQL.
    public let indexes: [String]

    public var description: String {
        "an index would help a statement that has read \(rowsRead) rows in \(runCount) runs, to give \(rowCount): \(sql)\n"
            + indexes.joined(separator: "\n")
    }
}

import TestSupport
import Testing

@testable import Shellac

extension Database {
    /// The SQL of the statements that a function executes, without pragmas and look-ups of the
    /// schema.
    func executedSQL(_ body: () throws -> Void) rethrows -> [String] {
        let spy = SQLSpy()
        trace(spy.trace)
        defer { trace(nil) }
        try body()
        return spy.sql.filter {
            // Statements that read the schema are left out.
            !["PRAGMA", "SELECT type", "SELECT sql", "--"].contains(where: $0.hasPrefix)
        }
    }
}

/// Runs a test in a database in memory, outside of a transaction.
func inDatabase(_ body: (Database) throws -> Void) throws {
    try DatabaseQueue().inDatabase(body)
}

/// Runs a test with two connections to one file.
func withTwoConnections(
    journalMode: JournalMode = .wal, _ body: (_ here: DatabaseQueue, _ there: DatabaseQueue) throws -> Void
) throws {
    let folder = try TemporaryFolder()
    var configuration = Configuration()
    configuration.journalMode = journalMode
    let path = folder.path("test.sqlite")
    let here = try DatabaseQueue(path: path, configuration: configuration)
    let there = try DatabaseQueue(path: path, configuration: configuration)
    try body(here, there)
    try here.close()
    try there.close()
}

/// The message of the database's error that a function throws.
func message(_ body: () throws -> Void) -> String? { databaseError(body)?.message }

/// Names that break SQL which does not quote them.
let hostileNames = [
    "", " ", "a b", "\"", "a\"b", "'", "a'b", "`", "[x]", "a;b", "--", "/*", "?", ":a", "select", "PRIMARY",
    "é", "日本",
    "a.b", "a)b", "%", "\\", "\n", "😀", "x\"); DROP TABLE t; --",
]

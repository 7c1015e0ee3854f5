// The parts of the library that arbitrary bytes test.

import Shellac

/// A part of the library that takes bytes from outside.
///
/// `check(_:)` calls it with arbitrary bytes. Errors of the library are fine: a finding is a
/// crash, or a contradiction between two ways to the same result.
public enum FuzzedInput: String, CaseIterable, Sendable {
    case dates, quoting, statements, rows, json, exchange, files, search

    /// Feeds a part of the library with bytes.
    ///
    /// - Throws: a ``FuzzFinding``, or an unexpected error of the library.
    public func check(_ bytes: [UInt8]) throws {
        switch self {
        case .dates: try checkDates(bytes)
        case .quoting: try checkQuoting(bytes)
        case .statements: try checkStatements(bytes)
        case .rows: try checkRows(bytes)
        case .json: try checkJSON(bytes)
        case .exchange: try checkExchange(bytes)
        case .files: try checkFile(bytes)
        case .search: try checkSearch(bytes)
        }
    }
}

/// A contradiction that some bytes lead to.
public struct FuzzFinding: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Throws a finding unless two values are equal.
func expect<Value: Equatable>(_ value: Value, _ expected: Value, _ subject: @autoclosure () -> String) throws
{
    if value != expected { throw FuzzFinding("\(subject()): \(value) instead of \(expected)") }
}

/// The database in memory that the checks without a file share.
let sharedQueue: DatabaseQueue = {
    do {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE exact (a, b, c, d);
                    CREATE TABLE typed (id INTEGER PRIMARY KEY, a TEXT, b INTEGER, c REAL, d BLOB, e NUMERIC);
                    CREATE TABLE imported (a, b TEXT, c INTEGER, d REAL);
                    CREATE TABLE again (a, b TEXT, c INTEGER, d REAL);
                    """)
        }
        return queue
    } catch {
        fatalError("the database of the checks: \(error)")
    }
}()

// Expectations about the statements that run, and about the rows that change.

import Foundation
import Shellac
import Testing

/// Expects that a body executes exactly some statements.
///
/// ```swift
/// try dbQueue.write { db in
///     try expectStatements(["UPDATE \"player\" SET \"score\"=? WHERE \"id\"=?"], db) {
///         try player.updateChanges(db)
///     }
/// }
/// ```
///
/// - Parameters:
///   - expected: The statements in order, without the values of their arguments.
///   - db: The connection.
///   - body: The function that executes them.
/// - Returns: The result of the body.
@discardableResult
public func expectStatements<Result>(
    _ expected: [String], _ db: Database, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Result
) rethrows -> Result {
    let (result, statements) = try statements(on: db, body)
    if statements != expected {
        Issue.record("expected \(expected), but \(statements) ran", sourceLocation: sourceLocation)
    }
    return result
}

/// Expects that a body executes a number of statements, such as one for any number of rows.
///
/// - Parameters:
///   - count: The number of statements.
///   - db: The connection.
///   - body: The function that executes them.
/// - Returns: The result of the body.
@discardableResult
public func expectStatements<Result>(
    count: Int, _ db: Database, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Result
) rethrows -> Result {
    let (result, statements) = try statements(on: db, body)
    if statements.count != count {
        Issue.record(
            "expected \(count) statements, but \(statements.count) ran: \(statements)",
            sourceLocation: sourceLocation)
    }
    return result
}

/// Returns the SQL of the statements that a body executes, without those that Shellac asks for
/// itself.
private func statements<Result>(
    on db: Database, _ body: () throws -> Result
) rethrows -> (Result, [String]) {
    let statements = Statements()
    db.trace { event in if !event.isInternal { statements.append(event.sql) } }
    defer { db.trace(nil) }
    return (try body(), statements.all)
}

/// Statements that were executed, in order.
private final class Statements: @unchecked Sendable {  // `list` is used under `lock`
    private let lock = NSLock()
    private var list: [String] = []

    var all: [String] { lock.withLock { list } }

    func append(_ sql: String) { lock.withLock { list.append(sql) } }
}

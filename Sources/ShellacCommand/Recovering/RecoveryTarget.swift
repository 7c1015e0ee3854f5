// The places where recovered rows go: SQL on the standard output, or a new file.

import CSQLite
import Shellac

/// A place for what was read of a damaged file.
protocol RecoveryTarget: AnyObject {
    /// Executes SQL that makes a part of the schema, or sets a value of the file.
    func execute(_ sql: String) throws
    /// Adds a row, unless there is one with its key.
    func insert(into table: String, _ columns: [String], _ values: [DatabaseValue]) throws
    func finish() throws
}

/// SQL on the standard output.
final class SQLTarget: RecoveryTarget {
    private let output: Output

    init(_ output: Output) throws {
        self.output = output
        try output.line("PRAGMA foreign_keys = OFF;\nBEGIN;")
    }

    func execute(_ sql: String) throws { try output.line(sql + ";") }

    func insert(into table: String, _ columns: [String], _ values: [DatabaseValue]) throws {
        try output.line(
            "INSERT OR IGNORE INTO \(table) (\(columns.joined(separator: ", "))) VALUES "
                + "(\(values.map(Self.literal).joined(separator: ", ")));")
    }

    func finish() throws { try output.line("COMMIT;") }

    /// Returns a value as an SQL literal.
    static func literal(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: return "NULL"
        case .int64(let number): return "\(number)"
        case .double(let number):
            return number.isFinite ? "\(number)" : number > 0 ? "9e999" : "-9e999"
        case .string(let text):
            // A shell reads SQL up to a NUL.
            if text.utf8.contains(0) { return "CAST(x'\(hexadecimal(text.utf8))' AS TEXT)" }
            return text.quotedDatabaseLiteral
        case .blob(let bytes): return "x'\(hexadecimal(bytes))'"
        }
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// A new file.
final class FileTarget: RecoveryTarget {
    private let queue: DatabaseQueue
    private let path: String

    init(_ path: String) throws {
        var status = stat()
        if stat(path, &status) == 0 {
            throw Failure(.unreadable, "\(path) exists: recover writes into a new file")
        }
        self.path = path
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.inDatabase { db in try db.execute(sql: "PRAGMA ignore_check_constraints = ON") }
        } catch { throw Failure(error, path: path) }
    }

    func execute(_ sql: String) throws {
        try queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
    }

    private var rows: [(sql: String, values: [DatabaseValue])] = []

    func insert(into table: String, _ columns: [String], _ values: [DatabaseValue]) throws {
        let places = Array(repeating: "?", count: values.count).joined(separator: ", ")
        rows.append(
            ("INSERT OR IGNORE INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))", values)
        )
        if rows.count >= 500 { try flush() }
    }

    func flush() throws {
        let rows = rows
        self.rows = []
        if rows.isEmpty { return }
        do {
            try queue.write { db in
                for (sql, values) in rows {
                    try db.cachedStatement(sql: sql).execute(arguments: StatementArguments(values))
                }
            }
        } catch { throw Failure(error, path: path) }
    }

    func finish() throws {
        try flush()
        try queue.close()
    }
}

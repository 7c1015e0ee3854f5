// Dates, quoting and statements.

import CSQLite
import Foundation
import Shellac

/// A date that is read from a text is the one that SQLite's functions read, and comes back from its
/// own text.
func checkDates(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    if let date = Date.fromDatabaseValue(text.databaseValue) {
        let seconds = try sharedQueue.inDatabase { db in
            try Double.fetchOne(db, sql: "SELECT (julianday(?) - 2440587.5) * 86400", arguments: [text])
        }
        if let seconds, abs(seconds - date.timeIntervalSince1970) > 0.002 {
            throw FuzzFinding("the date '\(text)': \(date.timeIntervalSince1970) instead of \(seconds)")
        }
        let again = Date.fromDatabaseValue(date.databaseValue)
        if abs(again.map { $0.timeIntervalSince(date) } ?? .infinity) > 0.001 {
            throw FuzzFinding("the date '\(text)' came back as \(date.databaseValue)")
        }
    }
    if let components = DatabaseDateComponents.fromDatabaseValue(text.databaseValue) {
        let again = DatabaseDateComponents.fromDatabaseValue(components.databaseValue)
        try expect(
            again?.databaseValue, components.databaseValue,
            "the components of '\(text)' come back differently")
    }
}

/// Quoted names and values are what they were before they were quoted.
func checkQuoting(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    try sharedQueue.inDatabase { db in
        let bound = try Row.fetchOne(db, literal: "SELECT \(text) AS bound, \(bytes.count) AS count")
        try expect(bound?["bound"], text, "an interpolated text")
        let value = try DatabaseValue.fetchOne(db, sql: "SELECT \(text.databaseValue.debugDescription)")
        try expect(value, text.databaseValue, "a text literal")
        let blob = Data(bytes).databaseValue
        try expect(
            try DatabaseValue.fetchOne(db, sql: "SELECT \(blob.debugDescription)"), blob, "a BLOB literal")
        // (SQLite ends a name at a NUL.)
        guard !bytes.contains(0) else { return }
        let named = try Row.fetchOne(db, sql: "SELECT 1 AS \(text.quotedDatabaseIdentifier)")
        try expect(named.map { Array($0.columnNames) }, [text], "a quoted name")
    }
}

/// A script has the statements that SQLite finds in it, up to its first error.
func checkStatements(_ bytes: [UInt8]) throws {
    // (SQLite takes a vertical tab for a blank only after another one.)
    guard !bytes.contains(0), !bytes.contains(0x0B) else { return }
    let script = String(decoding: bytes, as: UTF8.self)
    try sharedQueue.inDatabase { db in
        var (statements, failed) = ([String](), false)
        let cursor = try db.allStatements(sql: script)
        do {
            while let statement = try cursor.next() { statements.append(statement.sql) }
        } catch is DatabaseError {
            failed = true
        }
        var (expected, expectedFailure) = ([String](), false)
        script.withCString { start in
            var next: UnsafePointer<CChar>? = start
            while let rest = next, rest.pointee != 0 {
                var statement: OpaquePointer?
                guard sqlite3_prepare_v2(db.sqliteConnection, rest, -1, &statement, &next) == SQLITE_OK else {
                    expectedFailure = true
                    return
                }
                if let statement { expected.append(String(cString: sqlite3_sql(statement))) }
                sqlite3_finalize(statement)
            }
        }
        try expect(statements.count, expected.count, "the statements of \(script.debugDescription)")
        try expect(failed, expectedFailure, "the error of \(script.debugDescription)")
    }
}

// SQLite's session extension, found at run time: the judge of changesets.

import CSQLite
import Foundation

@testable import Shellac

/// SQLite's functions for changesets, if the running SQLite exports them.
enum SQLiteSession {
    private typealias Pointer = OpaquePointer
    private typealias Create =
        @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, UnsafeMutablePointer<OpaquePointer?>?) -> Int32
    private typealias Attach = @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Int32
    private typealias Take =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        ) -> Int32
    private typealias Free = @convention(c) (OpaquePointer?) -> Void
    private typealias Invert =
        @convention(c) (
            Int32, UnsafeRawPointer?, UnsafeMutablePointer<Int32>?,
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        ) -> Int32
    private typealias Concat =
        @convention(c) (
            Int32, UnsafeMutableRawPointer?, Int32, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?,
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        ) -> Int32
    private typealias Start =
        @convention(c) (UnsafeMutablePointer<OpaquePointer?>?, Int32, UnsafeMutableRawPointer?) -> Int32
    private typealias Step = @convention(c) (OpaquePointer?) -> Int32
    private typealias Apply =
        @convention(c) (
            OpaquePointer?, Int32, UnsafeMutableRawPointer?, UnsafeRawPointer?,
            (@convention(c) (UnsafeMutableRawPointer?, Int32, OpaquePointer?) -> Int32)?,
            UnsafeMutableRawPointer?
        ) -> Int32
    private typealias Describe =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafePointer<CChar>?>?, UnsafeMutablePointer<Int32>?,
            UnsafeMutablePointer<Int32>?, UnsafeMutablePointer<Int32>?
        ) -> Int32
    private typealias Value =
        @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Int32

    private static func function<Function>(_ name: String, _ type: Function.Type = Function.self) -> Function?
    {
        Features.symbol(name).map { unsafeBitCast($0, to: type) }
    }

    /// Whether the running SQLite has the functions.
    static var isThere: Bool {
        Features.isCompiled(with: "ENABLE_SESSION") && Features.symbol("sqlite3session_create") != nil
    }

    private static func check(_ code: Int32?) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code ?? -1)) }
    }

    /// Takes bytes that SQLite has allocated.
    private static func data(
        _ body: (UnsafeMutablePointer<Int32>, UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> Int32?
    )
        throws -> Data
    {
        var count: Int32 = 0
        var bytes: UnsafeMutableRawPointer?
        try check(body(&count, &bytes))
        defer { sqlite3_free(bytes) }
        return bytes.map { Data(bytes: $0, count: Int(count)) } ?? Data()
    }

    /// Records the changes of all tables on a connection, while a function runs.
    static func record(_ connection: OpaquePointer, tables: [String], _ body: () throws -> Void) throws
        -> Data
    {
        var session: OpaquePointer?
        try check(function("sqlite3session_create", Create.self)?(connection, "main", &session))
        defer { function("sqlite3session_delete", Free.self)?(session) }
        for table in tables { try check(function("sqlite3session_attach", Attach.self)?(session, table)) }
        try body()
        return try data { function("sqlite3session_changeset", Take.self)?(session, $0, $1) }
    }

    static func inverted(_ changeset: Data) throws -> Data {
        try changeset.withUnsafeBytes { bytes in
            try data {
                function("sqlite3changeset_invert", Invert.self)?(
                    Int32(bytes.count), bytes.baseAddress, $0, $1)
            }
        }
    }

    static func concatenated(_ first: Data, _ second: Data) throws -> Data {
        var (first, second) = (first, second)
        return try first.withUnsafeMutableBytes { first in
            try second.withUnsafeMutableBytes { second in
                try data {
                    function("sqlite3changeset_concat", Concat.self)?(
                        Int32(first.count), first.baseAddress, Int32(second.count), second.baseAddress, $0, $1
                    )
                }
            }
        }
    }

    /// Applies a changeset. A conflict ends it with an error.
    static func apply(_ changeset: Data, to connection: OpaquePointer) throws {
        var changeset = changeset
        let code = changeset.withUnsafeMutableBytes { bytes in
            function("sqlite3changeset_apply", Apply.self)?(
                connection, Int32(bytes.count), bytes.baseAddress, nil, { _, _, _ in 2 }, nil)
        }
        try check(code)
    }

    /// A change as SQLite reads it.
    struct Change: Hashable {
        var table: String
        var operation: Int32
        var isIndirect: Bool
        var old: [DatabaseValue?]
        var new: [DatabaseValue?]
    }

    /// Reads the changes of a changeset.
    static func changes(in changeset: Data) throws -> [Change] {
        var changeset = changeset
        return try changeset.withUnsafeMutableBytes { bytes in
            var iterator: OpaquePointer?
            try check(
                function("sqlite3changeset_start", Start.self)?(
                    &iterator, Int32(bytes.count), bytes.baseAddress))
            guard let next = function("sqlite3changeset_next", Step.self),
                let describe = function("sqlite3changeset_op", Describe.self),
                let old = function("sqlite3changeset_old", Value.self),
                let new = function("sqlite3changeset_new", Value.self),
                let finalize = function("sqlite3changeset_finalize", Step.self)
            else { return [] }
            var changes: [Change] = []
            while next(iterator) == SQLITE_ROW {
                var table: UnsafePointer<CChar>?
                var (count, operation, indirect): (Int32, Int32, Int32) = (0, 0, 0)
                try check(describe(iterator, &table, &count, &operation, &indirect))
                func row(_ value: Value) -> [DatabaseValue?] {
                    (0..<count).map { column in
                        var found: OpaquePointer?
                        guard value(iterator, column, &found) == SQLITE_OK, let found else { return nil }
                        return SQLiteValue(found).databaseValue
                    }
                }
                changes.append(
                    Change(
                        table: table.map { String(cString: $0) } ?? "", operation: operation,
                        isIndirect: indirect != 0, old: operation == SQLITE_INSERT ? [] : row(old),
                        new: operation == SQLITE_DELETE ? [] : row(new)))
            }
            try check(finalize(iterator))
            return changes
        }
    }
}

extension Changeset {
    /// The changes as SQLite reads them.
    var asSQLiteReads: [SQLiteSession.Change] {
        map { change in
            let operation =
                switch change.operation {
                case .insert: SQLITE_INSERT
                case .update: SQLITE_UPDATE
                case .delete: SQLITE_DELETE
                }
            return SQLiteSession.Change(
                table: change.table, operation: operation, isIndirect: change.isIndirect,
                old: change.initialValues, new: change.finalValues)
        }
    }
}

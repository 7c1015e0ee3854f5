// Splits an SQL text into its statements, and prepares them one at a time.

import CSQLite

/// The statements of an SQL text, prepared one after another.
struct SQLStatements {
    /// The text in UTF-8, followed by a NUL: SQLite would copy a text that does not end with one.
    private let utf8: ContiguousArray<CChar>
    private let length: Int
    private let hasNUL: Bool
    fileprivate let database: Database
    private let flags: UInt32
    /// The offset of the next statement.
    private var offset = 0

    init(sql: String, database: Database, flags: Int32 = 0) {
        utf8 = sql.utf8CString
        length = utf8.count - 1
        self.database = database
        self.flags = UInt32(flags)
        hasNUL = utf8.dropLast().contains(0)
        skipBlanks()
    }

    /// Whether only white space, comments and semicolons are left.
    var isAtEnd: Bool {
        var end = self
        end.skipBlanks()
        while end.skipComment() { end.skipBlanks() }
        return end.offset == length
    }

    /// Prepares the next statement, or returns nil if there is none.
    mutating func next() throws -> Statement? {
        if database.isClosed { throw database.closedError() }
        // SQLite stops reading at a NUL, and would silently ignore the rest.
        if hasNUL {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "there is a NUL character in the SQL",
                sql: text(from: 0, to: length))
        }
        while offset < length {
            var pointer: OpaquePointer?
            var end = length
            var code = SQLITE_OK
            let start = offset
            let effects = database.effects {
                utf8.withUnsafeBufferPointer { bytes in
                    guard let base = bytes.baseAddress else { return }
                    var tail: UnsafePointer<CChar>?
                    let rest = Int32(clamping: length - start + 1)
                    code = sqlite3_prepare_v3(database.pointer, base + start, rest, flags, &pointer, &tail)
                    end = tail.map { $0 - base } ?? length
                }
            }
            guard code == SQLITE_OK else {
                // A missing table may be one that the lost transaction had created.
                if let lostTransaction = database.lostTransaction { throw lostTransaction }
                let error = database.failure(code, sql: text(from: start, to: length))
                // The SQL may no longer compile because another connection has changed the schema.
                guard code & 0xFF == SQLITE_ERROR,
                    let follower = database.object(in: .schema)?.object, follower.isOutdated,
                    (try? follower.followSchema()) != nil
                else { throw error }
                continue
            }
            offset = end
            skipBlanks()
            guard let pointer else { continue }  // a comment
            return Statement(pointer, sql: text(from: start, to: end), effects: effects, database: database)
        }
        return nil
    }

    private static func isBlank(_ byte: CChar) -> Bool {
        byte == 0x20 || 0x09...0x0D ~= byte || byte == 0x3B  // a semicolon
    }

    private mutating func skipBlanks() {
        while offset < length, Self.isBlank(utf8[offset]) { offset += 1 }
    }

    /// Skips a comment. See "SQL Comment Syntax" in the SQLite documentation.
    private mutating func skipComment() -> Bool {
        if isText("--", at: offset) {
            while offset < length, utf8[offset] != 0x0A { offset += 1 }
        } else if isText("/*", at: offset) {
            offset += 2
            while offset < length, !isText("*/", at: offset) { offset += 1 }
            offset = min(offset + 2, length)
        } else {
            return false
        }
        return true
    }

    private func isText(_ text: StaticString, at index: Int) -> Bool {
        index + 1 < length && UInt8(bitPattern: utf8[index]) == text.utf8Start[0]
            && UInt8(bitPattern: utf8[index + 1]) == text.utf8Start[1]
    }

    /// Returns a part of the text, without trailing white space and semicolons.
    private func text(from start: Int, to end: Int) -> String {
        var end = end
        while end > start, Self.isBlank(utf8[end - 1]) { end -= 1 }
        return String(decoding: utf8[start..<end].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The statements of an SQL text: see ``Database/allStatements(sql:)``.
public final class SQLStatementCursor: Cursor {
    private var statements: SQLStatements

    init(_ statements: SQLStatements) { self.statements = statements }

    /// Prepares the next statement. Returns nil if there is none.
    ///
    /// - Throws: a ``DatabaseError`` if the statement does not compile.
    public func next() throws -> Statement? {
        statements.database.checkAccess()
        return try statements.next()
    }
}

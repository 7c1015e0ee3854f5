import CSQLite

/// The statements of an SQL text, prepared one after another.
struct SQLStatements {
    private let sql: String
    private let database: Database
    private let flags: Int32
    /// Where the next statement begins, in bytes.
    private var offset = 0

    init(sql: String, database: Database, flags: Int32 = 0) {
        var sql = sql
        sql.makeContiguousUTF8()
        self.sql = sql
        self.database = database
        self.flags = flags
    }

    /// Whether nothing but white space, comments and semicolons is left.
    var isAtEnd: Bool {
        mutating get {
            let rest = sql.utf8.dropFirst(offset)
            if rest.allSatisfy({ $0 == 0x20 || 0x09...0x0D ~= $0 || $0 == UInt8(ascii: ";") }) { return true }
            // SQLite tells comments from statements. What does not prepare is something, too.
            var others = self
            do { return try others.next() == nil } catch { return false }
        }
    }

    /// Prepares the next statement, or returns nil when there is none.
    mutating func next() throws -> Statement? {
        if database.sqliteConnection == nil { throw database.closedError() }
        // SQLite stops reading at a NUL, and what follows it would silently not run.
        if sql.utf8.contains(0) {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "there is a NUL character in the SQL", sql: sql)
        }
        let length = sql.utf8.count
        while offset < length {
            var pointer: OpaquePointer?
            var end = length
            var code = SQLITE_OK
            var text = sql
            let (connection, flags, start) = (database.pointer, UInt32(self.flags), offset)
            let effects = database.effects {
                text.withUTF8 { utf8 in
                    utf8.withMemoryRebound(to: CChar.self) { bytes in
                        guard let base = bytes.baseAddress else { return }
                        var tail: UnsafePointer<CChar>?
                        let rest = Int32(clamping: length - start)
                        code = sqlite3_prepare_v3(connection, base + start, rest, flags, &pointer, &tail)
                        end = tail.map { $0 - base } ?? length
                    }
                }
            }
            guard code == SQLITE_OK else {
                throw database.error(code, sql: sql.piece(from: start, to: length))
            }
            offset = end
            guard let pointer else { continue }  // a comment, or white space
            return Statement(
                pointer, sql: sql.piece(from: start, to: end), effects: effects, database: database)
        }
        return nil
    }
}

extension String {
    /// A piece of the text between two places in its UTF-8, without the white space and semicolons around it.
    fileprivate func piece(from start: Int, to end: Int) -> String {
        var piece = utf8.dropFirst(start).prefix(end - start)
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }
        while let first = piece.first, isBlank(first) { piece.removeFirst() }
        while let last = piece.last, isBlank(last) || last == UInt8(ascii: ";") { piece.removeLast() }
        return String(Substring(piece))
    }
}

/// The statements of an SQL text: see ``Database/allStatements(sql:)``.
public final class SQLStatementCursor: Cursor {
    private var statements: SQLStatements

    init(_ statements: SQLStatements) { self.statements = statements }

    /// Prepares the next statement.
    public func next() throws -> Statement? { try statements.next() }
}

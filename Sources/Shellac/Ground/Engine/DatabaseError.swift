// The error type for SQLite failures: result codes, message, SQL, arguments and offset.

import CSQLite

/// An error of SQLite, or an error of Shellac in SQLite's terms.
///
/// ```swift
/// do {
///     try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["Arthur"])
/// } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
///     print(error)    // SQLite error 19: UNIQUE constraint failed: player.name - while executing `INSERT …`
/// }
/// ```
public struct DatabaseError: Error, Hashable, Sendable {
    /// The primary result code: `SQLITE_CONSTRAINT`.
    public var resultCode: ResultCode { extendedResultCode.primaryResultCode }

    /// The extended result code: `SQLITE_CONSTRAINT_UNIQUE`.
    public private(set) var extendedResultCode: ResultCode

    /// SQLite's message for this error, or else for its code.
    public private(set) var message: String?

    /// The SQL that failed.
    public private(set) var sql: String?

    /// The values that the SQL was executed with. Only the error's description can reveal them, if
    /// ``Configuration/publicStatementArguments`` permits it.
    public private(set) var arguments: StatementArguments?

    /// The offset of the error in the SQL, in UTF-8 bytes, if SQLite reports it (3.38 and newer).
    public private(set) var offset: Int?

    /// The constraint that was violated, if the ``resultCode`` is `SQLITE_CONSTRAINT`.
    ///
    /// ```swift
    /// catch let error as DatabaseError where error.constraint?.kind == .unique {
    ///     form.mark(error.constraint?.columns ?? [], "taken")
    /// }
    /// ```
    public internal(set) var constraint: Constraint?

    /// Whether the transaction may have been committed despite the error: see
    /// ``Configuration/verifiesCommits``.
    ///
    /// If you repeat the transaction, you may write it twice. First reopen the database and look.
    /// With confirmed commits, this is also true if a commit failed because of the storage
    /// (`SQLITE_IOERR`). Such a connection remains usable.
    public private(set) var leavesOutcomeUnknown = false

    /// Whether the access was refused, or stopped, since the database has been closed.
    ///
    /// A server answers such a request by *service unavailable*. The access was rolled back, and
    /// another process may repeat it.
    public private(set) var isDatabaseClosed = false

    /// The name of the migration that failed with this error: see ``DatabaseMigrator``.
    public internal(set) var migration: String?

    private(set) var publicArguments: Bool

    /// Creates an error. A function implemented in Swift may throw one.
    ///
    /// - Parameters:
    ///   - resultCode: The result code, primary or extended.
    ///   - message: The message, or nil for SQLite's text for the result code.
    ///   - sql: The SQL that failed.
    ///   - arguments: The values that the SQL was executed with.
    ///   - publicStatementArguments: Whether the description shows these values.
    ///   - offset: The offset of the error in the SQL, in UTF-8 bytes.
    public init(
        resultCode: ResultCode = .SQLITE_ERROR, message: String? = nil, sql: String? = nil,
        arguments: StatementArguments? = nil, publicStatementArguments: Bool = false, offset: Int? = nil
    ) {
        extendedResultCode = resultCode
        self.message = message ?? sqlite3_errstr(resultCode.rawValue).map { String(cString: $0) }
        self.sql = sql
        self.arguments = arguments
        self.offset = offset
        publicArguments = publicStatementArguments
        constraint = Constraint(resultCode, self.message ?? "")
    }

    /// Returns the error with the SQL that failed, unless it already has one.
    func with(
        sql: String, arguments: StatementArguments, publicStatementArguments: Bool
    ) -> DatabaseError {
        guard self.sql == nil else { return self }
        var error = self
        error.sql = sql
        error.arguments = self.arguments ?? arguments
        error.publicArguments = publicArguments || publicStatementArguments
        return error
    }

    /// The error, marked as one of a database that was closed.
    var ofClosedDatabase: DatabaseError {
        var error = self
        error.isDatabaseClosed = true
        return error
    }

    /// Returns the error with the SQL that failed.
    func with(sql: String?) -> DatabaseError {
        var error = self
        error.sql = sql
        return error
    }

    /// Returns the error with the values that the SQL was executed with.
    func with(_ arguments: StatementArguments) -> DatabaseError {
        var error = self
        error.arguments = arguments
        return error
    }

    /// The error, marked as one that may have committed the transaction.
    var leavingOutcomeUnknown: DatabaseError {
        var error = self
        error.leavesOutcomeUnknown = true
        return error
    }

    /// Returns the error of a declaration whose code this program lacks. It is in an upper layer,
    /// and a linker may have dropped it from an archive.
    ///
    /// - Parameters:
    ///   - task: The task of that code, such as "keeps deleted rows".
    ///   - declaration: A sentence that names the declaration.
    static func missingCode(that task: String, for declaration: String) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "\(declaration), but this program lacks the code that \(task): link the whole archive of Shellac"
        )
    }

    /// Returns the error with more text in its message.
    func saying(_ more: String) -> DatabaseError {
        var error = self
        error.message = "\(message ?? "\(extendedResultCode)") (\(more))"
        return error
    }
}

extension DatabaseError: CustomStringConvertible {
    public var description: String { sentence(withArguments: publicArguments) }

    /// The description with the values that the SQL was executed with, regardless of the
    /// configuration.
    public var expandedDescription: String { sentence(withArguments: true) }

    private func sentence(withArguments: Bool) -> String {
        var sentence = migration.map { "the migration \"\($0)\" failed: " } ?? ""
        sentence += "SQLite error \(resultCode.rawValue)"
        if let message { sentence += ": \(message)" }
        guard let sql else { return sentence }
        sentence += " - while executing `\(sql)`"
        if withArguments, let arguments, !arguments.isEmpty { sentence += " with arguments \(arguments)" }
        return sentence
    }
}

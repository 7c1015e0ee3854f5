// The error type for SQLite failures: result codes, message, SQL, arguments and offset.

import CSQLite

/// An error of SQLite, or of Shellac in SQLite's terms.
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

    /// The message of SQLite: of this error, or else of its code.
    public private(set) var message: String?

    /// The SQL that could not be executed.
    public private(set) var sql: String?

    /// The values that the SQL was executed with. Only the description of an error can reveal them, and it
    /// does where ``Configuration/publicStatementArguments`` asks for it.
    public private(set) var arguments: StatementArguments?

    /// The offset of the error in the SQL, in bytes of UTF-8, where SQLite tells (3.38 and newer).
    public private(set) var offset: Int?

    /// The constraint that was violated, where the ``resultCode`` is `SQLITE_CONSTRAINT`.
    ///
    /// ```swift
    /// catch let error as DatabaseError where error.constraint?.kind == .unique {
    ///     form.mark(error.constraint?.columns ?? [], "taken")
    /// }
    /// ```
    public internal(set) var constraint: Constraint?

    /// Whether a transaction may have been committed all the same: see ``Configuration/confirmsCommits``.
    ///
    /// Who writes it once more may write it twice. Look first, with the database opened anew. It is also true where SQLite has failed a
    /// commit because of the storage (`SQLITE_IOERR`), if commits are confirmed: such a connection can be used further.
    public private(set) var leavesOutcomeUnknown = false

    private(set) var publicArguments: Bool

    /// Creates an error: a function made in Swift may throw one.
    ///
    /// - Parameters:
    ///   - resultCode: The result code, primary or extended.
    ///   - message: The message, or nil for what SQLite says of the result code.
    ///   - sql: The SQL that could not be executed.
    ///   - arguments: The values that the SQL was executed with.
    ///   - publicStatementArguments: Whether the description shows these values.
    ///   - offset: The offset of the error in the SQL, in bytes of UTF-8.
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

    /// Returns the error, with the SQL that could not be executed, unless it has one.
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

    /// Returns the error, with the SQL that could not be executed.
    func with(sql: String?) -> DatabaseError {
        var error = self
        error.sql = sql
        return error
    }

    /// Returns the error, with the values that the SQL was executed with.
    func with(_ arguments: StatementArguments) -> DatabaseError {
        var error = self
        error.arguments = arguments
        return error
    }

    /// The error, of which nobody knows whether the transaction is committed.
    var leavingOutcomeUnknown: DatabaseError {
        var error = self
        error.leavesOutcomeUnknown = true
        return error
    }

    /// Returns the error, with more words in its message.
    func saying(_ more: String) -> DatabaseError {
        var error = self
        error.message = "\(message ?? "\(extendedResultCode)") (\(more))"
        return error
    }
}

extension DatabaseError: CustomStringConvertible {
    public var description: String { sentence(withArguments: publicArguments) }

    /// The description, with the values that the SQL was executed with, whatever the configuration says.
    public var expandedDescription: String { sentence(withArguments: true) }

    private func sentence(withArguments: Bool) -> String {
        var sentence = "SQLite error \(resultCode.rawValue)"
        if let message { sentence += ": \(message)" }
        guard let sql else { return sentence }
        sentence += " - while executing `\(sql)`"
        if withArguments, let arguments, !arguments.isEmpty { sentence += " with arguments \(arguments)" }
        return sentence
    }
}

/// Undo and redo for the tables of a database, for all kinds of writes.
///
/// ```swift
/// let undo = try DatabaseUndo(dbQueue, tables: ["player", "team"])
///
/// try dbQueue.write { db in
///     try undo.setActionName("Delete Team", in: db)
///     try db.execute(sql: "DELETE FROM team WHERE id = 1")
/// }
/// undo.undoName       // "Delete Team"
/// try undo.undo()     // the team is back, and so are its players
/// try undo.redo()     // and gone again
/// ```
///
/// The changes of one transaction form a *group*, which is undone as a whole. So do those of a
/// statement outside of a transaction. It does not matter what has made the changes: records,
/// requests, raw SQL, triggers, foreign key actions. Changes that were rolled back, to a savepoint
/// or altogether, are not in any group. A transaction that changes nothing makes no group. Each new
/// group drops those that could be redone.
///
/// Undo runs in a transaction of its own. It restores the rows that the group has changed, with all
/// their values and their row ids. Meanwhile, stamps and table-wide callbacks are suspended, and
/// foreign keys deferred. Triggers of the program run, so that a full-text index follows, but their
/// changes of recorded tables are reset. Counters are not: they count the rows that are there.
/// Observers see ordinary changes.
///
/// Before it writes anything, undo compares the rows with the state after the group. If a row was
/// changed since, by another connection or by ``withoutRecording(_:)``, it throws a
/// ``DatabaseUndoConflict``. After any error, the database and the groups are unchanged.
///
/// ## The recorded changes
///
/// - Recorded are tables of the main database, on the writing connection, as long as this object
///   lives. Views and virtual tables throw an error. So does a table whose foreign key actions
///   would change another one that is not named.
/// - Not recorded are changes by other connections, the writes of a transaction that adds, drops or
///   renames columns, and the numbers that `AUTOINCREMENT` has given.
/// - A trigger of the program that moves or deletes the very rows that undo inserts may cause a
///   conflict.
/// - A row that one transaction changes twice, once recorded and once not, is undone altogether.
/// - Statements outside of transactions, in one access, with a query running all the while, make a
///   single group.
/// - The result of a statement outside of a transaction is looked up at the end of the access. If
///   another connection has written by then, the rows may no longer be the statement's result. So
///   its group cannot be undone, and throws a conflict. Transactions have no such gap.
///
/// The groups are kept in temporary tables, and end with the connection. They survive migrations
/// that add columns, tables and indexes. If the recorded table is dropped, they are dropped, with a
/// message in the log (``Database/logError``). The same happens if its columns are dropped, renamed
/// or given another affinity. For a table without an `INTEGER PRIMARY KEY`, `VACUUM` drops them,
/// too, and so do schema changes of other connections, which may be a `VACUUM`.
public final class DatabaseUndo: Sendable {
    /// The names of the recorded tables.
    public let tables: [String]

    private let writer: any DatabaseWriter
    let shared = UndoRecorder.Shared()
    private nonisolated(unsafe) let recorder: UndoRecorder  // used in accesses to the writer alone

    /// Records the changes of some tables from now on.
    ///
    /// - Parameters:
    ///   - writer: The database of the tables.
    ///   - tables: The names of the tables whose changes are recorded.
    ///   - limit: The maximum number of groups that are kept; no limit if nil.
    /// - Throws: A ``DatabaseError`` if a table is missing, or cannot be recorded.
    public init(_ writer: some DatabaseWriter, tables: [String], limit: Int? = nil) throws {
        var seen: Set<CaseInsensitiveName> = []
        let tables = tables.filter { seen.insert(CaseInsensitiveName($0)).inserted }
        if tables.isEmpty {
            throw Self.misuse("no table was named: name the tables whose changes can be undone")
        }
        if let limit, limit < 1 {
            throw Self.misuse("\(limit) groups cannot be kept: give a limit of 1 or more, or none")
        }
        self.writer = writer
        self.tables = tables
        let shared = shared
        recorder = try writer.unsafeReentrantWrite { db in
            if db.isInsideTransaction {
                throw Self.misuse(
                    "recording cannot begin inside of a transaction, since a rollback would end it: make "
                        + "the DatabaseUndo before the transaction")
            }
            return try db.triggerInstaller.addRecorder(tables, limit: limit, shared: shared)
        }
    }

    /// Records the changes of the tables of some record types from now on.
    ///
    /// ```swift
    /// let undo = try DatabaseUndo(dbQueue, Player.self, Team.self)
    /// ```
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - types: The types whose tables are recorded.
    ///   - limit: The maximum number of groups that are kept; no limit if nil.
    /// - Throws: A ``DatabaseError`` if a table is missing, or cannot be recorded.
    public convenience init(
        _ writer: some DatabaseWriter, _ types: any TableRecord.Type..., limit: Int? = nil
    ) throws {
        try self.init(writer, tables: types.map { $0.databaseTableName }, limit: limit)
    }

    deinit { shared.isEnded.store(true, ordering: .relaxed) }

    // MARK: - State

    /// Whether there is a group to undo. This and the following properties are up to date when an
    /// access has ended.
    public var canUndo: Bool { undoCount > 0 }
    /// Whether there is a group to redo.
    public var canRedo: Bool { redoCount > 0 }
    /// The number of groups that can be undone.
    public var undoCount: Int { shared.state.withLock(\.undoCount) }
    /// The number of groups that can be redone.
    public var redoCount: Int { shared.state.withLock(\.redoCount) }
    /// The name of the group that `undo()` would undo, if it has one.
    public var undoName: String? { shared.state.withLock(\.undoName) }
    /// The name of the group that `redo()` would redo, if it has one.
    public var redoName: String? { shared.state.withLock(\.redoName) }

    /// The reason why groups were dropped last, if a schema change ever made that necessary. The
    /// log has it, too.
    public var lastNotice: String? { shared.notices.withLock(\.last) }

    // MARK: - Undo and redo

    /// Undoes the last group.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: A ``DatabaseUndoConflict`` if rows have changed since the group, or if the
    ///   database does not accept their earlier states. A ``DatabaseError`` inside of an access to
    ///   the database, or if SQLite fails. In all cases, nothing has changed.
    @discardableResult
    public func undo() throws -> Bool { try play(.undo) }

    /// Redoes the group that was undone last.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: The errors of `undo()`.
    @discardableResult
    public func redo() throws -> Bool { try play(.redo) }

    /// Undoes the last group, without blocking a thread while waiting for the access.
    ///
    /// - Throws: A ``DatabaseUndoConflict`` or a ``DatabaseError``, as the synchronous method does,
    ///   and `CancellationError` if the task is cancelled.
    @discardableResult
    public nonisolated(nonsending) func undo() async throws -> Bool {
        try await writer.writeWithoutTransaction { [self] db in try play(.undo, db) }
    }

    /// Redoes the group that was undone last, without blocking a thread while waiting for the
    /// access.
    ///
    /// - Throws: A ``DatabaseUndoConflict`` or a ``DatabaseError``, as the synchronous method does,
    ///   and `CancellationError` if the task is cancelled.
    @discardableResult
    public nonisolated(nonsending) func redo() async throws -> Bool {
        try await writer.writeWithoutTransaction { [self] db in try play(.redo, db) }
    }

    private func play(_ direction: UndoDirection) throws -> Bool {
        if recorder.database.isAccessed {
            throw Self.misuse(
                "\(direction.word)() was called inside of an access to the database, whose transaction is "
                    + "not a group yet: call it after the access, or roll back the transaction")
        }
        return try writer.writeWithoutTransaction { db in try play(direction, db) }
    }

    private func play(_ direction: UndoDirection, _ db: Database) throws -> Bool {
        var hasPlayed = false
        do {
            try db.inTransaction(.immediate) {
                hasPlayed = try recorder.play(direction)
                return .commit
            }
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY {
            throw DatabaseUndoConflict(direction, nil, [:], error)
        }
        return hasPlayed
    }

    // MARK: - Groups

    /// Names the group of the present transaction, or, outside of a transaction, the last group.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try undo.setActionName("Rename", in: db)
    ///     try player.updateChanges(db) { $0.name = "Barbara" }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name, which ``undoName`` returns. It replaces an earlier name of the group.
    ///   - db: The recorded database, in the access that writes.
    /// - Throws: A ``DatabaseError`` if there is no group, or if the database is another one.
    public func setActionName(_ name: String, in db: Database) throws {
        db.checkAccess()
        guard db === recorder.database else {
            throw Self.misuse(
                "a group of \(recorder.database.description) cannot be named with the "
                    + "Database of \(db.description)")
        }
        try recorder.nameGroup(name)
    }

    /// Runs a function whose changes are not recorded.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try undo.withoutRecording {
    ///         try db.execute(sql: "UPDATE player SET lastSeenAt = CURRENT_TIMESTAMP")
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter body: The function, which runs immediately. If it changes rows of an earlier
    ///   group, the undo of that group throws.
    /// - Throws: A ``DatabaseError`` outside of an access to the database, and errors of the
    ///   function.
    public func withoutRecording<Result>(_ body: () throws -> Result) throws -> Result {
        guard recorder.database.isAccessed else {
            throw Self.misuse(
                "withoutRecording was called outside of an access to the database, where other threads may write: "
                    + "call it inside of one")
        }
        recorder.suspensions += 1
        defer { recorder.suspensions -= 1 }
        return try body()
    }

    /// Drops all groups.
    ///
    /// Inside of a transaction, its own changes remain recorded, and a rollback restores the
    /// others.
    ///
    /// - Throws: A ``DatabaseError`` if SQLite fails, or the database is closed.
    public func removeAll() throws {
        try writer.unsafeReentrantWrite { _ in try recorder.forgetGroups() }
    }

    private static func misuse(_ sentence: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: sentence)
    }
}

/// A conflict between ``DatabaseUndo`` and changes outside of its groups.
///
/// A row was changed since, by another connection or unrecorded, or a constraint does not accept a
/// row's earlier state.
public struct DatabaseUndoConflict: Error, Sendable, CustomStringConvertible {
    /// The table of the row. Nil if a foreign key fails at the end. Nil, too, if another connection
    /// has written between a statement outside of a transaction and the end of its access.
    public let tableName: String?
    /// The key of the row: the first one that was found.
    public let key: [String: DatabaseValue]
    /// The error of the constraint, if one has failed.
    public let underlyingError: DatabaseError?
    private let word: String
    private let reason: Reason

    /// The obstacle to an undo.
    enum Reason {
        case row, rowsThatDepend
        /// A write of another connection before the group was made.
        case written
    }

    init(_ direction: UndoDirection, _ reason: Reason) {
        tableName = nil
        key = [:]
        underlyingError = nil
        word = direction.word
        self.reason = reason
    }

    init(
        _ direction: UndoDirection, _ tableName: String?, _ key: [String: DatabaseValue],
        _ error: DatabaseError?
    ) {
        self.tableName = tableName
        self.key = key
        underlyingError = error
        word = direction.word
        reason = tableName == nil ? .rowsThatDepend : .row
    }

    public var description: String {
        var text = "cannot \(word): "
        switch reason {
        case .row:
            let values = key.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            text += "the row of \(tableName ?? "") with \(values.joined(separator: ", ")) "
            text += underlyingError == nil ? "was changed since without being recorded" : "cannot be written"
        case .rowsThatDepend: text += "rows that were not recorded depend on what would be changed"
        case .written:
            text +=
                "another connection has written between a statement outside of a transaction and the end of its "
            text +=
                "access, and so it is unknown what the statement has left. Write in transactions, which have no "
            text += "such gap. removeAll() forgets the groups"
        }
        return text + (underlyingError.map { ": \($0)" } ?? "")
    }
}

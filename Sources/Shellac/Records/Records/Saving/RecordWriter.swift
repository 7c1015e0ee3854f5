// Executes the INSERT, UPDATE and DELETE statements of a record, bound from packed columns.

import CSQLite

/// A writer of a record's encoded columns.
///
/// The record's columns are packed bytes. The record's type and the columns to write determine the
/// statement. The writer binds the bytes in place, and runs the statement to its end. See
/// Save.swift for the steps before and after.
final class RecordWriter {
    unowned(unsafe) let database: Database  // it owns the owner of this
    let connection: OpaquePointer
    let columns = PackedColumns()
    private var planReference: Unretained<RecordPlan>?
    private var statementsReference: Unretained<RecordStatements>?

    /// The values that the next update expects in its row.
    let expectation = ExpectedRow()

    init(_ database: Database) {
        self.database = database
        connection = database.pointer
    }

    /// The plan of the record's type.
    func withPlan<Result>(_ body: (RecordPlan) throws -> Result) rethrows -> Result {
        try planReference.unsafelyUnwrapped.use(body)
    }

    /// The statements for the columns that the record has encoded.
    func withStatements<Result>(_ body: (RecordStatements) throws -> Result) rethrows -> Result {
        try statementsReference.unsafelyUnwrapped.use(body)
    }

    var plan: RecordPlan { withPlan { $0 } }
    var statements: RecordStatements { withStatements { $0 } }

    /// Sets the plan and the statements for the columns that were packed.
    func use(_ plan: Unretained<RecordPlan>, _ statements: Unretained<RecordStatements>) {
        (planReference, statementsReference) = (plan, statements)
    }

    /// Whether a save computes columns beside the encoded ones.
    @inline(__always)
    func computes(_ filled: FilledColumns?) -> Bool {
        filled != nil && withStatements { $0.written.computed != nil }
    }

    // MARK: - Statements

    /// Inserts the record by the options and the policy of its type, or upserts it. Returns nil if
    /// a conflict was resolved by ignoring it.
    @inline(__always)
    func insert(
        _ save: inout Save, _ options: SaveOptions?, _ policy: @autoclosure () -> PersistenceConflictPolicy
    ) throws -> InsertionSuccess? {
        if save.verb == .upsert { return try upsert(&save, options?.upsert, options?.returning) }
        let resolution = options?.conflictResolution ?? policy().conflictResolutionForInsert
        return try insert(resolution, options?.returning, computes: computes(save.filled))
    }

    /// Inserts the record. Returns nil if a conflict was resolved by ignoring it.
    @inline(__always)
    private func insert(
        _ resolution: Database.ConflictResolution, _ returning: Returning?, computes: Bool
    ) throws -> InsertionSuccess? {
        try withStatements { try $0.insertion(resolution, returning, computes: computes) }.use {
            try run($0, saving: nil, binding: { bindAll(to: $0) }, taking: { returning?.take(Row($0)) })
        }
        return withPlan { plan in
            // If nothing has changed, the last row id is that of an earlier insertion. (An
            // insertion into a view does not count as a change.)
            if sqlite3_changes(connection) == 0, !plan.isView { return nil }
            return InsertionSuccess(
                rowID: sqlite3_last_insert_rowid(connection), rowIDColumn: plan.rowIDColumn)
        }
    }

    /// Updates columns of the record's row by the options and the policy of its type. Returns false
    /// if a conflict was resolved by ignoring it.
    @inline(__always)
    func update(
        _ save: borrowing Save, _ options: SaveOptions?,
        _ policy: @autoclosure () -> PersistenceConflictPolicy
    ) throws -> Bool {
        let resolution = options?.conflictResolution ?? policy().conflictResolutionForUpdate
        return try update(save, resolution, options?.returning)
    }

    /// Updates columns of the record's row. Returns false if a conflict was resolved by ignoring
    /// it.
    ///
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no such row.
    ///   ``RecordError/stale(columns:row:)`` if it holds other values than expected.
    @inline(__always)
    private func update(
        _ save: borrowing Save, _ resolution: Database.ConflictResolution, _ returning: Returning?
    ) throws -> Bool {
        let (mask, expected, computes) = (save.columns, save.expected, computes(save.filled))
        try checkKeyIsEncoded()
        if let expected, plan.isView {
            // Changes to a view's row do not count as changes, so its row is checked before.
            if database.isInAutocommit { return try updateInTransaction(save, resolution, returning) }
            try checkRow(isAs: expected)
        }
        let statement = try withStatements {
            try $0.update(mask, expected, resolution, returning, computes: computes)
        }
        func bind(to pointer: OpaquePointer) -> Int32 {
            var code = SQLITE_OK
            var parameter: Int32 = 1
            columns.eachColumn(in: mask) { value in
                let bound = value.bind(to: pointer, at: parameter)
                if bound != SQLITE_OK { code = bound }
                parameter &+= 1
            }
            let bound = bindKey(to: pointer, from: parameter)
            if bound != SQLITE_OK { code = bound }
            if let expected {
                let first = parameter &+ Int32(statements.key.columns.count)
                let bound = expected.bind(to: pointer, from: first)
                if bound != SQLITE_OK { code = bound }
            }
            return code
        }
        try statement.use {
            try run($0, saving: mask, expecting: expected, binding: bind) { returning?.take(Row($0)) }
        }
        if sqlite3_changes(connection) != 0 { return true }
        try explainMissingRow()
        if let expected, !plan.isView {
            try checkRow(isAs: expected)
            // Another writer may have changed the row, and changed it back before the check.
            if database.isInAutocommit { return try updateInTransaction(save, resolution, returning) }
        }
        // A count of zero does not prove that there is no row. A conflict may have been ignored, or
        // a trigger may have called RAISE(IGNORE). And changes to a view do not count.
        guard try exists() else { throw notFound }
        return plan.isView
    }

    /// Updates columns of the record's row while no other connection can write.
    @inline(never)
    private func updateInTransaction(
        _ save: borrowing Save, _ resolution: Database.ConflictResolution, _ returning: Returning?
    ) throws -> Bool {
        var isUpdated = false
        try database.inTransaction(.immediate) {
            isUpdated = try update(save, resolution, returning)
            return .commit
        }
        return isUpdated
    }

    /// Deletes the record's row. Returns whether there was one.
    func delete() throws -> Bool {
        try checkKeyIsEncoded()
        guard hasKey else { return false }
        let existed = plan.isView ? try exists() : false
        try run(statements.deletion(), saving: ColumnMask(), binding: { bindKey(to: $0, from: 1) })
        if plan.isView ? try existed && !exists() : sqlite3_changes(connection) > 0 { return true }
        try explainMissingRow()
        return false
    }

    /// Throws the reason why no row was written, if a rule is the cause.
    @inline(__always)
    func explainMissingRow() throws {
        if withPlan({ !$0.rules.isEmpty }) {
            for rule in plan.rules { try rule.explainMissingRow(to: self) }
        }
    }

    /// Returns whether the record's row exists.
    func exists() throws -> Bool {
        try checkKeyIsEncoded()
        guard hasKey else { return false }
        let statement = try statements.existence()
        try statement.begin { bindKey(to: $0, from: 1) }
        defer { statement.abandon() }
        return try statement.step()
    }

    /// Fetches the record's row, and passes it to a function.
    func withRow(_ body: (Row) throws -> Void) throws {
        try checkKeyIsEncoded()
        guard hasKey else { throw notFound }
        let statement = try plan.selectByKey()
        try statement.begin { bindKey(to: $0, from: 1) }
        defer { statement.abandon() }
        guard try statement.step() else { throw notFound }
        try body(Row(statement.row))
    }

    // MARK: - Columns

    /// Returns the columns to update: the requested ones, and the ones that the will-callbacks have
    /// changed.
    func mask(of names: Set<String>, and changed: ColumnMask) throws -> ColumnMask {
        var mask = try statements.columns(named: names)
        if !changed.isEmpty { mask.formUnion(changed) }
        return settable(mask)
    }

    /// Removes from a mask the columns that no update writes, and exact key columns. The row is
    /// found by its key, so these key columns already hold the record's values. If no others are
    /// left, the update sets the key to itself.
    func settable(_ mask: ColumnMask) -> ColumnMask {
        var mask = mask
        mask.subtract(exactKey)
        withStatements { mask.subtract($0.written.leftAlone) }
        return mask.isEmpty ? statements.key.mask : mask
    }

    /// Returns the names of all columns except some.
    func names(without untouched: ColumnMask) -> Set<String> {
        if untouched.isEmpty { return statements.names.all }
        return statements.names(of: ColumnMask(0..<columns.count).subtracting(untouched))
    }

    // MARK: - Binding and running

    func bindAll(to pointer: OpaquePointer) -> Int32 {
        columns.bytes.bind(to: pointer, from: 1)
    }

    func bindKey(to pointer: OpaquePointer, from first: Int32) -> Int32 {
        withStatements { statements in
            var code = SQLITE_OK
            for (position, column) in statements.key.columns.enumerated() {
                let bound = columns.column(column).bind(to: pointer, at: first &+ Int32(position))
                if bound != SQLITE_OK { code = bound }
            }
            return code
        }
    }

    /// Runs a statement to its end. It may return rows.
    ///
    /// - Parameter mask: The columns that are bound before the primary key. Nil to bind all
    ///   columns, and no key.
    private func run(
        _ statement: Statement, saving mask: ColumnMask?, expecting expected: ExpectedRow? = nil,
        binding bind: (OpaquePointer) -> Int32, taking take: (LiveRow) -> Void = { _ in }
    ) throws {
        do {
            try statement.begin(binding: bind)
            while try statement.step() { take(statement.row) }
        } catch {
            throw tellingArguments(error, of: statement, mask, expected)
        }
    }

    /// Returns the error of a statement, with the values that were bound.
    @inline(never)
    private func tellingArguments(
        _ error: any Error, of statement: Statement, _ mask: ColumnMask?, _ expected: ExpectedRow?
    ) -> any Error {
        statement.telling(error) {
            var values = (0..<columns.count).filter { mask?.contains($0) ?? true }.map { columns[$0] }
            if mask != nil { values += statements.key.columns.map { columns[$0] } }
            return values + (expected?.values ?? [])
        }
    }
}

extension Statement {
    /// Returns an error with the values that were bound by hand, if it is an error of this
    /// statement.
    func telling(_ error: any Error, _ values: () -> [DatabaseValue]) -> any Error {
        guard let error = error as? DatabaseError, error.sql == sql else { return error }
        return error.with(StatementArguments(values()))
    }
}

extension PackedColumns {
    /// Returns whether a record still encodes these columns.
    func isStillEncoded(by encode: Encode) throws -> Bool {
        let row = row()
        defer { withExtendedLifetime(row) {} }
        var encoding = ColumnEncoding(comparingWith: row.bytes, layout: Unretained(layout))
        do {
            try PersistenceContainer.fill(&encoding, encode)
        } catch {
            // In a comparison, the container cannot be read, so an error after reading proves
            // nothing.
            guard encoding.wasRead else { throw error }
            return false
        }
        return !encoding.isDifferent && !encoding.isDoubtful && !encoding.mayRepeat && encoding.next == count
    }
}

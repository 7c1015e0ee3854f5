// Upserts that say what is done with the row in the way.

/// What an upsert does with the columns of a row in the way that no assignment names.
public enum UpsertUpdateStrategy: Hashable, Sendable {
    /// They are overwritten.
    case allColumns
    /// They are left as they are.
    case noColumnUnlessSpecified
}

extension MutablePersistableRecord {
    /// Inserts the record, or updates the row that is in its way, as one says.
    ///
    /// ```swift
    /// try word.upsert(db, onConflict: ["text"]) { excluded in
    ///     Column("count") += 1
    ///     Column("firstSeen").noOverwrite
    /// }
    /// // INSERT INTO "word" ("text", "count", "firstSeen", "lastSeen") VALUES (?, ?, ?, ?)
    /// // ON CONFLICT ("text") DO UPDATE SET "count" = "count" + 1, "lastSeen" = "excluded"."lastSeen"
    /// ```
    ///
    /// The assignments are made in the row that is in the way, whose columns they read; `excluded` has those that could not
    /// be inserted. The other columns that the record encodes are overwritten, without its primary key: see
    /// ``UpsertUpdateStrategy``. It is one statement, which calls the callbacks of an insertion.
    ///
    /// A class record takes what the row has become, so that its next save does not undo it: the sum, and the date that was not
    /// overwritten. A rollback gives it back what it had. Columns that it never read stay unread. A struct stays as it is, but for the
    /// row id, which `didInsert` takes: ``upsertAndFetch(_:onConflict:updating:doUpdate:)`` returns what the row has become.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns of the unique index that has the conflict: a conflict with another one throws. By
    ///     default, all of them, which needs SQLite 3.35.
    ///   - strategy: What is done with the columns that no assignment names.
    ///   - assignments: What is stored in the row that is in the way.
    /// - Throws: a ``DatabaseError`` when there is no unique index of these columns, and when a constraint is violated.
    public mutating func upsert(
        _ db: Database, onConflict columns: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns,
        @ColumnAssignmentsBuilder doUpdate assignments: (_ excluded: TableAlias<Self>) throws ->
            [ColumnAssignment]
    ) throws {
        let clause = try UpsertClause(
            target: columns, strategy: strategy, assignments: assignments(TableAlias("excluded")))
        try persist(PersistenceOperation(.upsert, upsert: clause), in: db)
    }

    /// Inserts the record, or updates the row that is in its way because of some unique columns.
    ///
    /// ```swift
    /// try player.upsert(db, onConflict: ["email"])
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns of the unique index that has the conflict: a conflict with another one throws.
    ///   - strategy: Whether the columns of the row are overwritten.
    /// - Throws: a ``DatabaseError`` when there is no unique index of these columns, and when a constraint is violated.
    public mutating func upsert(
        _ db: Database, onConflict columns: [String], updating strategy: UpsertUpdateStrategy = .allColumns
    ) throws {
        try upsert(db, onConflict: columns, updating: strategy) { _ in }
    }

    /// Inserts the record or updates the row that is in its way, as one says, and returns the row as a record of another
    /// type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - type: The type that the row is read as.
    ///   - columns: The columns of the unique index that has the conflict: a conflict with another one throws. By default,
    ///     all of them, which needs SQLite 3.35.
    ///   - strategy: What is done with the columns that no assignment names.
    ///   - assignments: What is stored in the row that is in the way. `excluded` has the columns that could not be inserted.
    /// - Throws: a ``DatabaseError`` when there is no unique index of these columns, and when a constraint is violated, and
    ///   what reading the row throws.
    public mutating func upsertAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ db: Database, as type: Fetched.Type, onConflict columns: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns,
        @ColumnAssignmentsBuilder doUpdate assignments: (_ excluded: TableAlias<Self>) throws ->
            [ColumnAssignment]
    ) throws -> Fetched {
        let clause = try UpsertClause(
            target: columns, strategy: strategy, assignments: assignments(TableAlias("excluded")))
        return try persistAndFetch(.upsert, nil, as: type, upsert: clause, in: db)
    }

    /// Inserts the record or updates the row that is in its way because of some unique columns, and returns the row as a
    /// record of another type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - type: The type that the row is read as.
    ///   - columns: The columns of the unique index that has the conflict: a conflict with another one throws.
    ///   - strategy: Whether the columns of the row are overwritten.
    /// - Throws: a ``DatabaseError`` when there is no unique index of these columns, and when a constraint is violated, and
    ///   what reading the row throws.
    public mutating func upsertAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ db: Database, as type: Fetched.Type, onConflict columns: [String],
        updating strategy: UpsertUpdateStrategy = .allColumns
    ) throws -> Fetched {
        try upsertAndFetch(db, as: type, onConflict: columns, updating: strategy) { _ in }
    }
}

extension MutablePersistableRecord where Self: FetchableRecord {
    /// Inserts the record or updates the row that is in its way, as one says, and returns the record as the database holds
    /// it: see ``upsert(_:onConflict:updating:doUpdate:)``.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns of the unique index that has the conflict: a conflict with another one throws. By default,
    ///     all of them, which needs SQLite 3.35.
    ///   - strategy: What is done with the columns that no assignment names.
    ///   - assignments: What is stored in the row that is in the way. `excluded` has the columns that could not be inserted.
    /// - Throws: a ``DatabaseError`` when there is no unique index of these columns, and when a constraint is violated, and
    ///   what reading the row throws.
    public func upsertAndFetch(
        _ db: Database, onConflict columns: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns,
        @ColumnAssignmentsBuilder doUpdate assignments: (_ excluded: TableAlias<Self>) throws ->
            [ColumnAssignment]
    ) throws -> Self {
        var record = self
        return try record.upsertAndFetch(
            db, as: type(of: self), onConflict: columns, updating: strategy, doUpdate: assignments)
    }

    /// Inserts the record or updates the row that is in its way because of some unique columns, and returns the record as
    /// the database holds it.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns of the unique index that has the conflict: a conflict with another one throws.
    ///   - strategy: Whether the columns of the row are overwritten.
    /// - Throws: a ``DatabaseError`` when there is no unique index of these columns, and when a constraint is violated, and
    ///   what reading the row throws.
    public func upsertAndFetch(
        _ db: Database, onConflict columns: [String], updating strategy: UpsertUpdateStrategy = .allColumns
    ) throws -> Self {
        try upsertAndFetch(db, onConflict: columns, updating: strategy) { _ in }
    }
}

extension PersistableRecord {
    /// Inserts the record, or updates the row that is in its way, as one says: see ``upsert(_:onConflict:updating:doUpdate:)``.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns of the unique index that has the conflict: a conflict with another one throws. By default,
    ///     all of them, which needs SQLite 3.35.
    ///   - strategy: What is done with the columns that no assignment names.
    ///   - assignments: What is stored in the row that is in the way. `excluded` has the columns that could not be inserted.
    /// - Throws: a ``DatabaseError`` when there is no unique index of these columns, and when a constraint is violated.
    public func upsert(
        _ db: Database, onConflict columns: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns,
        @ColumnAssignmentsBuilder doUpdate assignments: (_ excluded: TableAlias<Self>) throws ->
            [ColumnAssignment]
    ) throws {
        var record = self
        let clause = try UpsertClause(
            target: columns, strategy: strategy, assignments: assignments(TableAlias("excluded")))
        try record.persist(PersistenceOperation(.upsert, upsert: clause), in: db)
    }

    /// Inserts the record, or updates the row that is in its way because of some unique columns.
    ///
    /// ```swift
    /// try player.upsert(db, onConflict: ["email"])
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns of the unique index that has the conflict: a conflict with another one throws.
    ///   - strategy: Whether the columns of the row are overwritten.
    /// - Throws: a ``DatabaseError`` when there is no unique index of these columns, and when a constraint is violated.
    public func upsert(
        _ db: Database, onConflict columns: [String], updating strategy: UpsertUpdateStrategy = .allColumns
    ) throws {
        try upsert(db, onConflict: columns, updating: strategy) { _ in }
    }

    /// Inserts the record or updates the row that is in its way, as one says, and returns the row as a record of another
    /// type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - type: The type that the row is read as.
    ///   - columns: The columns of the unique index that has the conflict: a conflict with another one throws. By default,
    ///     all of them, which needs SQLite 3.35.
    ///   - strategy: What is done with the columns that no assignment names.
    ///   - assignments: What is stored in the row that is in the way. `excluded` has the columns that could not be inserted.
    /// - Throws: a ``DatabaseError`` when there is no unique index of these columns, and when a constraint is violated, and
    ///   what reading the row throws.
    public func upsertAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ db: Database, as type: Fetched.Type, onConflict columns: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns,
        @ColumnAssignmentsBuilder doUpdate assignments: (_ excluded: TableAlias<Self>) throws ->
            [ColumnAssignment]
    ) throws -> Fetched {
        var record = self
        let clause = try UpsertClause(
            target: columns, strategy: strategy, assignments: assignments(TableAlias("excluded")))
        return try record.persistAndFetch(.upsert, nil, as: type, upsert: clause, in: db)
    }

    /// Inserts the record or updates the row that is in its way because of some unique columns, and returns the row as a
    /// record of another type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - type: The type that the row is read as.
    ///   - columns: The columns of the unique index that has the conflict: a conflict with another one throws.
    ///   - strategy: Whether the columns of the row are overwritten.
    /// - Throws: a ``DatabaseError`` when there is no unique index of these columns, and when a constraint is violated, and
    ///   what reading the row throws.
    public func upsertAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ db: Database, as type: Fetched.Type, onConflict columns: [String],
        updating strategy: UpsertUpdateStrategy = .allColumns
    ) throws -> Fetched {
        try upsertAndFetch(db, as: type, onConflict: columns, updating: strategy) { _ in }
    }
}

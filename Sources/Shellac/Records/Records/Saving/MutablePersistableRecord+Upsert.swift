// Upserts with assignments to the conflicting row.

/// The treatment of the columns of a conflicting row that no assignment names.
public enum UpsertUpdateStrategy: Hashable, Sendable {
    /// They are overwritten.
    case allColumns
    /// They are left as they are.
    case noColumnUnlessSpecified
}

extension MutablePersistableRecord {
    /// Inserts the record, or updates the conflicting row as specified.
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
    /// The assignments are made in the conflicting row, and read its columns. `excluded` has the
    /// values that could not be inserted. The other columns that the record encodes are
    /// overwritten, except for its primary key: see ``UpsertUpdateStrategy``. This is one
    /// statement, which calls the callbacks of an insertion.
    ///
    /// A class record takes the values of the updated row, such as the sum, and the date that was
    /// not overwritten. So its next save does not undo them. A rollback restores its previous
    /// values. Columns that it never read stay unread.
    ///
    /// A struct stays as it is, except for the row id, which `didInsert` takes.
    /// ``upsertAndFetch(_:onConflict:updating:doUpdate:)`` returns the updated row.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns of the unique index of the conflict. A conflict in another index
    ///     throws. By default, all unique indexes, which needs SQLite 3.35.
    ///   - strategy: The treatment of the columns that no assignment names.
    ///   - assignments: The assignments to the conflicting row.
    /// - Throws: a ``DatabaseError`` if there is no unique index of these columns, or if a
    ///   constraint is violated.
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

    /// Inserts the record, or updates the row that conflicts with it in the given unique columns.
    ///
    /// ```swift
    /// try player.upsert(db, onConflict: ["email"])
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns of the unique index of the conflict. A conflict in another index
    ///     throws.
    ///   - strategy: Whether the columns of the row are overwritten.
    /// - Throws: a ``DatabaseError`` if there is no unique index of these columns, or if a
    ///   constraint is violated.
    public mutating func upsert(
        _ db: Database, onConflict columns: [String], updating strategy: UpsertUpdateStrategy = .allColumns
    ) throws {
        try upsert(db, onConflict: columns, updating: strategy) { _ in }
    }

    /// Inserts the record or updates the conflicting row as specified, and returns the row as a
    /// record of another type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - type: The type that the row is read as.
    ///   - columns: The columns of the unique index of the conflict. A conflict in another index
    ///     throws. By default, all unique indexes, which needs SQLite 3.35.
    ///   - strategy: The treatment of the columns that no assignment names.
    ///   - assignments: The assignments to the conflicting row. `excluded` has the columns that
    ///     could not be inserted.
    /// - Throws: a ``DatabaseError`` if there is no unique index of these columns, or if a
    ///   constraint is violated. Also any error of reading the row.
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

    /// Inserts the record or updates the row that conflicts with it in the given unique columns.
    /// Returns the row as a record of another type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - type: The type that the row is read as.
    ///   - columns: The columns of the unique index of the conflict. A conflict in another index
    ///     throws.
    ///   - strategy: Whether the columns of the row are overwritten.
    /// - Throws: a ``DatabaseError`` if there is no unique index of these columns, or if a
    ///   constraint is violated. Also any error of reading the row.
    public mutating func upsertAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ db: Database, as type: Fetched.Type, onConflict columns: [String],
        updating strategy: UpsertUpdateStrategy = .allColumns
    ) throws -> Fetched {
        try upsertAndFetch(db, as: type, onConflict: columns, updating: strategy) { _ in }
    }
}

extension MutablePersistableRecord where Self: FetchableRecord {
    /// Inserts the record or updates the conflicting row as specified, and returns the record as
    /// the database stores it: see ``upsert(_:onConflict:updating:doUpdate:)``.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns of the unique index of the conflict. A conflict in another index
    ///     throws. By default, all unique indexes, which needs SQLite 3.35.
    ///   - strategy: The treatment of the columns that no assignment names.
    ///   - assignments: The assignments to the conflicting row. `excluded` has the columns that
    ///     could not be inserted.
    /// - Throws: a ``DatabaseError`` if there is no unique index of these columns, or if a
    ///   constraint is violated. Also any error of reading the row.
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

    /// Inserts the record or updates the row that conflicts with it in the given unique columns.
    /// Returns the record as the database stores it.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns of the unique index of the conflict. A conflict in another index
    ///     throws.
    ///   - strategy: Whether the columns of the row are overwritten.
    /// - Throws: a ``DatabaseError`` if there is no unique index of these columns, or if a
    ///   constraint is violated. Also any error of reading the row.
    public func upsertAndFetch(
        _ db: Database, onConflict columns: [String], updating strategy: UpsertUpdateStrategy = .allColumns
    ) throws -> Self {
        try upsertAndFetch(db, onConflict: columns, updating: strategy) { _ in }
    }
}

extension PersistableRecord {
    /// Inserts the record, or updates the conflicting row as specified: see
    /// ``upsert(_:onConflict:updating:doUpdate:)``.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns of the unique index of the conflict. A conflict in another index
    ///     throws. By default, all unique indexes, which needs SQLite 3.35.
    ///   - strategy: The treatment of the columns that no assignment names.
    ///   - assignments: The assignments to the conflicting row. `excluded` has the columns that
    ///     could not be inserted.
    /// - Throws: a ``DatabaseError`` if there is no unique index of these columns, or if a
    ///   constraint is violated.
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

    /// Inserts the record, or updates the row that conflicts with it in the given unique columns.
    ///
    /// ```swift
    /// try player.upsert(db, onConflict: ["email"])
    /// ```
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns of the unique index of the conflict. A conflict in another index
    ///     throws.
    ///   - strategy: Whether the columns of the row are overwritten.
    /// - Throws: a ``DatabaseError`` if there is no unique index of these columns, or if a
    ///   constraint is violated.
    public func upsert(
        _ db: Database, onConflict columns: [String], updating strategy: UpsertUpdateStrategy = .allColumns
    ) throws {
        try upsert(db, onConflict: columns, updating: strategy) { _ in }
    }

    /// Inserts the record or updates the conflicting row as specified, and returns the row as a
    /// record of another type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - type: The type that the row is read as.
    ///   - columns: The columns of the unique index of the conflict. A conflict in another index
    ///     throws. By default, all unique indexes, which needs SQLite 3.35.
    ///   - strategy: The treatment of the columns that no assignment names.
    ///   - assignments: The assignments to the conflicting row. `excluded` has the columns that
    ///     could not be inserted.
    /// - Throws: a ``DatabaseError`` if there is no unique index of these columns, or if a
    ///   constraint is violated. Also any error of reading the row.
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

    /// Inserts the record or updates the row that conflicts with it in the given unique columns.
    /// Returns the row as a record of another type.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - type: The type that the row is read as.
    ///   - columns: The columns of the unique index of the conflict. A conflict in another index
    ///     throws.
    ///   - strategy: Whether the columns of the row are overwritten.
    /// - Throws: a ``DatabaseError`` if there is no unique index of these columns, or if a
    ///   constraint is violated. Also any error of reading the row.
    public func upsertAndFetch<Fetched: FetchableRecord & TableRecord>(
        _ db: Database, as type: Fetched.Type, onConflict columns: [String],
        updating strategy: UpsertUpdateStrategy = .allColumns
    ) throws -> Fetched {
        try upsertAndFetch(db, as: type, onConflict: columns, updating: strategy) { _ in }
    }
}

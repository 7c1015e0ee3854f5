// The base class of records: columns, change tracking, callbacks, and overridable methods.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Over 350 lines: because methods that subclasses override must be declared in the class itself.

/// A class whose instances are rows of a table, with change tracking.
///
/// ```swift
/// class Player: Record {
///     var id: Int64?
///     var name = ""
///     var score = 0
///
///     override class var databaseTableName: String { "player" }
///
///     override func columns(_ column: borrowing RecordColumns) throws {
///         try column("id", id) { id = $0 }
///         try column("name", name) { name = $0 }
///         try column("score", score) { score = $0 }
///     }
/// }
///
/// try dbQueue.write { db in
///     let player = Player()
///     player.name = "Arthur"
///     try player.save(db)             // player.id is set
///     player.score = 1000
///     player.hasDatabaseChanges       // true
///     try player.updateChanges(db)
///     // UPDATE "player" SET "score" = ? WHERE "id" = ?
/// }
/// ```
///
/// ## Reading a row
///
/// If all properties of a class have a default value, the class lists its columns in
/// ``columns(_:)``, as above, and inherits both initializers. Any other class overrides
/// ``init(row:)``, and calls `super.init(row:)` at its end. If it does not list its row id as a
/// column that is read, it takes the new one in ``didInsert(_:)``.
///
/// Instead of the list, a class may override the older pair of ``updateFromRow(_:)`` and
/// ``encode(to:)``. A class that overrides both is refused on first use, but its superclass may use
/// the other way.
///
/// A class that declares `Codable`, and whose properties have default values, needs nothing more.
/// They are stored by their coding keys, like those of a struct. Swift codes only the properties of
/// that class. Properties of superclasses, such as `id`, are stored as the superclass defines it. A
/// subclass must list the properties that it adds in ``columns(_:)``, or Shellac refuses it.
/// ``jsonColumns`` has the columns of all these classes. If the class lists its columns itself, the
/// list counts.
///
/// Fetched records are made by `init(from:)`. When a row is read into an existing record, by
/// ``reload(_:)`` for example, Shellac makes a second record and copies its properties. So
/// initializers and `deinit` of the second record run, and property observers do not. If
/// `init(row:)` does anything to the record, it is called for each row.
///
/// Hand-written coding can fetch and save. Operations that would set a property in place throw,
/// unless the coding codes stored properties by their names. An `@Observable` class is not reloaded
/// in this way, since no observer would be notified. ``reload(_:)`` throws, and the row id belongs
/// in a superclass that lists it.
///
/// ## Change tracking
///
/// A record that was fetched or saved remembers the values in the database. ``hasDatabaseChanges``
/// encodes the record and compares. The remembered values follow the transaction. A rollback
/// restores what the record remembered before, and removes the row id that an insertion set.
///
/// Until its transaction ends, the connection holds every record that was saved in it. So a million
/// saved records stay in memory until then. A rollback does not cover these cases:
///
/// - a record that was first fetched in a transaction which had already written
/// - a record that two connections save at once
/// - a row id that your own ``didInsert(_:)`` has set
///
/// Columns that a record has never read are not written. These are columns that its fetch lacked,
/// or that any connection added to the table later. They are left alone as long as their properties
/// are as they were right after the fetch. If you set such a property to the same value again, the
/// record cannot detect it. ``update(_:columns:)`` writes it.
///
/// Records that were fetched together share the memory of their remembered values, in groups. So do
/// records that one transaction inserts. A record that outlives all others keeps a kilobyte of this
/// memory, until it is saved or freed.
///
/// ## Saving
///
/// Every insertion, update or deletion of a record goes through one of four methods:
/// ``insert(_:)``, ``update(_:)``, which calls ``update(_:columns:)``, and ``delete(_:)``. You can
/// override them, for example to validate. The exception is ``upsert(_:)``, a single statement that
/// inserts or updates.
///
/// The callbacks run in the order given at ``MutablePersistableRecord``. (If a class overrides one
/// of the first three methods, ``save(_:)`` of a record that has a key calls `willSave`. It then
/// calls these methods inside of `aroundSave`.) Changes made by the will-callbacks are written,
/// even if only some columns are updated. It is harmless to omit the call of `super` in a callback.
///
/// ## Identifiers
///
/// Records are found by the values of their primary key, also under the label `id`:
/// `Player.find(db, id: 1)`. This needs no `Identifiable`. A class that is `Identifiable` declares
/// an `id`. If it neither declares nor inherits one when the conformance is declared, Swift gives
/// it an `ObjectIdentifier`, which is not a database value.
///
/// ## Concurrency
///
/// A record is not Sendable. An asynchronous access can fetch records and return them. A record can
/// be handed to `write(sending:_:)`. If it stays with its owner, hand over a copy, or call
/// `save(in:)`. A record that was saved in an access belongs to that access until it ends, because
/// the connection still holds it.
nonisolated open class Record: FetchableRecord, PersistableRecord {
    @exclusivity(unchecked) final var rememberedRow = RememberedRow()
    /// The state that an upper layer keeps with the record: see ``Record/related``.
    @usableFromInline @exclusivity(unchecked) final var attachment: RecordAttachment?

    // MARK: - The table

    /// The name of the table, which must never change. By default, it is the name of the class
    /// itself, with a lower-case first letter.
    ///
    /// A subclass that shares its superclass's table needs an override in the superclass, or its
    /// own. Without an override, `class Hero: Player` is stored in `hero`. Operations that need the
    /// table throw if it does not exist.
    ///
    /// A class that is fetched only by SQL needs no table. If a table has its name by accident, the
    /// column affinities of that table decide whether a record has changes. In this case, override
    /// this with a name that no table has.
    open class var databaseTableName: String { nameOfTable(namedAfter: self) }

    /// The selection if the class is fetched without SQL. By default, it is all columns.
    open class var databaseSelection: [any SQLSelectable] { [.allColumns] }

    /// The columns of the primary key, if the schema does not define one, as for a view. By
    /// default, nil.
    open class var databasePrimaryKey: [String]? { nil }

    /// Returns the value to search for in a column if a row is found by a date, by data, or by a
    /// UUID. By default, this is the value that ``encode(to:)`` stores. Override this if that
    /// method stores another value.
    ///
    /// - Parameters:
    ///   - value: A `Date`, `Data` or a `UUID`. This is not called for other values.
    ///   - column: The name of the column, as the table spells it.
    /// - Throws: any error that encoding the value throws.
    open class func databaseKeyValue(
        _ value: any DatabaseValueConvertible, for column: String
    ) throws -> DatabaseValue { try storedKeyValue(value, for: column) }

    /// The conflict policy if a record violates a constraint. By default, SQLite throws.
    open class var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }

    /// The columns that hold the dates of a row. By default, there are none.
    open class var databaseStamps: DatabaseStamps { DatabaseStamps() }

    /// The classes whose records share the table, and the column that holds the class of each row.
    /// By default, all rows are of the class that fetches them.
    ///
    /// ```swift
    /// class Animal: Record {
    ///     override class var databaseTableName: String { "animal" }
    ///     override class var databaseKinds: DatabaseKinds {
    ///         .column("kind", ["cat": Cat.self, "dog": Dog.self])
    ///     }
    /// }
    /// ```
    ///
    /// One class declares them for all of its subclasses (single-table inheritance). Records
    /// fetched as an `Animal` are then a `Cat` or a `Dog`. All operations on `Cat` apply to its own
    /// rows, and the rows of its listed subclasses. This holds for requests, joins, keys, counts,
    /// and updates and deletions of many rows. It does not hold for raw SQL: a cursor of cats that
    /// meets a dog throws ``RecordError/kindChanged(recordType:kind:row:)``.
    ///
    /// A subclass that is not listed cannot be saved, and takes the rows of the nearest listed
    /// class above it. All classes delete in the same way: the base's ``databaseSoftDelete``
    /// applies.
    ///
    /// Inserting a record writes its kind. The base class writes NULL, unless it is listed. If a
    /// row has become another kind, a record of the old kind neither updates nor deletes it, and
    /// throws the same error.
    ///
    /// A row without the column is of the class that fetches it. If you select some columns, select
    /// this one too.
    open class var databaseKinds: DatabaseKinds { DatabaseKinds() }

    /// The conditions on the rows of the class that hold unless a request leaves them out by name.
    /// By default, there are none. See ``TableRecord/databaseDefaultFilter``.
    ///
    /// ```swift
    /// override class var databaseDefaultFilter: DefaultFilter { [.archived: Column("isArchived") == false] }
    /// ```
    open class var databaseDefaultFilter: DefaultFilter { DefaultFilter() }

    /// The column that holds the date of a soft delete. By default, there is none, and deleted rows
    /// are gone. See ``TableRecord/databaseSoftDelete``.
    ///
    /// ```swift
    /// override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
    /// ```
    open class var databaseSoftDelete: SoftDelete? { nil }

    /// Whether the log warns, in debug builds, if SQL or a bulk update writes the table without
    /// running the callbacks that the class overrides. By default, it warns once for each SQL text,
    /// about classes that a connection has met.
    open class var warnsOfBypassedCallbacks: Bool { true }

    /// Whether the log warns, in debug builds, if a record of the class has changes right after it
    /// was fetched. In that case a column is misspelled in ``columns(_:)``, ``updateFromRow(_:)``
    /// or ``encode(to:)``, or it is not read. The next save would then overwrite the values in the
    /// database. By default, the log warns once, when the first whole record is fetched.
    open class var warnsOfChangesAfterFetch: Bool { true }

    /// The stored properties that have the name of a column of the table, but intentionally have no
    /// line in ``columns(_:)``. By default, there are none.
    ///
    /// ```swift
    /// override class var databaseUnlistedProperties: Set<String> { ["notes"] }
    /// ```
    ///
    /// A property with any other name need not be listed. If a property has the name of a column,
    /// `checkSchema` reports that its line is missing. In debug builds, the log also reports it
    /// when a record of the class is first fetched or saved.
    open class var databaseUnlistedProperties: Set<String> { [] }

    /// Whether the log warns, in debug builds, if a loop fetches rows that belong to one record
    /// after another, although one statement could fetch all. By default, it warns once for each
    /// connection.
    open class var warnsOfRepeatedLoads: Bool { true }

    // MARK: - Strategies

    // `Overrides.strategies(_:)` depends on the order of these five methods. Put no other member
    // between them.

    /// Returns the strategy that stores the dates of a column: see ``columns(_:)``.
    ///
    /// - Parameter column: The name of the column, not of the coding key.
    open class func databaseDateEncodingStrategy(
        for column: String
    ) -> DatabaseDateEncodingStrategy { .deferredToDate }

    /// Returns the strategy that stores the data of a column: see ``columns(_:)``.
    ///
    /// - Parameter column: The name of the column, not of the coding key.
    open class func databaseDataEncodingStrategy(
        for column: String
    ) -> DatabaseDataEncodingStrategy { .deferredToData }

    /// Returns the strategy that stores the UUIDs of a column: see ``columns(_:)``.
    ///
    /// - Parameter column: The name of the column, not of the coding key.
    open class func databaseUUIDEncodingStrategy(
        for column: String
    ) -> DatabaseUUIDEncodingStrategy { .deferredToUUID }

    /// Returns the strategy that reads the dates of a column: see ``columns(_:)``.
    ///
    /// - Parameter column: The name of the column, not of the coding key.
    open class func databaseDateDecodingStrategy(
        for column: String
    ) -> DatabaseDateDecodingStrategy { .deferredToDate }

    /// Returns the strategy that reads the data of a column: see ``columns(_:)``.
    ///
    /// - Parameter column: The name of the column, not of the coding key.
    open class func databaseDataDecodingStrategy(
        for column: String
    ) -> DatabaseDataDecodingStrategy { .deferredToData }

    /// Returns the encoder that makes the JSON of a column: see ``columns(_:)``. By default: sorted
    /// keys, data in Base64, dates in milliseconds since 1970, no infinite numbers.
    ///
    /// Let it sort keys. Equal values should have equal texts, or else the record looks changed
    /// when it is not.
    ///
    /// - Parameter column: The name of the column, not of the coding key.
    open class func databaseJSONEncoder(for column: String) -> JSONEncoder { jsonEncoder }

    /// Returns the decoder that reads the JSON of a column: see ``columns(_:)``. By default: data
    /// in Base64, dates in milliseconds since 1970, no infinite numbers.
    ///
    /// - Parameter column: The name of the column, not of the coding key.
    open class func databaseJSONDecoder(for column: String) -> JSONDecoder { jsonDecoder }

    /// The strategy that names the columns in which a `Codable` class stores its coding keys. The
    /// columns of ``columns(_:)`` keep their names.
    open class var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .useDefaultKeys }

    /// The strategy that names the columns from which a `Codable` class reads its coding keys. The
    /// columns of ``columns(_:)`` keep their names.
    open class var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .useDefaultKeys }

    /// The `userInfo` of the encoder of a value, and of JSON.
    open class var databaseEncodingUserInfo: [CodingUserInfoKey: any Sendable] { [:] }

    /// The `userInfo` of the decoder of a value, and of JSON.
    open class var databaseDecodingUserInfo: [CodingUserInfoKey: any Sendable] { [:] }

    // MARK: - Columns

    /// Lists the columns of the record, each with its property. Everything that reads or stores the
    /// record uses this list.
    ///
    /// ```swift
    /// override func columns(_ column: borrowing RecordColumns) throws {
    ///     try column("id", id) { id = $0 }
    ///     try column("name", name) { name = $0 }
    ///     try column("score", score) { score = $0 }
    /// }
    /// ```
    ///
    /// A subclass calls `try super.columns(column)`, and lists its own columns. Their order does
    /// not matter, as long as it stays the same. See ``RecordColumns`` for the kinds of columns.
    ///
    /// - Parameter column: The object that lists each column. It is called as a function, and is
    ///   valid until this returns.
    /// - Throws: any error that ``RecordColumns`` throws. If an insertion cannot set the new row
    ///   id, the row stays inserted, and the insertion throws
    ///   ``RecordError/rowNotTaken(recordType:reason:)``.
    open func columns(_ column: borrowing RecordColumns) throws {}

    // MARK: - Reading and encoding

    /// Creates a record that was never fetched or saved, so it has changes.
    public init() {}

    /// Reads a row, by ``columns(_:)`` or ``updateFromRow(_:)``. The record remembers the row if it
    /// was fetched.
    ///
    /// An overriding initializer reads its properties and then calls `super.init(row:)`.
    ///
    /// - Parameter row: The row, which may lack columns. It is valid until this returns.
    /// - Throws: a ``RowDecodingError`` if a value does not convert, and any error that
    ///   ``columns(_:)`` or ``updateFromRow(_:)`` throws.
    public required init(row: Row) throws {
        if let probe = row.probe {
            try probe.read(row, into: self)
        } else {
            try read(row)
            try remember(fetched: row)
        }
    }

    /// Makes a fetched record. Its row is packed while it is read: see `LiveRow.beginPacking()`.
    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func currentElement(of row: LiveRow) throws -> Self {
        row.beginPacking()
        let isPlain = row.storage.pointee.plainElement == ObjectIdentifier(Self.self)
        let record = try (isPlain ? nil : makeByCoding(of: row)) ?? Self(row: Row(row))
        // An initializer may read properties after `Record`'s own initializer has run.
        if row.storage.pointee.lacksColumns { record.noteUnread(of: row) }
        #if DEBUG
        record.adviseOfFirstFetch(row)
        #endif
        return record
    }

    /// Sets the properties from a row, which may lack columns.
    ///
    /// This and ``encode(to:)`` are the older way to define the columns: see ``columns(_:)``.
    ///
    /// It is called with a fetched row. If the record was inserted without a row id, it is also
    /// called with a row of all encoded values and the new row id. A rollback of the insertion
    /// calls it with NULL as the row id.
    ///
    /// - Parameter row: The row. It is valid until this returns.
    /// - Throws: any error that reading a column throws. An insertion then keeps its row, and
    ///   throws ``RecordError/rowNotTaken(recordType:reason:)``.
    open func updateFromRow(_ row: Row) throws {}

    /// Encodes all columns that are stored, including the primary key.
    ///
    /// This and ``updateFromRow(_:)`` are the older way to define the columns: see ``columns(_:)``.
    ///
    /// - Parameter container: The container that receives the values, by column name. If a column
    ///   is set twice, the last value counts.
    /// - Throws: an error that prevents the record from being saved.
    open func encode(to container: inout PersistenceContainer) throws {}

    /// Returns a record with the same values, which remembers the same row.
    ///
    /// It has the values that are encoded. Override it to copy more: call `super`, and copy values
    /// that are Sendable, or copies.
    ///
    /// ```swift
    /// override func copy() throws -> sending Self {
    ///     let copy = try super.copy()
    ///     copy.color = color
    ///     return copy
    /// }
    /// ```
    ///
    /// It shares nothing with the record. If a record stays with its owner, the owner hands a copy
    /// to `write(sending:_:)`. A copy made inside of a transaction follows its rollback like the
    /// record.
    ///
    /// - Throws: any error that ``encode(to:)`` and the initializer throw.
    open func copy() throws -> sending Self {
        // It is made from values, which are copied.
        nonisolated(unsafe) let copy = try type(of: self).make(of: Row(encoded().row()))
        copy.becomeCopy(of: self)
        return copy
    }

    // MARK: - Saving

    /// Inserts the record.
    ///
    /// Everything that inserts a record calls this. An overriding method calls `super`.
    ///
    /// - Throws: a ``DatabaseError`` if a constraint is violated, and any error of the callbacks.
    open func insert(_ db: Database) throws { try insertRow(in: db) }

    /// Updates all columns of the record's row, by calling ``update(_:columns:)``.
    ///
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key.
    open func update(_ db: Database) throws { try updateRow(in: db) }

    /// Updates some columns of the record's row.
    ///
    /// Everything that updates a record calls this. An overriding method calls `super`.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The names of columns that the record encodes. Any other name throws
    ///     ``RecordError/columnNotEncoded(databaseTableName:column:)``. The primary key is not
    ///     written.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key. A ``DatabaseError`` if a constraint is violated, and any error of
    ///   the callbacks.
    open func update(_ db: Database, columns: Set<String>) throws { try updateRow(in: db, columns: columns) }

    /// Deletes the record's row, or stamps it if ``databaseSoftDelete`` keeps deleted rows.
    ///
    /// Everything that deletes a record calls this. An overriding method calls `super`.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: a ``DatabaseError`` if other rows refer to this one by a foreign key that prevents
    ///   the deletion, and any error of the callbacks.
    @discardableResult
    open func delete(_ db: Database) throws -> Bool { try deleteOwnRow(in: db) }

    // MARK: - Callbacks

    /// Called before the record is inserted or updated.
    ///
    /// - Throws: an error that stops the insertion or update. Then nothing is written, and the
    ///   caller gets the error.
    open func willSave(_ db: Database) throws {}
    /// Called around the insertion or update. It must call `save`, once.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - save: A function that inserts the record or updates its row, and returns which it was.
    ///     Rethrow its errors: it also throws if a conflict is resolved by ignoring the record.
    /// - Throws: any error of `save`, or an error that stops the insertion or update.
    open func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws { _ = try save() }
    /// Called after the record was inserted or updated.
    ///
    /// - Parameter saved: The outcome. Its ``PersistenceSuccess/insertion`` is nil after an update.
    ///   An upsert counts as an insertion.
    open func didSave(_ saved: PersistenceSuccess) {}

    /// Called before the record is inserted.
    ///
    /// - Throws: an error that stops the insertion. Then nothing is written, and the caller gets
    ///   the error.
    open func willInsert(_ db: Database) throws {}
    /// Called around the insertion. It must call `insert`, once.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - insert: A function that inserts the record, and returns its row id. Rethrow its errors:
    ///     it also throws if a conflict is resolved by ignoring the record.
    /// - Throws: any error of `insert`, or an error that stops the insertion.
    open func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws { _ = try insert() }
    /// Called after the record was inserted. A class takes its row id here if it neither lists it
    /// in ``columns(_:)``, nor reads it in ``updateFromRow(_:)``.
    ///
    /// - Parameter inserted: The row id of the row, and the column that is the row id, if the table
    ///   declares one.
    open func didInsert(_ inserted: InsertionSuccess) {}

    /// Called before columns of the record are updated.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns to update: the requested ones, or all that the record encodes,
    ///     except for columns that it has never read. Changes made by the will-callbacks are
    ///     written, too.
    /// - Throws: an error that stops the update. Then nothing is written, and the caller gets the
    ///   error.
    open func willUpdate(_ db: Database, columns: Set<String>) throws {}
    /// Called around the update. It must call `update`, once.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns that ``willUpdate(_:columns:)`` got.
    ///   - update: A function that updates the row. Rethrow its errors: it also throws if a
    ///     conflict is resolved by ignoring the record.
    /// - Throws: any error of `update`, or an error that stops the update.
    open func aroundUpdate(
        _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
    ) throws {
        _ = try update()
    }
    /// Called after the record was updated.
    ///
    /// - Parameter updated: The outcome. Its ``PersistenceSuccess/insertion`` is nil.
    open func didUpdate(_ updated: PersistenceSuccess) {}

    /// Checks the record before each insertion and update, in every way of saving, and after
    /// `willSave`, `willInsert` and `willUpdate`. If it throws, the save stops, and nothing has
    /// changed.
    ///
    /// ```swift
    /// override func validate(_ db: Database) throws {
    ///     if name.isEmpty { throw InvalidPlayer.lacksName }
    ///     guard try Team.exists(db, key: teamID) else { throw InvalidPlayer.lacksTeam }
    /// }
    /// ```
    ///
    /// It can read the database, but not write it. If it changes the record, the change may not be
    /// written. Both belong in ``willSave(_:)``. If a save finds no row to update, and inserts one,
    /// this is called before each. Bulk updates and raw SQL do not call it. Use a constraint of the
    /// table for rules that must hold for every row.
    open func validate(_ db: Database) throws {}

    /// Called before the record is deleted.
    ///
    /// - Throws: an error that stops the deletion. Then nothing is written, and the caller gets the
    ///   error.
    open func willDelete(_ db: Database) throws {}
    /// Called around the deletion. It must call `delete`, once.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - delete: A function that deletes the row, and returns whether there was one. Rethrow its
    ///     errors.
    /// - Throws: any error of `delete`, or an error that stops the deletion.
    open func aroundDelete(_ db: Database, delete: () throws -> Bool) throws { _ = try delete() }
    /// Called after the deletion.
    ///
    /// - Parameter deleted: Whether there was a row to delete.
    open func didDelete(deleted: Bool) {}
}

@available(
    *, unavailable,
    message:
        "a record has no lock: return it from the access that fetched it, hand it over with write(sending:_:), or save it with save(in:)"
)
extension Record: Sendable {}

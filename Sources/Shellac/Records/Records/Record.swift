// The base class of records: columns, change tracking, callbacks, and overridable methods.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Over 350 lines: because what subclasses override must stand in the class itself.

/// A class whose instances are rows of a table, and know whether they have changed.
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
///     try player.updateChanges(db)    // UPDATE "player" SET "score" = ? WHERE "id" = ?
/// }
/// ```
///
/// ## Reading a row
///
/// A class whose properties all have a default value lists its columns in ``columns(_:)``, as above, and inherits both
/// initializers. Another class overrides ``init(row:)``, and calls `super.init(row:)` at its end; where it does not list its
/// row id as a column that is read, it takes that of an insertion in ``didInsert(_:)``.
///
/// In place of the list, a class may override the older pair of ``updateFromRow(_:)`` and ``encode(to:)``. A class that
/// overrides both is refused when it is first used; its superclass may have the other one.
///
/// A class that says `Codable` and gives its properties defaults needs no more: they are stored by their coding keys, as
/// those of a struct are. Swift codes the properties of that class alone. Those of superclasses, as `id`, are stored as they
/// say; a subclass lists in ``columns(_:)`` what it adds, or is refused. ``jsonColumns`` has the columns of all of them.
/// Where the class lists its columns itself, these count.
///
/// Fetched records are made by `init(from:)`. A row is read into a record that is there (by ``reload(_:)``, say) through a
/// second one, whose properties are copied: its initializers and `deinit` run, and property observers do not. An `init(row:)`
/// that does anything to the record is called for each row. Coding that is written by hand fetches and saves; what would
/// have to set a property in place throws, unless it codes stored properties by their names. An `@Observable` class is not
/// reloaded so, since nobody would be told: ``reload(_:)`` throws, and the row id belongs in a superclass that lists it.
///
/// ## What a record remembers
///
/// A record that was fetched or saved remembers what the database holds. ``hasDatabaseChanges`` encodes the record and
/// compares. What it remembers follows the transaction: a rollback gives back what the record remembered before, and
/// takes away the row id that an insertion gave it. Until its transaction ends, the connection holds every record that
/// was saved in it: a million saved records stay in memory until then. These are not covered: a record that was first
/// fetched in a transaction which had already written, a record that two connections save at once, and a row id that
/// your own ``didInsert(_:)`` has set.
///
/// What a record has never read is not written: columns that its fetch lacked, or that its table was given after it, by
/// whatever connection. They are left alone as long as their properties are as they were right after the fetch. Setting
/// the very value that a property had then cannot be seen; ``update(_:columns:)`` writes it.
///
/// Records that were fetched together share the memory in which they remember, some at a time, and so do those that one
/// transaction inserts: a record that outlives all others keeps a kilobyte of it, until it is saved or freed.
///
/// ## Saving
///
/// All that inserts, updates or deletes a record goes through four methods: ``insert(_:)``, ``update(_:)``, which calls
/// ``update(_:columns:)``, and ``delete(_:)``. Override them to validate, say. The exception is
/// ``upsert(_:)``, which is one statement that does two of these.
///
/// The order of callbacks is that of ``MutablePersistableRecord``. (Where a class overrides one of the first three methods,
/// ``save(_:)`` of a record that has a key calls `willSave`, and then these methods inside of `aroundSave`.) What the
/// will-callbacks change is written, also where only some columns are updated. Forgetting to call `super` in a callback harms nothing.
///
/// ## Identifiers
///
/// Records are found by the values of their primary key, also as `id`: `Player.find(db, id: 1)`. That needs no
/// `Identifiable`. A class that is `Identifiable` declares an `id`: Swift gives to those that declare none, nor inherit
/// one when the conformance is declared, an `ObjectIdentifier`, which is no value of the database.
///
/// ## Concurrency
///
/// A record is not Sendable. Records can be fetched in an asynchronous access and returned from it, and one can be
/// handed to `write(sending:_:)`: a copy, where the record stays with its owner, who may also call `save(in:)`. A record
/// that was saved in an access belongs to that access until it ends, since the
/// connection still holds it.
nonisolated open class Record: FetchableRecord, PersistableRecord {
    @exclusivity(unchecked) final var rememberedRow = RememberedRow()
    /// What an upper layer keeps with the record: see ``Record/related``.
    @usableFromInline @exclusivity(unchecked) final var attachment: RecordAttachment?

    // MARK: - The table

    /// The name of the table, which must always be the same: by default, that of the class itself, with a lower-case first
    /// letter.
    ///
    /// A subclass that is stored in the table of its superclass needs that to override it, or does so itself: without an
    /// override, `class Hero: Player` is stored in `hero`. What needs the table throws where there is none.
    ///
    /// A class that is fetched by SQL alone needs no table. Where there is one of its name by accident, the affinities of
    /// that one's columns decide whether a record has changes: override it then, with a name that no table has.
    open class var databaseTableName: String { nameOfTable(namedAfter: self) }

    /// The selection when the class is fetched without SQL: by default, all columns.
    open class var databaseSelection: [any SQLSelectable] { [.allColumns] }

    /// The columns of the primary key, where the schema does not tell: of a view. By default, nil.
    open class var databasePrimaryKey: [String]? { nil }

    /// Returns what is looked for in a column, where a row is found by a date, by data, or by a UUID: by default, what
    /// such a value is stored as by ``encode(to:)``. Override it where that method stores something else.
    ///
    /// - Parameters:
    ///   - value: A `Date`, `Data` or a `UUID`. Other values are not asked about.
    ///   - column: The name of the column, as the table spells it.
    /// - Throws: what encoding the value throws.
    open class func databaseKeyValue(
        _ value: any DatabaseValueConvertible, for column: String
    ) throws -> DatabaseValue { try storedKeyValue(value, for: column) }

    /// The conflict policy when a record violates a constraint: by default, SQLite throws.
    open class var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }

    /// The columns that hold the dates of a row: by default, none.
    open class var databaseStamps: DatabaseStamps { DatabaseStamps() }

    /// The classes whose records stand in the table, and the column that tells which: by default, all rows are of the class that
    /// is asked for.
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
    /// One class declares them for all of its subclasses. Whatever is fetched as an `Animal` is a `Cat` or a `Dog` then. All that
    /// `Cat` is asked goes by its own rows, and those of its listed subclasses: requests, joins, keys, counts, and what
    /// updates and deletes many rows. Raw SQL does not: a cursor of cats that meets a dog throws
    /// ``RecordError/kindChanged(recordType:kind:row:)``.
    ///
    /// A subclass that is not listed is not saved, and takes the rows of the nearest listed class above it. All classes are deleted in
    /// one way: ``databaseSoftDelete`` is the base's.
    ///
    /// To insert a record writes its kind. The base class writes NULL, unless it is listed. A row that has become
    /// another kind is neither updated nor deleted by a record of the old one, which throws the same error.
    ///
    /// A row without the column is one of the class that is asked for: select the column, where you select some.
    open class var databaseKinds: DatabaseKinds { DatabaseKinds() }

    /// The conditions on the rows of the class that hold unless a request leaves them out by their names: by default, none. See
    /// ``TableRecord/databaseDefaultFilter``.
    ///
    /// ```swift
    /// override class var databaseDefaultFilter: DefaultFilter { [.archived: Column("isArchived") == false] }
    /// ```
    open class var databaseDefaultFilter: DefaultFilter { DefaultFilter() }

    /// The column that says since when a row is deleted: by default, there is none, and deleted rows are gone. See
    /// ``TableRecord/databaseSoftDelete``.
    ///
    /// ```swift
    /// override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
    /// ```
    open class var databaseSoftDelete: SoftDelete? { nil }

    /// Whether the log says, in debug builds, when SQL or a bulk update writes the table without running the callbacks
    /// that the class overrides. By default, it does, once for each SQL text, of classes that a connection has met.
    open class var warnsOfBypassedCallbacks: Bool { true }

    /// Whether the log says, in debug builds, when a record of the class has changes right after it was fetched: then a
    /// column is misspelled in ``columns(_:)``, ``updateFromRow(_:)`` or ``encode(to:)``, or is not read, and the next save would
    /// overwrite what the database holds. By default, it does, once, when the first whole record is fetched.
    open class var warnsOfChangesAfterFetch: Bool { true }

    /// The stored properties that have the name of a column of the table, and are meant to have no line in ``columns(_:)``: by default,
    /// none.
    ///
    /// ```swift
    /// override class var databaseUnlistedProperties: Set<String> { ["notes"] }
    /// ```
    ///
    /// A property of another name needs not be named. Of one that has the name of a column, `checkSchema` says that its line was
    /// forgotten, and in debug builds the log does, when a record of the class is first fetched or saved.
    open class var databaseUnlistedProperties: Set<String> { [] }

    /// Whether the log says, in debug builds, when a loop asks for what belongs to one record of the class after the other,
    /// where one statement finds all. By default, it does, once for each connection.
    open class var warnsOfRepeatedLoads: Bool { true }

    // MARK: - Strategies

    // Where these five stand is looked at: see `Overrides.strategies(_:)`. Let nothing stand among them.

    /// Returns how the dates of a column are stored: see ``columns(_:)``.
    ///
    /// - Parameter column: The name of the column, and not that of the coding key.
    open class func databaseDateEncodingStrategy(
        for column: String
    ) -> DatabaseDateEncodingStrategy { .deferredToDate }

    /// Returns how the data of a column is stored: see ``columns(_:)``.
    ///
    /// - Parameter column: The name of the column, and not that of the coding key.
    open class func databaseDataEncodingStrategy(
        for column: String
    ) -> DatabaseDataEncodingStrategy { .deferredToData }

    /// Returns how the UUIDs of a column are stored: see ``columns(_:)``.
    ///
    /// - Parameter column: The name of the column, and not that of the coding key.
    open class func databaseUUIDEncodingStrategy(
        for column: String
    ) -> DatabaseUUIDEncodingStrategy { .deferredToUUID }

    /// Returns how the dates of a column are read: see ``columns(_:)``.
    ///
    /// - Parameter column: The name of the column, and not that of the coding key.
    open class func databaseDateDecodingStrategy(
        for column: String
    ) -> DatabaseDateDecodingStrategy { .deferredToDate }

    /// Returns how the data of a column is read: see ``columns(_:)``.
    ///
    /// - Parameter column: The name of the column, and not that of the coding key.
    open class func databaseDataDecodingStrategy(
        for column: String
    ) -> DatabaseDataDecodingStrategy { .deferredToData }

    /// Returns the encoder that makes the JSON of a column: see ``columns(_:)``. By default: sorted keys, data in
    /// Base64, dates in milliseconds since 1970, no infinite numbers.
    ///
    /// Let it sort keys: equal values should give equal texts, or the record looks changed when it is not.
    ///
    /// - Parameter column: The name of the column, and not that of the coding key.
    open class func databaseJSONEncoder(for column: String) -> JSONEncoder { jsonEncoder }

    /// Returns the decoder that reads the JSON of a column: see ``columns(_:)``. By default: data in Base64, dates in
    /// milliseconds since 1970, no infinite numbers.
    ///
    /// - Parameter column: The name of the column, and not that of the coding key.
    open class func databaseJSONDecoder(for column: String) -> JSONDecoder { jsonDecoder }

    /// The columns in which a `Codable` class stores its coding keys. Those of ``columns(_:)`` have their names.
    open class var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .useDefaultKeys }

    /// The columns from which a `Codable` class reads its coding keys. Those of ``columns(_:)`` have their names.
    open class var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .useDefaultKeys }

    /// The `userInfo` of the encoder of a value, and of JSON.
    open class var databaseEncodingUserInfo: [CodingUserInfoKey: any Sendable] { [:] }

    /// The `userInfo` of the decoder of a value, and of JSON.
    open class var databaseDecodingUserInfo: [CodingUserInfoKey: any Sendable] { [:] }

    // MARK: - Columns

    /// Lists the columns of the record, each with its property: it serves all that reads or stores the record.
    ///
    /// ```swift
    /// override func columns(_ column: borrowing RecordColumns) throws {
    ///     try column("id", id) { id = $0 }
    ///     try column("name", name) { name = $0 }
    ///     try column("score", score) { score = $0 }
    /// }
    /// ```
    ///
    /// A subclass calls `try super.columns(column)`, and lists its own columns. Their order does not matter, as long as it
    /// stays the same. See ``RecordColumns`` for the kinds of columns.
    ///
    /// - Parameter column: What each column is listed by: it is called as a function, and is good until this returns.
    /// - Throws: what ``RecordColumns`` throws. An insertion whose row id is not taken then stands, and throws
    ///   ``RecordError/rowNotTaken(recordType:reason:)``.
    open func columns(_ column: borrowing RecordColumns) throws {}

    // MARK: - Reading and encoding

    /// Creates a record that was never fetched, nor saved: it has changes.
    public init() {}

    /// Reads a row, by ``columns(_:)`` or ``updateFromRow(_:)``. The record remembers the row if it was fetched.
    ///
    /// An overriding initializer reads its properties and then calls `super.init(row:)`.
    ///
    /// - Parameter row: The row, which may lack columns. It is good until this returns.
    /// - Throws: a ``RowDecodingError`` where a value does not convert, and what ``columns(_:)`` or ``updateFromRow(_:)``
    ///   throws.
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
        // An initializer may read properties after that of `Record` has run.
        if row.storage.pointee.lacksColumns { record.noteUnread(of: row) }
        #if DEBUG
        record.adviseOfFirstFetch(row)
        #endif
        return record
    }

    /// Takes the values of a row, which may lack columns.
    ///
    /// This and ``encode(to:)`` are the older way to tell the columns: see ``columns(_:)``.
    ///
    /// It is called with a fetched row, and with a row of all that was encoded and the new row id when the record was
    /// inserted without one. A rollback of the insertion calls it with a NULL there.
    ///
    /// - Parameter row: The row. It is good until this returns.
    /// - Throws: what reading a column throws. An insertion then stands, and throws
    ///   ``RecordError/rowNotTaken(recordType:reason:)``.
    open func updateFromRow(_ row: Row) throws {}

    /// Encodes all columns that are stored, the primary key among them.
    ///
    /// This and ``updateFromRow(_:)`` are the older way to tell the columns: see ``columns(_:)``.
    ///
    /// - Parameter container: Takes the values, by the names of the columns. The last value that a column is given counts.
    /// - Throws: an error that keeps the record from being saved.
    open func encode(to container: inout PersistenceContainer) throws {}

    /// Returns a record with the same values, which remembers the same row.
    ///
    /// It has what is encoded. Override it to copy more: call `super`, and copy values that are Sendable, or copies.
    ///
    /// ```swift
    /// override func copy() throws -> sending Self {
    ///     let copy = try super.copy()
    ///     copy.color = color
    ///     return copy
    /// }
    /// ```
    ///
    /// It shares nothing with the record: one that stays with its owner hands a copy to `write(sending:_:)`. A copy that is
    /// made inside of a transaction follows its rollback as the record does.
    ///
    /// - Throws: what ``encode(to:)`` and the initializer throw.
    open func copy() throws -> sending Self {
        // It is made of values, which are copied.
        nonisolated(unsafe) let copy = try type(of: self).make(of: Row(encoded().row()))
        copy.becomeCopy(of: self)
        return copy
    }

    // MARK: - Saving

    /// Inserts the record.
    ///
    /// Everything that inserts a record calls this. An overriding method calls `super`.
    ///
    /// - Throws: a ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    open func insert(_ db: Database) throws { try insertRow(in: db) }

    /// Updates all columns of the record's row: calls ``update(_:columns:)``.
    ///
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no row with the record's
    ///   primary key.
    open func update(_ db: Database) throws { try updateRow(in: db) }

    /// Updates some columns of the record's row.
    ///
    /// Everything that updates a record calls this. An overriding method calls `super`.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The names of columns that the record encodes. Another one throws
    ///     ``RecordError/columnNotEncoded(databaseTableName:column:)``. The primary key is not written.
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when there is no row with the record's primary key, a
    ///   ``DatabaseError`` when a constraint is violated, and what the callbacks throw.
    open func update(_ db: Database, columns: Set<String>) throws { try updateRow(in: db, columns: columns) }

    /// Deletes the record's row: or stamps it, where ``databaseSoftDelete`` has it stay.
    ///
    /// Everything that deletes a record calls this. An overriding method calls `super`.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: a ``DatabaseError`` when other rows refer to this one by a foreign key that does not let it go, and
    ///   what the callbacks throw.
    @discardableResult
    open func delete(_ db: Database) throws -> Bool { try deleteOwnRow(in: db) }

    // MARK: - Callbacks

    /// Called before the record is inserted or updated.
    ///
    /// - Throws: an error that stops the insertion or update: nothing is written, and whoever asks for it gets the error.
    open func willSave(_ db: Database) throws {}
    /// Called around the insertion or update: it must call `save`, once.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - save: Inserts the record or updates its row, and tells which. Let its errors through: it throws, too, where a conflict
    ///     is resolved by ignoring the record.
    /// - Throws: what `save` throws, or an error that stops the insertion or update.
    open func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws { _ = try save() }
    /// Called when the record was inserted or updated.
    ///
    /// - Parameter saved: What was done. Its ``PersistenceSuccess/insertion`` is nil after an update. An upsert counts as an
    ///   insertion.
    open func didSave(_ saved: PersistenceSuccess) {}

    /// Called before the record is inserted.
    ///
    /// - Throws: an error that stops the insertion: nothing is written, and whoever asks for it gets the error.
    open func willInsert(_ db: Database) throws {}
    /// Called around the insertion: it must call `insert`, once.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - insert: Inserts the record, and tells its row id. Let its errors through: it throws, too, where a conflict is resolved
    ///     by ignoring the record.
    /// - Throws: what `insert` throws, or an error that stops the insertion.
    open func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws { _ = try insert() }
    /// Called when the record was inserted. A class that neither lists its row id in ``columns(_:)``, nor reads it in
    /// ``updateFromRow(_:)``, takes it here.
    ///
    /// - Parameter inserted: The row id of the row, and the column that is the row id, where the table declares one.
    open func didInsert(_ inserted: InsertionSuccess) {}

    /// Called before columns of the record are updated.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns to update: those that were asked for, or all that the record encodes, but for those that it has
    ///     never read. What the will-callbacks change is written, too.
    /// - Throws: an error that stops the update: nothing is written, and whoever asks for it gets the error.
    open func willUpdate(_ db: Database, columns: Set<String>) throws {}
    /// Called around the update: it must call `update`, once.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns that ``willUpdate(_:columns:)`` was told.
    ///   - update: Updates the row. Let its errors through: it throws, too, where a conflict is resolved by ignoring the record.
    /// - Throws: what `update` throws, or an error that stops the update.
    open func aroundUpdate(
        _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
    ) throws {
        _ = try update()
    }
    /// Called when the record was updated.
    ///
    /// - Parameter updated: What was done. Its ``PersistenceSuccess/insertion`` is nil.
    open func didUpdate(_ updated: PersistenceSuccess) {}

    /// Checks the record, before each insertion and update, whichever way it comes, and after `willSave`, `willInsert` and
    /// `willUpdate`: what it throws stops the save, and nothing has changed.
    ///
    /// ```swift
    /// override func validate(_ db: Database) throws {
    ///     if name.isEmpty { throw InvalidPlayer.lacksName }
    ///     guard try Team.exists(db, key: teamID) else { throw InvalidPlayer.lacksTeam }
    /// }
    /// ```
    ///
    /// It can read the database, and cannot write it; what it changes of the record is not sure to be written: both belong in
    /// ``willSave(_:)``. Where a save finds no row to update, and inserts one, it is called before each. Bulk updates and raw SQL do not call it: what must hold of each row is
    /// a constraint of the table.
    open func validate(_ db: Database) throws {}

    /// Called before the record is deleted.
    ///
    /// - Throws: an error that stops the deletion: nothing is written, and whoever asks for it gets the error.
    open func willDelete(_ db: Database) throws {}
    /// Called around the deletion: it must call `delete`, once.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - delete: Deletes the row, and tells whether there was one. Let its errors through.
    /// - Throws: what `delete` throws, or an error that stops the deletion.
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

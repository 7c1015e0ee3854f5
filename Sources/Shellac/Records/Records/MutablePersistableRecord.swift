/// A record that can be saved, and that saving may change, such as a struct with a generated id.
///
/// ```swift
/// struct Player: Codable, FetchableRecord, MutablePersistableRecord {
///     var id: Int64?
///     var name: String
///     var score: Int
///
///     mutating func didInsert(_ inserted: InsertionSuccess) {
///         id = inserted.rowID
///     }
/// }
///
/// try dbQueue.write { db in
///     var player = Player(id: nil, name: "Arthur", score: 1000)
///     try player.insert(db)        // player.id is set
///     player.score += 1
///     try player.update(db)
/// }
/// ```
///
/// A record that saving does not change is a ``PersistableRecord``.
///
/// ## The order of callbacks
///
/// Saving calls `willSave`, then `willInsert` or `willUpdate`, then `validate`. Then it calls
/// `aroundSave`, inside of it `aroundInsert` or `aroundUpdate`, and inside of that it runs the
/// statement. Finally it calls `didInsert` or `didUpdate`, and `didSave`. Changes made by
/// `willSave` and `willInsert` are written.
///
/// If the update of a save finds no row, the save continues inside of `aroundSave`, with
/// `willInsert`, `validate` and `aroundInsert`. So `willSave`, `aroundSave` and `didSave` are
/// called once.
///
/// Deleting calls `willDelete`, `aroundDelete`, `didDelete`. If something throws, no later callback
/// is called.
public protocol MutablePersistableRecord: EncodableRecord, TableRecord {
    /// The conflict policy if the record violates a constraint. By default, SQLite throws.
    static var persistenceConflictPolicy: PersistenceConflictPolicy { get }

    /// The columns that hold the dates of a row. By default, there are none.
    ///
    /// An insertion writes the transaction date if the record has no stamp. An update writes it to
    /// `updated`, unless the record sets another date. A class record sets one if its property was
    /// assigned since the record was fetched or saved. A struct sets one if `update(_:columns:)`
    /// names the column.
    ///
    /// An update writes the other stamps only if the record sets them. So a record that is older
    /// than its row never restores an old stamp. The columns need no properties. If the record does
    /// not encode them, the same statement computes them.
    ///
    /// The stamps that were written are then in the properties of a class record, through
    /// ``Record/updateFromRow(_:)``, until a rollback. A struct stays as it is, and
    /// `insertAndFetch` returns it as it was stored.
    static var databaseStamps: DatabaseStamps { get }

    /// Called before the record is inserted.
    ///
    /// - Throws: an error that stops the insertion. Then nothing is written, and the caller gets
    ///   the error.
    mutating func willInsert(_ db: Database) throws
    /// Called around the insertion. It must call `insert`, once.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - insert: A function that inserts the record, and returns its row id. Rethrow its errors:
    ///     it also throws if a conflict is resolved by ignoring the record.
    /// - Throws: any error of `insert`, or an error that stops the insertion.
    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws
    /// Called after the record was inserted. This is the place to take a generated id.
    ///
    /// - Parameter inserted: The row id of the row, and the column that is the row id, if the table
    ///   declares one.
    mutating func didInsert(_ inserted: InsertionSuccess)

    /// Called before columns of the record are updated.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns to update: the requested ones, or all that the record encodes.
    ///     Changes made by the will-callbacks are written, too.
    /// - Throws: an error that stops the update. Then nothing is written, and the caller gets the
    ///   error.
    func willUpdate(_ db: Database, columns: Set<String>) throws
    /// Called around the update. It must call `update`, once.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - columns: The columns that ``willUpdate(_:columns:)`` got.
    ///   - update: A function that updates the row. Rethrow its errors: it also throws if a
    ///     conflict is resolved by ignoring the record.
    /// - Throws: any error of `update`, or an error that stops the update.
    func aroundUpdate(
        _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws
    /// Called after the record was updated.
    ///
    /// - Parameter updated: The outcome. Its ``PersistenceSuccess/insertion`` is nil.
    func didUpdate(_ updated: PersistenceSuccess)

    /// Called before the record is inserted or updated. An update does not change the record, so it
    /// calls this on a copy, and writes the copy's values.
    ///
    /// - Throws: an error that stops the insertion or update. Then nothing is written, and the
    ///   caller gets the error.
    mutating func willSave(_ db: Database) throws
    /// Called around the insertion or update. It must call `save`, once.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - save: A function that inserts the record or updates its row, and returns which it was.
    ///     Rethrow its errors: it also throws if a conflict is resolved by ignoring the record.
    /// - Throws: any error of `save`, or an error that stops the insertion or update.
    func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws
    /// Called after the record was inserted or updated.
    ///
    /// - Parameter saved: The outcome. Its ``PersistenceSuccess/insertion`` is nil after an update.
    ///   An upsert counts as an insertion.
    func didSave(_ saved: PersistenceSuccess)

    /// Checks the record before each insertion and update, in every way of saving, and after
    /// `willSave`, `willInsert` and `willUpdate`. If it throws, the save stops, and nothing has
    /// changed.
    ///
    /// It can read the database, but not write it. Bulk updates and raw SQL do not call it.
    func validate(_ db: Database) throws

    /// Called before the record is deleted.
    ///
    /// - Throws: an error that stops the deletion. Then nothing is written, and the caller gets the
    ///   error.
    func willDelete(_ db: Database) throws
    /// Called around the deletion. It must call `delete`, once.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - delete: A function that deletes the row, and returns whether there was one. Rethrow its
    ///     errors.
    /// - Throws: any error of `delete`, or an error that stops the deletion.
    func aroundDelete(_ db: Database, delete: () throws -> Bool) throws
    /// Called after the deletion.
    ///
    /// - Parameter deleted: Whether there was a row to delete.
    func didDelete(deleted: Bool)

    /// Runs an operation. Do not implement or call this: call `insert`, `update`, `save`, `upsert`
    /// and `delete`, which use it. It exists so that class records are always saved by their own
    /// overriding methods.
    ///
    /// - Returns: Whether a row was written or deleted.
    @_documentation(visibility: internal)
    @discardableResult
    mutating func persist(_ operation: PersistenceOperation, in db: Database) throws -> Bool
}

extension MutablePersistableRecord {
    public static var persistenceConflictPolicy: PersistenceConflictPolicy { PersistenceConflictPolicy() }

    public static var databaseStamps: DatabaseStamps { DatabaseStamps() }

    @inlinable public mutating func willInsert(_ db: Database) throws {
        db.noteIdle(.willInsert, of: Self.self)
    }
    @inlinable public func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        db.noteIdle(.aroundInsert, of: Self.self)
        _ = try insert()
    }
    @inlinable public mutating func didInsert(_ inserted: InsertionSuccess) {}
    @inlinable public func willUpdate(_ db: Database, columns: Set<String>) throws {
        db.noteIdle(.willUpdate, of: Self.self)
    }
    @inlinable public func aroundUpdate(
        _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
    ) throws {
        db.noteIdle(.aroundUpdate, of: Self.self)
        _ = try update()
    }
    @inlinable public func didUpdate(_ updated: PersistenceSuccess) {}
    @inlinable public mutating func willSave(_ db: Database) throws { db.noteIdle(.willSave, of: Self.self) }
    @inlinable public func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        db.noteIdle(.aroundSave, of: Self.self)
        _ = try save()
    }
    @inlinable public func didSave(_ saved: PersistenceSuccess) {}
    @inlinable public func validate(_ db: Database) throws { db.noteIdle(.validate, of: Self.self) }
    @inlinable public func willDelete(_ db: Database) throws {}
    @inlinable public func aroundDelete(_ db: Database, delete: () throws -> Bool) throws { _ = try delete() }
    @inlinable public func didDelete(deleted: Bool) {}
}

/// A record that can be saved, and that saving does not change. It has its key already, or is an
/// instance of a class.
///
/// ```swift
/// struct Country: Codable, FetchableRecord, PersistableRecord {
///     var code: String
///     var name: String
/// }
/// try Country(code: "FR", name: "France").insert(db)
/// ```
///
/// So a struct does not take the row id that an insertion generates. A struct with `var id: Int64?`
/// is a ``MutablePersistableRecord``, and takes the id in `didInsert`.
public protocol PersistableRecord: MutablePersistableRecord {
    /// Called before the record is inserted.
    ///
    /// - Throws: an error that stops the insertion. Then nothing is written, and the caller gets
    ///   the error.
    func willInsert(_ db: Database) throws
    /// Called after the record was inserted.
    ///
    /// - Parameter inserted: The row id of the row, and the column that is the row id, if the table
    ///   declares one.
    func didInsert(_ inserted: InsertionSuccess)
    /// Called before the record is inserted or updated.
    ///
    /// - Throws: an error that stops the insertion or update. Then nothing is written, and the
    ///   caller gets the error.
    func willSave(_ db: Database) throws
}

extension PersistableRecord {
    /// Called before the record is inserted. By default, it does nothing.
    ///
    /// - Throws: an error that stops the insertion. Then nothing is written, and the caller gets
    ///   the error.
    @inlinable public func willInsert(_ db: Database) throws { db.noteIdle(.willInsert, of: Self.self) }
    /// Called after the record was inserted. By default, it does nothing.
    ///
    /// - Parameter inserted: The row id of the row, and the column that is the row id, if the table
    ///   declares one.
    @inlinable public func didInsert(_ inserted: InsertionSuccess) {}
    /// Called before the record is inserted or updated. By default, it does nothing.
    ///
    /// - Throws: an error that stops the insertion or update. Then nothing is written, and the
    ///   caller gets the error.
    @inlinable public func willSave(_ db: Database) throws { db.noteIdle(.willSave, of: Self.self) }
}

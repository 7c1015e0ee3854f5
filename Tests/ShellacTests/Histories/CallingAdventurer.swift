import Shellac

extension History {
    /// A place in the life of a save or of a deletion where a record is called.
    enum Moment: String, CaseIterable, CustomStringConvertible {
        case willSave, willInsert, willUpdate, willDelete
        case beforeSave, beforeInsert, beforeUpdate, beforeDelete
        case afterSave, afterInsert, afterUpdate, afterDelete
        case didSave, didInsert, didUpdate, didDelete

        var description: String { rawValue }

        /// Whether nothing can be thrown there.
        var isPast: Bool { rawValue.hasPrefix("did") }
        /// Whether the record may be changed there: inside of `around` callbacks, not before it is
        /// written.
        var allowsChange: Bool { !rawValue.hasPrefix("before") }
    }

    /// The action of a record in a callback.
    enum Deed {
        case change(Columns, Values)
        case fail
        case saveOther(Int)
    }
}

/// The record of random histories which is called around its saves, and which takes the longer of
/// the two ways for it.
class CallingAdventurer: PairAdventurer {
    /// An action for the record's callback at a moment, which runs once.
    var deed: (moment: History.Moment, run: () throws -> Void)?

    private func come(to moment: History.Moment) throws {
        guard let deed, deed.moment == moment else { return }
        self.deed = nil
        try deed.run()
    }

    override func willSave(_ db: Database) throws {
        try super.willSave(db)
        try come(to: .willSave)
    }
    override func willInsert(_ db: Database) throws {
        try super.willInsert(db)
        try come(to: .willInsert)
    }
    override func willUpdate(_ db: Database, columns: Set<String>) throws {
        try super.willUpdate(db, columns: columns)
        try come(to: .willUpdate)
    }
    override func willDelete(_ db: Database) throws {
        try super.willDelete(db)
        try come(to: .willDelete)
    }

    override func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        try come(to: .beforeSave)
        try super.aroundSave(db, save: save)
        try come(to: .afterSave)
    }
    override func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        try come(to: .beforeInsert)
        try super.aroundInsert(db, insert: insert)
        try come(to: .afterInsert)
    }
    override func aroundUpdate(
        _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
    ) throws {
        try come(to: .beforeUpdate)
        try super.aroundUpdate(db, columns: columns, update: update)
        try come(to: .afterUpdate)
    }
    override func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        try come(to: .beforeDelete)
        try super.aroundDelete(db, delete: delete)
        try come(to: .afterDelete)
    }

    // No caller receives the error.
    override func didInsert(_ inserted: InsertionSuccess) {
        super.didInsert(inserted)
        try? come(to: .didInsert)
    }
    override func didUpdate(_ updated: PersistenceSuccess) {
        super.didUpdate(updated)
        try? come(to: .didUpdate)
    }
    override func didSave(_ saved: PersistenceSuccess) {
        super.didSave(saved)
        try? come(to: .didSave)
    }
    override func didDelete(deleted: Bool) {
        super.didDelete(deleted: deleted)
        try? come(to: .didDelete)
    }
}

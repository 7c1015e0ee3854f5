/// A callback of a class of records.
struct RecordCallback {
    /// A kind of save that calls the callback.
    enum Kind: String { case insert, update, delete }

    let name: String
    let kinds: [Kind]
    /// Its member in the set of callbacks that get a database around an insertion or an update.
    /// Empty for other callbacks.
    let member: CallbackSet
    /// Its place among the words of a class's metadata. Nil if it was not found.
    let place: Int?

    /// - Parameter overriding: A class that overrides only this callback.
    private init(_ name: String, _ kinds: [Kind], _ member: CallbackSet = [], by overriding: Record.Type) {
        (self.name, self.kinds, self.member) = (name, kinds, member)
        place = Overrides.places(overriddenBy: overriding, count: 1).first
    }

    static let all = [
        RecordCallback("willSave", [.insert, .update], .willSave, by: WillSave.self),
        RecordCallback("validate", [.insert, .update], .validate, by: Validate.self),
        RecordCallback("aroundSave", [.insert, .update], .aroundSave, by: AroundSave.self),
        RecordCallback("didSave", [.insert, .update], by: DidSave.self),
        RecordCallback("willInsert", [.insert], .willInsert, by: WillInsert.self),
        RecordCallback("aroundInsert", [.insert], .aroundInsert, by: AroundInsert.self),
        RecordCallback("didInsert", [.insert], by: DidInsert.self),
        RecordCallback("willUpdate", [.update], .willUpdate, by: WillUpdate.self),
        RecordCallback("aroundUpdate", [.update], .aroundUpdate, by: AroundUpdate.self),
        RecordCallback("didUpdate", [.update], by: DidUpdate.self),
        RecordCallback("willDelete", [.delete], by: WillDelete.self),
        RecordCallback("aroundDelete", [.delete], by: AroundDelete.self),
        RecordCallback("didDelete", [.delete], by: DidDelete.self),
    ]

    /// Whether a class overrides it. Nil if unknown.
    func isOverridden(by type: Record.Type) -> Bool? { place.flatMap { Overrides.overrides([$0], type) } }

    private final class WillSave: Record {
        override func willSave(_ db: Database) throws { try super.willSave(db) }
    }
    private final class Validate: Record {
        override func validate(_ db: Database) throws { try super.validate(db) }
    }
    private final class AroundSave: Record {
        override func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
            try super.aroundSave(db, save: save)
        }
    }
    private final class DidSave: Record {
        override func didSave(_ saved: PersistenceSuccess) { super.didSave(saved) }
    }
    private final class WillInsert: Record {
        override func willInsert(_ db: Database) throws { try super.willInsert(db) }
    }
    private final class AroundInsert: Record {
        override func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
            try super.aroundInsert(db, insert: insert)
        }
    }
    private final class DidInsert: Record {
        override func didInsert(_ inserted: InsertionSuccess) { super.didInsert(inserted) }
    }
    private final class WillUpdate: Record {
        override func willUpdate(_ db: Database, columns: Set<String>) throws {
            try super.willUpdate(db, columns: columns)
        }
    }
    private final class AroundUpdate: Record {
        override func aroundUpdate(
            _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
        ) throws { try super.aroundUpdate(db, columns: columns, update: update) }
    }
    private final class DidUpdate: Record {
        override func didUpdate(_ updated: PersistenceSuccess) { super.didUpdate(updated) }
    }
    private final class WillDelete: Record {
        override func willDelete(_ db: Database) throws { try super.willDelete(db) }
    }
    private final class AroundDelete: Record {
        override func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
            try super.aroundDelete(db, delete: delete)
        }
    }
    private final class DidDelete: Record {
        override func didDelete(deleted: Bool) { super.didDelete(deleted: deleted) }
    }
}

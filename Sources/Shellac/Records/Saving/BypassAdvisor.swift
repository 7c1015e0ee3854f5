/// Tells the developer of SQL and bulk updates that bypass the callbacks of a class of records.
///
/// It works in debug builds: a connection remembers the classes that it has met, and looks at each statement that writes
/// once. Each SQL text is told of once in the life of the process.
enum BypassAdvisor {
    #if DEBUG
    private static let told = Lock<Set<String>>([])

    /// Looks at a statement that is about to run.
    static func look(at statement: Statement, _ types: [CaseInsensitiveName: [Record.Type]]) {
        for (table, types) in types {
            guard let kind = kind(of: statement.effects, on: table) else { continue }
            for type in types where type.warnsOfBypassedCallbacks {
                let callbacks = Overrides.callbacks(type, around: kind)
                guard !callbacks.isEmpty else { continue }
                let key = "\(ObjectIdentifier(type)) \(table.name) \(statement.sql)"
                guard told.withLock({ $0.insert(key).inserted }) else { continue }
                ErrorLog.warn(
                    "SQL \(kind.rawValue)s rows of \(table.name), and these callbacks of \(type) do not run: "
                        + "\(callbacks.joined(separator: ", ")). Save the records, or use a table-wide callback (after), which "
                        + "nothing bypasses. Where it is meant to be so, override class var warnsOfBypassedCallbacks. "
                        + "The SQL: \(statement.sql)")
            }
        }
    }

    /// What a statement does to the rows of a table: what it was written for, and not what triggers add.
    private static func kind(of effects: StatementEffects, on table: CaseInsensitiveName) -> Kind? {
        var found: Kind?
        for write in effects.writes {
            switch write {
            case .insert(let name): if CaseInsensitiveName(name) == table { return .insert }
            case .delete(let name): if CaseInsensitiveName(name) == table { found = .delete }
            case .update(let name, _):
                if found == nil, CaseInsensitiveName(name) == table { found = .update }
            }
        }
        return found
    }
    #endif

    enum Kind: String { case insert, update, delete }
}

extension Overrides {
    /// The names of the callbacks that a class overrides, and that a save of a kind calls.
    static func callbacks(_ type: Record.Type, around kind: BypassAdvisor.Kind) -> [String] {
        named.filter { $0.kinds.contains(kind) && overrides([$0.place], type) == true }.map(\.name)
    }

    /// The callbacks, each with its place among the words of a class's metadata. None where they were not found.
    private static let named: [(name: String, kinds: [BypassAdvisor.Kind], place: Int)] = {
        let all: [(String, [BypassAdvisor.Kind], Record.Type)] = [
            ("willSave", [.insert, .update], WillSave.self),
            ("aroundSave", [.insert, .update], AroundSave.self),
            ("didSave", [.insert, .update], DidSave.self), ("willInsert", [.insert], WillInsert.self),
            ("aroundInsert", [.insert], AroundInsert.self), ("didInsert", [.insert], DidInsert.self),
            ("willUpdate", [.update], WillUpdate.self), ("aroundUpdate", [.update], AroundUpdate.self),
            ("didUpdate", [.update], DidUpdate.self), ("willDelete", [.delete], WillDelete.self),
            ("aroundDelete", [.delete], AroundDelete.self), ("didDelete", [.delete], DidDelete.self),
        ]
        return all.compactMap { name, kinds, type in
            places(overriddenBy: type, count: 1).first.map { (name, kinds, $0) }
        }
    }()

    private final class WillSave: Record {
        override func willSave(_ db: Database) throws { try super.willSave(db) }
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

import Shellac

// The records of the suite on callbacks: see ``RecordCallbacksTests``.

/// The calls, in order.
final class Calls {
    var list: [String] = []
    /// The action of a callback, by its name.
    var actions: [String: () throws -> Void] = [:]

    func call(_ name: String) throws {
        list.append(name)
        try actions[name]?()
    }

    func note(_ name: String) { list.append(name) }

    func take() -> [String] {
        defer { list = [] }
        return list
    }
}

/// The base class of players of all styles, which has no column.
class RecordOfPlayer: Record {
    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "player" }
}

/// A class that overrides all callbacks, and never calls `super`.
class CalledPlayer: RecordOfPlayer {
    final var calls = Calls()

    override func willSave(_ db: Database) throws { try calls.call("willSave") }
    override func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        try calls.call("aroundSave {")
        let saved = try save()
        try calls.call("} aroundSave \(saved.insertion?.rowID ?? -1)")
    }
    override func didSave(_ saved: PersistenceSuccess) {
        calls.note("didSave \(saved.insertion?.rowID ?? -1)")
    }
    override func willInsert(_ db: Database) throws { try calls.call("willInsert") }
    override func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        try calls.call("aroundInsert {")
        let inserted = try insert()
        try calls.call("} aroundInsert \(inserted.rowID)")
    }
    override func didInsert(_ inserted: InsertionSuccess) {
        (self as? any HeroRecord)?.id = inserted.rowID
        calls.note("didInsert \(inserted.rowIDColumn ?? "")")
    }
    override func willUpdate(_ db: Database, columns: Set<String>) throws {
        try calls.call("willUpdate \(columns.sorted())")
    }
    override func aroundUpdate(
        _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
    ) throws {
        try calls.call("aroundUpdate {")
        _ = try update()
        try calls.call("} aroundUpdate")
    }
    override func didUpdate(_ updated: PersistenceSuccess) { calls.note("didUpdate") }
    override func willDelete(_ db: Database) throws { try calls.call("willDelete") }
    override func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        try calls.call("aroundDelete {")
        let isDeleted = try delete()
        try calls.call("} aroundDelete \(isDeleted)")
    }
    override func didDelete(deleted: Bool) { calls.note("didDelete \(deleted)") }
}

/// A class that overrides methods as well as callbacks.
class MethodicalPlayer: RecordOfPlayer {
    final var calls: [String] = []
    final var names: [String] = []

    override func insert(_ db: Database) throws {
        calls.append("insert {")
        try super.insert(db)
        calls.append("} \((self as? any HeroRecord)?.id ?? 0)")
    }
    override func update(_ db: Database) throws {
        calls.append("update {")
        try super.update(db)
        calls.append("}")
    }
    override func update(_ db: Database, columns: Set<String>) throws {
        calls.append("update columns {")
        try super.update(db, columns: names.isEmpty ? columns : Set(names))
        calls.append("}")
    }
    override func willSave(_ db: Database) throws {
        calls.append("willSave")
        (self as? any HeroRecord)?.name += "!"
    }
    override func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        calls.append("aroundSave {")
        _ = try save()
        calls.append("}")
    }
    override func willUpdate(_ db: Database, columns: Set<String>) throws {
        calls.append("willUpdate")
    }
    override func willInsert(_ db: Database) throws { calls.append("willInsert") }
    override func didInsert(_ inserted: InsertionSuccess) { calls.append("didInsert") }
    override func didUpdate(_ updated: PersistenceSuccess) { calls.append("didUpdate") }
    override func didSave(_ saved: PersistenceSuccess) { calls.append("didSave") }
    final func take() -> [String] {
        defer { calls = [] }
        return calls
    }
}

/// A class whose callback does not call the function that it is given.
class UncallingPlayer: RecordOfPlayer {
    override func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {}
}

extension HeroRecord where Self: CalledPlayer {
    init(_ calls: Calls, name: String) {
        self.init(name)
        self.calls = calls
    }
}

extension RecordStyle {
    var calledPlayer: any (CalledPlayer & HeroRecord).Type {
        choose(PairCalled.self, ListedCalled.self, CodedCalled.self)
    }
    var methodicalPlayer: any (MethodicalPlayer & HeroRecord).Type {
        choose(PairMethodical.self, ListedMethodical.self, CodedMethodical.self)
    }
    var uncallingPlayer: any (UncallingPlayer & HeroRecord).Type {
        choose(PairUncalling.self, ListedUncalling.self, CodedUncalling.self)
    }
}

/// It takes its row id in `didInsert`, and reads no row.
private final class PairCalled: CalledPlayer, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedCalled: CalledPlayer, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedCalled: CalledPlayer, HeroRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
}

private final class PairMethodical: MethodicalPlayer, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedMethodical: MethodicalPlayer, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedMethodical: MethodicalPlayer, HeroRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
}

private final class PairUncalling: UncallingPlayer, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedUncalling: UncallingPlayer, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedUncalling: UncallingPlayer, HeroRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
}

import Shellac

// Heroes that override callbacks: in a superclass, which the classes of all styles inherit from.

/// A hero that counts the callbacks.
class CountingHero: TabledHero {
    final var calls: [String] = []

    override func willSave(_ db: Database) throws { calls.append("willSave") }
    override func willUpdate(_ db: Database, columns: Set<String>) throws { calls.append("willUpdate") }
    override func didUpdate(_ updated: PersistenceSuccess) { calls.append("didUpdate") }
    override func didSave(_ saved: PersistenceSuccess) { calls.append("didSave") }
    override func update(_ db: Database, columns: Set<String>) throws {
        calls.append("update \(columns.sorted())")
        try super.update(db, columns: columns)
    }
}

/// A hero that overrides all callbacks, and calls no `super`.
class ForgetfulHero: TabledHero {
    override func willSave(_ db: Database) throws {}
    override func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws { _ = try save() }
    override func didSave(_ saved: PersistenceSuccess) {}
    override func willInsert(_ db: Database) throws {}
    override func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        _ = try insert()
    }
    override func didInsert(_ inserted: InsertionSuccess) {}
    override func willUpdate(_ db: Database, columns: Set<String>) throws {}
    override func aroundUpdate(
        _ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess
    ) throws {
        _ = try update()
    }
    override func didUpdate(_ updated: PersistenceSuccess) {}
    override func willDelete(_ db: Database) throws {}
    override func aroundDelete(_ db: Database, delete: () throws -> Bool) throws { _ = try delete() }
    override func didDelete(deleted: Bool) {}
}

/// A hero that asks in a callback what was saved.
class CuriousHero: TabledHero {
    final var heard: [[String: DatabaseValue?]] = []

    override func didSave(_ saved: PersistenceSuccess) { heard.append(savedDatabaseChanges) }
}

/// A hero that takes the longer way of an update, and does nothing on it.
class OverridingHero: TabledHero {
    override func willUpdate(_ db: Database, columns: Set<String>) throws {}
}

/// A hero that copies more than its columns.
class ArmedHero: TabledHero {
    final var weapon = "none"

    override func copy() throws -> sending Self {
        let copy = try super.copy()
        copy.weapon = weapon
        return copy
    }
}

extension RecordStyle {
    var countingHero: any (CountingHero & HeroRecord).Type {
        choose(PairCounting.self, ListedCounting.self, CodedCounting.self)
    }
    var forgetfulHero: any (ForgetfulHero & HeroRecord).Type {
        choose(PairForgetful.self, ListedForgetful.self, CodedForgetful.self)
    }
    var curiousHero: any (CuriousHero & HeroRecord).Type {
        choose(PairCurious.self, ListedCurious.self, CodedCurious.self)
    }
    var overridingHero: any (OverridingHero & HeroRecord).Type {
        choose(PairOverriding.self, ListedOverriding.self, CodedOverriding.self)
    }
    var armedHero: any (ArmedHero & HeroRecord).Type {
        choose(PairArmed.self, ListedArmed.self, CodedArmed.self)
    }
}

private final class PairCounting: CountingHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedCounting: CountingHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedCounting: CountingHero, HeroRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
}

private final class PairForgetful: ForgetfulHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedForgetful: ForgetfulHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedForgetful: ForgetfulHero, HeroRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
}

private final class PairCurious: CuriousHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedCurious: CuriousHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedCurious: CuriousHero, HeroRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
}

private final class PairOverriding: OverridingHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedOverriding: OverridingHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedOverriding: OverridingHero, HeroRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
}

private final class PairArmed: ArmedHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedArmed: ArmedHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedArmed: ArmedHero, HeroRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
}

import Shellac
import TestSupport

// Heroes that are saved while they stay with their owner: see ``RecordHeldTests``.

/// A hero that keeps whether it was encoded, and which callbacks were called on it.
class TravellingHero: TabledHero {
    final var isEncoded = false
    final var told: [String] = []

    override func didInsert(_ inserted: InsertionSuccess) { told.append("didInsert \(inserted.rowID)") }
    override func didUpdate(_ updated: PersistenceSuccess) { told.append("didUpdate") }
    override func didSave(_ saved: PersistenceSuccess) { told.append("didSave") }
    override func didDelete(deleted: Bool) { told.append("didDelete \(deleted)") }
}

extension TravellingHero {
    /// Does something to the record in an access, while its owner does something else.
    @MainActor
    final func whileOnItsWay(
        to queue: DatabaseQueue, _ operation: @escaping @MainActor () async throws -> Void,
        meanwhile: @MainActor () async throws -> Void
    ) async throws {
        let hold = try await Hold(queue)
        isEncoded = false
        let task = Task { @MainActor in try await operation() }
        while !isEncoded { await Task.yield() }
        try await meanwhile()
        try await hold.release()
        try await task.value
    }
}

/// One that overrides all callbacks, and says where all of its kind are called.
class CalledHero: TravellingHero {
    static let calls = Recorder<String>()

    override func willSave(_ db: Database) throws {
        Self.calls.record("willSave")
        guard let hero = self as? any HeroRecord else { return }
        hero.name = hero.name.uppercased()
        if hero.name.isEmpty { throw TestError(7) }
    }
    override func willInsert(_ db: Database) throws { Self.calls.record("willInsert") }
    override func willUpdate(_ db: Database, columns: Set<String>) throws { Self.calls.record("willUpdate") }
    override func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        Self.calls.record("aroundSave {")
        _ = try save()
        Self.calls.record("}")
    }
    override func didInsert(_ inserted: InsertionSuccess) { record("didInsert") }
    override func didUpdate(_ updated: PersistenceSuccess) { record("didUpdate") }
    override func didSave(_ saved: PersistenceSuccess) { record("didSave") }

    private func record(_ call: String) {
        Self.calls.record("\(call) \((self as? any HeroRecord)?.score ?? -1)")
    }
}

/// One that leaves out what is in the way.
class IgnoringHero: TabledHero {
    override class var persistenceConflictPolicy: PersistenceConflictPolicy {
        PersistenceConflictPolicy(insert: .ignore, update: .ignore)
    }
}

/// One that cannot be copied.
class UncopiedHero: TabledHero {
    override func copy() throws -> sending Self { throw TestError(3) }
}

/// One that never encodes the same score.
class RestlessHero: TabledHero {
    nonisolated(unsafe) private static var count = 0  // of one test, which runs on the main actor

    final var nextScore: Int {
        Self.count += 1
        return Self.count
    }
}

extension RecordStyle {
    var traveller: any (TravellingHero & HeroRecord).Type {
        choose(PairTraveller.self, ListedTraveller.self, CodedTraveller.self)
    }
    var calledTraveller: any (CalledHero & HeroRecord).Type {
        choose(PairCalled.self, ListedCalled.self, CodedCalled.self)
    }
    var ignoring: any (IgnoringHero & HeroRecord).Type {
        choose(PairIgnoring.self, ListedIgnoring.self, CodedIgnoring.self)
    }
    var uncopied: any (UncopiedHero & HeroRecord).Type {
        choose(PairUncopied.self, ListedUncopied.self, CodedUncopied.self)
    }
    var restless: any HeroRecord.Type {
        choose(PairRestless.self, ListedRestless.self, CodedRestless.self)
    }
}

private final class PairTraveller: TravellingHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws {
        isEncoded = true
        encodeColumns(in: &container)
    }
}

private final class ListedTraveller: TravellingHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        isEncoded = true
        try listColumns(column)
    }
}

private class IdentifiedTraveller: TravellingHero {
    final var id: Int64?

    override func columns(_ column: borrowing RecordColumns) throws {
        isEncoded = true
        try column("id", id) { id = $0 }
    }
}

private final class CodedTraveller: IdentifiedTraveller, HeroRecord, Codable {
    var name = ""
    var score = 0
}

private final class PairCalled: CalledHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws {
        isEncoded = true
        encodeColumns(in: &container)
    }
}

private final class ListedCalled: CalledHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        isEncoded = true
        try listColumns(column)
    }
}

private class IdentifiedCalled: CalledHero {
    final var id: Int64?

    override func columns(_ column: borrowing RecordColumns) throws {
        isEncoded = true
        try column("id", id) { id = $0 }
    }
}

private final class CodedCalled: IdentifiedCalled, HeroRecord, Codable {
    var name = ""
    var score = 0
}

private final class PairIgnoring: IgnoringHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedIgnoring: IgnoringHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedIgnoring: IgnoringHero, HeroRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
}

private final class PairUncopied: UncopiedHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedUncopied: UncopiedHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedUncopied: UncopiedHero, HeroRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
}

private final class PairRestless: RestlessHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws {
        encodeColumns(in: &container)
        container["score"] = nextScore
    }
}

private final class ListedRestless: RestlessHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", nextScore) { score = $0 }
    }
}

private class ScoredRestless: RestlessHero {
    final var score = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("score", nextScore) { score = $0 }
    }
}

private final class CodedRestless: ScoredRestless, HeroRecord, Codable {
    var id: Int64?
    var name = ""
}

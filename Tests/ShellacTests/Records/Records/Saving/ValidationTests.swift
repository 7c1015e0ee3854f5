import Foundation
import TestSupport
import Testing

@testable import Shellac

/// The validation of a record before it is saved.
@Suite("Validation", .behaviour(73))
struct ValidationTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.create(table: "member") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().unique()
                t.column("age", .integer).notNull().defaults(to: 0)
            }
        }
    }

    private func rows() throws -> [String] {
        try queue.read {
            try String.fetchAll($0, sql: "SELECT id || ' ' || name || ' ' || age FROM member ORDER BY id")
        }
    }

    /// Each way to save a member.
    enum Way: String, CaseIterable {
        case insert, insertIgnoring, save, saveNew, update, updateOne, updateChanges, updateIfUnchanged,
            retrying, modify, upsert,
            insertAll, insertAndFetch

        func run(_ member: Volunteer, _ db: Database) throws {
            switch self {
            case .insert: try member.insert(db)
            case .insertIgnoring: try member.insert(db, onConflict: .ignore)
            case .save, .saveNew: try member.save(db)
            case .update: try member.update(db)
            case .updateOne: try member.update(db, columns: ["age"])
            case .updateChanges: try member.updateChanges(db)
            case .updateIfUnchanged: try member.update(db, checking: .all)
            case .retrying: try member.updateChanges(db, retrying: 2)
            case .modify: try member.updateChanges(db, retrying: 2) { $0.age = -1 }
            case .upsert: try member.upsert(db)
            case .insertAll: try Volunteer.insertAll(db, [member])
            case .insertAndFetch: _ = try member.insertAndFetch(db)
            }
        }

        var isInsertion: Bool {
            [.insert, .insertIgnoring, .saveNew, .upsert, .insertAll, .insertAndFetch].contains(self)
        }
    }

    @Test(
        "A record that does not hold is saved in no way, and nothing has changed", arguments: Way.allCases,
        [true, false])
    func refused(way: Way, overridesMethods: Bool) throws {
        let member = overridesMethods ? OverridingVolunteer() : Volunteer()
        if !way.isInsertion { try queue.write { try member.insert($0) } }
        if way != .modify { member.age = -1 }
        member.calls.removeAll()
        let (before, changes) = (try rows(), try member.databaseChanges)
        #expect(throws: TestError(1)) {
            try queue.inDatabase { db in try way.run(member, db) }
        }
        #expect(try rows() == before)
        if way != .modify { #expect(try member.databaseChanges == changes) }
        #expect(member.age == -1 && (member.id == nil) == way.isInsertion)
        // It comes last of what is called before, and nothing comes after it.
        #expect(member.calls.elements.last == "validate")
        // (Where the methods are overridden, they are called inside of `aroundSave`.)
        let isAround = way == .save && overridesMethods
        #expect(
            !member.calls.elements.contains { $0.hasPrefix("did") || $0.hasPrefix("around") && !isAround })
        // A valid record is saved.
        member.age = 1
        if way != .modify {
            try queue.inDatabase { db in try way.run(member, db) }
            #expect(try rows() == ["1 A 1"])
        }
    }

    @Test(
        "It is called after the callbacks that may change the record, and before those around the statement")
    func order() throws {
        let member = Volunteer()
        try queue.write { db in
            try member.insert(db)
            #expect(
                member.calls.removeAll() == [
                    "willSave", "willInsert", "validate", "aroundSave", "aroundInsert", "didInsert",
                    "didSave",
                ])
            member.age = 5
            try member.save(db)
            #expect(
                member.calls.removeAll() == [
                    "willSave", "willUpdate", "validate", "aroundSave", "aroundUpdate", "didUpdate",
                    "didSave",
                ])
            // Without a change, nothing is called.
            try member.updateChanges(db)
            #expect(member.calls.removeAll() == [])
            // If there is no row, it is inserted.
            try db.execute(sql: "DELETE FROM member")
            try member.save(db)
            #expect(
                member.calls.removeAll() == [
                    "willSave", "willUpdate", "validate", "aroundSave", "aroundUpdate", "willInsert",
                    "validate", "aroundInsert",
                    "didInsert", "didSave",
                ])
            try member.delete(db)
            #expect(member.calls.removeAll() == [])
        }
    }

    @Test("What it says is known by what the callbacks have made of the record")
    func repaired() throws {
        let member = RepairingVolunteer()
        member.age = -7
        try queue.write { try member.insert($0) }
        #expect(member.age == 7)
        #expect(try rows() == ["1 A 7"])
    }

    @Test("A class that overrides nothing else is validated, alone and among many")
    func alone() throws {
        let (good, bad) = (PlainVolunteer("A", 1), PlainVolunteer("B", -1))
        #expect(throws: TestError(1)) { try queue.write { try bad.insert($0) } }
        #expect(throws: TestError(1)) { try queue.write { try PlainVolunteer.insertAll($0, [good, bad]) } }
        #expect(try rows() == [])
        #expect(good.id == nil && bad.id == nil && good.hasDatabaseChanges)
        try queue.write { try good.insert($0) }
        good.age = -1
        #expect(throws: TestError(1)) { try queue.write { try good.updateChanges($0) } }
        #expect(throws: TestError(1)) { try queue.write { try good.save($0) } }
        #expect(try rows() == ["1 A 1"])
    }

    @Test("A struct is validated, too")
    func structs() throws {
        var member = VolunteerStruct(name: "A", age: -1)
        #expect(throws: TestError(1)) { try queue.write { try member.insert($0) } }
        member.age = 1
        try queue.write { try member.insert($0) }
        member.age = -1
        let invalid = member
        #expect(throws: TestError(1)) { try queue.write { try invalid.update($0) } }
        #expect(throws: TestError(1)) { try queue.write { try member.save($0) } }
        #expect(throws: TestError(1)) { try queue.write { try member.upsert($0) } }
        #expect(throws: TestError(1)) {
            try queue.write {
                var all = [invalid]
                try VolunteerStruct.insertAll($0, &all)
            }
        }
        #expect(try rows() == ["1 A 1"])
    }

    @MainActor
    @Test("A record that stays with its owner is validated")
    func held() async throws {
        let member = PlainVolunteer("A", -1)
        await #expect(throws: TestError(1)) { try await member.save(in: queue) }
        await #expect(throws: TestError(1)) { try await queue.insert([PlainVolunteer("B", 1), member]) }
        #expect(member.id == nil)
        member.age = 1
        try await member.save(in: queue)
        member.age = -1
        await #expect(throws: TestError(1)) { try await member.updateChanges(in: queue) }
        #expect(try await queue.read { try Int.fetchAll($0, sql: "SELECT age FROM member") } == [1])
    }

    @Test("It may read the database, and one that writes stops the save with a sentence")
    func looking() throws {
        let (first, second) = (LookingVolunteer("A", 1), LookingVolunteer("A", 2))
        try queue.write { try first.insert($0) }
        #expect(throws: TestError(2)) { try queue.write { try second.insert($0) } }
        let writing = WritingVolunteer("C", 1)
        let error = #expect(throws: DatabaseError.self) { try queue.write { try writing.insert($0) } }
        #expect(error?.resultCode == .SQLITE_READONLY)
        #expect(error?.sql == "INSERT INTO member (name) VALUES ('B')")
        #expect(
            error?.message
                == "attempt to write in a read-only access (validate(_:) of a WritingVolunteer cannot write: write in willSave(_:), "
                + "or after the save)")
        // Nor does it write if it hides the error.
        writing.hidesError = true
        try queue.write { try writing.insert($0) }
        #expect(try rows() == ["1 A 1", "2 C 1"])
        try queue.write { _ = try writing.delete($0) }
        #expect(try rows() == ["1 A 1"])
    }

    @Test("Bulk updates and raw SQL do not call it")
    func bypassed() throws {
        try queue.write { db in
            try PlainVolunteer("A", 1).insert(db)
            try PlainVolunteer.updateAll(db, Column("age").set(to: -1))
            let member = try PlainVolunteer.find(db, key: 1)
            #expect(member.age == -1)
        }
    }
}

/// A member that holds while the age is not negative.
class PlainVolunteer: Record {
    var id: Int64?
    var name = "A"
    var age = 0

    override class var databaseTableName: String { "member" }
    override class var warnsOfBypassedCallbacks: Bool { false }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("age", age) { age = $0 }
    }
    override func validate(_ db: Database) throws { if age < 0 { throw TestError(1) } }

    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }
    convenience init(_ name: String, _ age: Int) {
        self.init()
        (self.name, self.age) = (name, age)
    }
}

/// One that notes what is called.
class Volunteer: PlainVolunteer {
    let calls = Recorder<String>()

    override func validate(_ db: Database) throws {
        calls.record("validate")
        try super.validate(db)
    }
    override func willSave(_ db: Database) throws { calls.record("willSave") }
    override func willInsert(_ db: Database) throws { calls.record("willInsert") }
    override func willUpdate(_ db: Database, columns: Set<String>) throws { calls.record("willUpdate") }
    override func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        calls.record("aroundSave")
        _ = try save()
    }
    override func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        calls.record("aroundInsert")
        _ = try insert()
    }
    override func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess)
        throws
    {
        calls.record("aroundUpdate")
        _ = try update()
    }
    override func didSave(_ saved: PersistenceSuccess) { calls.record("didSave") }
    override func didInsert(_ inserted: InsertionSuccess) { calls.record("didInsert") }
    override func didUpdate(_ updated: PersistenceSuccess) { calls.record("didUpdate") }
}

private final class OverridingVolunteer: Volunteer {
    override func insert(_ db: Database) throws { try super.insert(db) }
    override func update(_ db: Database, columns: Set<String>) throws {
        try super.update(db, columns: columns)
    }
}

private final class RepairingVolunteer: PlainVolunteer {
    override func willSave(_ db: Database) throws { age = abs(age) }
}

private final class LookingVolunteer: PlainVolunteer {
    override func validate(_ db: Database) throws {
        if try !LookingVolunteer.filter(Column("name") == name && Column("id") != id).isEmpty(db) {
            throw TestError(2)
        }
    }
}

private final class WritingVolunteer: PlainVolunteer {
    var hidesError = false

    override func validate(_ db: Database) throws {
        do {
            try db.execute(sql: "INSERT INTO member (name) VALUES ('B')")
        } catch {
            if !hidesError { throw error }
        }
    }
}

private struct VolunteerStruct: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "member"
    var id: Int64?
    var name: String
    var age: Int

    func validate(_ db: Database) throws { if age < 0 { throw TestError(1) } }
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

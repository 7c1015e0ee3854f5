import CSQLite
import Foundation
import Shellac
import TestSupport
import Testing

/// Limits the number of values that a statement takes.
func limitVariables(of db: Database, to count: Int32) {
    sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_VARIABLE_NUMBER, count)
}

@Suite("Inserting many records, all or none")
struct InsertAllFailureTests {
    private let spy = SQLSpy()

    // MARK: - All or nothing

    @Test(
        "leaves nothing when one fails: no row, no id, nothing remembered", arguments: [3, 150],
        RecordStyle.allCases)
    func failure(_ count: Int, style: RecordStyle) throws { try failure(style.mate, count) }

    private func failure<Mate: MateRecord>(_: Mate.Type, _ count: Int) throws {
        let queue = try Crew.database(spy)
        try queue.inDatabase { db in
            for _ in 0..<2 {  // the second time, it is known that the struct has no callback
                var sailors = Crew.sailors(1...count)
                sailors[count - 1].name = "2"
                let error = databaseError { try Crew.Sailor.insertAll(db, &sailors) }
                #expect(error?.message == "UNIQUE constraint failed: sailor.name")
                #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
                #expect(error?.sql?.hasPrefix(#"INSERT INTO "sailor" ("id", "name", "rank") VALUES"#) == true)
                #expect(sailors.allSatisfy { $0.id == nil })
                #expect(try Crew.rows(db) == [])
                #expect(try db.isUsable())
            }
            let mates = Mate.crew(1...count)
            mates[0].hasDatabaseChanges = false
            mates[count - 1].name = "2"
            let error = databaseError { try Mate.insertAll(db, mates) }
            #expect(error?.message == "UNIQUE constraint failed: sailor.name")
            #expect(mates.allSatisfy { $0.id == nil })
            #expect(mates.map(\.hasDatabaseChanges) == [false] + Array(repeating: true, count: count - 1))
            #expect(try Crew.rows(db) == [])
            #expect(try db.isUsable())
            mates[count - 1].name = "last"
            try Mate.insertAll(db, mates)
            #expect(mates.map(\.id) == Array(1...Int64(count)))
        }
    }

    @Test(
        "and fetching them throws where a conflict was resolved by ignoring one: none is inserted",
        arguments: RecordStyle.allCases)
    func fetchingIgnored(style: RecordStyle) throws { try fetchingIgnored(style.mate) }

    private func fetchingIgnored<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database(spy).inDatabase { db in
            try db.execute(sql: "INSERT INTO sailor VALUES (7, 'a', 2)")
            let missing = RecordError.recordNotFound(databaseTableName: "sailor", key: ["id": .null])
            let sailors = [Crew.Sailor(name: "b"), Crew.Sailor(name: "a")]
            #expect(throws: missing) { try Crew.Sailor.insertAndFetchAll(db, sailors, onConflict: .ignore) }
            #expect(throws: missing) {
                try Mate.insertAndFetchAll(db, [Mate("b"), Mate("a")], onConflict: .ignore)
            }
            try #expect(Crew.rows(db) == ["7 a"])
        }
    }

    @Test(
        "records give back what they remember, and their ids, when the transaction rolls back",
        .behaviour(15), arguments: RecordStyle.allCases)
    func rollback(style: RecordStyle) throws { try rollback(style.mate) }

    private func rollback<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database(spy).inDatabase { db in
            let mates = Mate.crew(1...100)
            try db.inTransaction {
                try Mate.insertAll(db, mates)
                #expect(mates[99].id == 100 && !mates[99].hasDatabaseChanges)
                return .rollback
            }
            #expect(mates.allSatisfy { $0.id == nil && $0.hasDatabaseChanges })
            try db.inTransaction {
                try mates[0].insert(db)
                mates[0].id = nil
                mates[0].name = "again"
                try db.inSavepoint {
                    try Mate.insertAll(db, mates)
                    return .rollback
                }
                #expect(mates[1].id == nil && mates[0].hasDatabaseChanges)
                return .commit
            }
            #expect(try Crew.rows(db) == ["1 1"])
        }
    }

    @Test(
        "tells the values of all rows where the configuration asks for them", arguments: RecordStyle.allCases)
    func arguments(style: RecordStyle) throws { try arguments(style.mate) }

    private func arguments<Mate: MateRecord>(_: Mate.Type) throws {
        var configuration = Configuration()
        configuration.publicStatementArguments = true
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.execute(sql: Crew.table)
            let error = databaseError { try Mate.insertAll(db, [Mate("x"), Mate("x")]) }
            #expect("\(error as Any)".contains("[NULL, 'x', 0, NULL, 'x', 0]"))
        }
    }

    @Test("refuses the same object twice", arguments: RecordStyle.allCases)
    func sameObject(style: RecordStyle) throws { try sameObject(style.mate) }

    private func sameObject<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database(spy, "CREATE TABLE sailor (id INTEGER PRIMARY KEY, name TEXT, rank INTEGER)").write
        { db in
            for others in [0, 100] {
                let mate = Mate("a")
                let mates = [mate] + Mate.crew(0..<others) + [mate]
                let error = databaseError { try Mate.insertAll(db, mates) }
                // Among the records of another statement, it has its id already.
                let message =
                    others == 0 ? "the same \(Mate.self) occurs twice" : "UNIQUE constraint failed: sailor.id"
                #expect(error?.message?.hasPrefix(message) == true)
                #expect(mate.id == nil && mate.hasDatabaseChanges)
                let rows = try Crew.rows(db)
                #expect(rows == [])
            }
        }
    }

    @Test("is undone when a record does not take its row", arguments: RecordStyle.allCases)
    func rowNotTaken(style: RecordStyle) throws {
        try rowNotTaken(
            style.stubbornMate, style.choose("updateFromRow", "columns(_:)", "setting it"))
    }

    private func rowNotTaken<Stubborn: StubbornMate & MateRecord>(
        _: Stubborn.Type, _ setter: String
    ) throws {
        try Crew.database(spy).write { db in
            let mates = (1...3).map { Stubborn("\($0)") }
            let error = thrownError { try Stubborn.insertAll(db, mates) } as? RecordError
            #expect(
                error == .rowNotTaken(recordType: "\(Stubborn.self)", reason: "\(setter) threw \(Boom())"))
            let rows = try Crew.rows(db)
            #expect(rows == [])
            #expect(mates[0].id == nil && mates[0].hasDatabaseChanges && mates[2].hasDatabaseChanges)
        }
    }

    @Test("throws what encoding throws, before anything is inserted")
    func encoding() throws {
        struct Sick: PersistableRecord {
            static let databaseTableName = "sailor"
            var name: String
            func encode(to container: inout PersistenceContainer) throws {
                if name == "2" { throw Boom(2) }
                container["name"] = name
            }
        }
        try Crew.database(spy).inDatabase { db in
            try Sick.insertAll(db, [Sick(name: "a"), Sick(name: "b")])
            spy.removeAll()
            #expect(throws: Boom(2)) { try Sick.insertAll(db, [Sick(name: "1"), Sick(name: "2")]) }
            #expect(spy.insertions == [])
            #expect(try db.isUsable())
        }
    }
}

/// A mate that does not take its row.
private class StubbornMate: Crew.AnyMate {
    final func check(_ id: Int64?, _ name: String) throws {
        if name == "2", id != nil { throw Boom() }
    }
}

private final class PairStubborn: StubbornMate, MateRecord {
    var id: Int64?
    var name = ""
    var rank = 0

    override func updateFromRow(_ row: Row) throws {
        try readColumns(of: row)
        try check(id, name)
    }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedStubborn: StubbornMate, MateRecord {
    var id: Int64?
    var name = ""
    var rank = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) {
            id = $0
            try check(id, name)
        }
        try column("name", name) { name = $0 }
        try column("rank", rank) { rank = $0 }
    }
}

private class NamedStubborn: StubbornMate {
    final var id: Int64?
    final var name = ""

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) {
            id = $0
            try check(id, name)
        }
        try column("name", name) { name = $0 }
    }
}

private final class CodedStubborn: NamedStubborn, MateRecord, Codable {
    var rank = 0
}

extension RecordStyle {
    fileprivate var stubbornMate: any (StubbornMate & MateRecord).Type {
        choose(PairStubborn.self, ListedStubborn.self, CodedStubborn.self)
    }
}

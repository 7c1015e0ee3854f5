import Observation
import Shellac
import TestSupport
import Testing

/// A record with a name, whose class has no table of its own.
private class Named: Record {
    var id: Int64?
    var name: String?

    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("name") { name = try row["name"] }
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["name"] = name
    }
}

private class Player: Named {}
private class Knight: Player {}
private final class Lancelot: Knight {}
private final class HTTPServer: Named {}
private final class URL: Named {}
private final class Box<Content>: Named {}
private final class Ranked: Member {}
private class Member: Named {
    override class var databaseTableName: String { "player" }
}
/// A class that says that it has no table.
private final class Nameless: Named {
    override class var databaseTableName: String { "" }
}

@Observable private class Watched: Record {
    var id: Int64?
    var name = ""

    override func updateFromRow(_ row: Row) throws {
        id = try row["id"]
        name = try row["name"]
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["name"] = name
    }
}

private enum Outer {
    final class Inner: Named {}
    struct Value: TableRecord {}
    enum Crate<T> { final class Content: Named { var value: T? } }
}

@Suite("Names of the tables of classes")
struct TableNamesTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.inDatabase {
            try $0.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
        }
    }

    @Test(
        "A class has the name of its type with a lower-case first letter as its table's name, as a struct has",
        .behaviour(95)
    )
    func names() {
        class Local: Named {}
        struct LocalValue: TableRecord {}
        let names: [(String, String)] = [
            (Player.databaseTableName, "player"), (Knight.databaseTableName, "knight"),
            (HTTPServer.databaseTableName, "httpServer"), (URL.databaseTableName, "url"),
            (Box<Int>.databaseTableName, "box"), (Box<[String: Knight]>.databaseTableName, "box"),
            (Outer.Inner.databaseTableName, "inner"), (Outer.Value.databaseTableName, "value"),
            (Local.databaseTableName, "local"), (LocalValue.databaseTableName, "localValue"),
            (Outer.Crate<Int>.Content.databaseTableName, "content"), (Watched.databaseTableName, "watched"),
            (Record.databaseTableName, "record"),
        ]
        for (name, expected) in names { #expect(name == expected) }
        for type: Record.Type in [Player.self, Knight.self, Local.self] {
            #expect(type.databaseTableName == "\(type)".lowercased())
        }
        #expect((Knight() as Record).name(of: { $0.databaseTableName }) == "knight")
    }

    @Test("An override is inherited", .behaviour(95))
    func inherited() {
        #expect(Member.databaseTableName == "player" && Ranked.databaseTableName == "player")
    }

    @Test("A class without an override is saved, fetched and found in the table of its name", .behaviour(95))
    func roundTrip() throws {
        class Local: Named {}
        try queue.write { db in
            for name in ["knight", "box", "local", "watched"] {
                try db.execute(sql: "CREATE TABLE \(name) (id INTEGER PRIMARY KEY, name TEXT)")
            }
            for record in [Player(), Knight(), Box<Int>(), Local()] {
                record.name = "Arthur"
                try record.save(db)
                #expect(record.id == 1 && !record.hasDatabaseChanges)
                record.name = "Bors"
                #expect(try record.updateChanges(db))
                let table = type(of: record).databaseTableName
                #expect(try String.fetchAll(db, sql: "SELECT name FROM \(table)") == ["Bors"])
                #expect(try type(of: record).fetchCount(db) == 1)
                #expect(try record.delete(db))
            }
            #expect(try Knight.fetchAll(db).count == 0)
            let watched = Watched()
            watched.name = "Arthur"
            try watched.insert(db)
            #expect(try Watched.find(db, id: 1).name == "Arthur")
        }
    }

    private let advice = "run the migration that creates it, or override databaseTableName"

    @Test(
        "Where there is no such table, the error names the class, and the superclass whose table there is",
        .behaviour(95)
    )
    func missing() throws {
        let shared =
            "no such table: knight, where Knight is stored: \(advice) if Knight is stored in player, as its superclass Player is"
        try expectErrors(of: Knight.self, "knight", shared)
        let far =
            "no such table: lancelot, where Lancelot is stored: \(advice) if Lancelot is stored in player, as its superclass Player is"
        try expectErrors(of: Lancelot.self, "lancelot", far)
        try queue.inDatabase { try $0.execute(sql: "DROP TABLE player") }
        try expectErrors(
            of: Player.self, "player", "no such table: player, where Player is stored: \(advice)")
        try expectErrors(
            of: Knight.self, "knight", "no such table: knight, where Knight is stored: \(advice)")
        try expectErrors(of: Box<Int>.self, "box", "no such table: box, where Box<Int> is stored: \(advice)")
        class Local: Named {}
        try expectErrors(of: Local.self, "local", "no such table: local, where Local is stored: \(advice)")
        // The error does not advise this to a class that shares the table of its superclass.
        try expectErrors(
            of: Ranked.self, "player", "no such table: player, where Ranked is stored: \(advice)")
    }

    @Test("What needs the table throws where a class says that it has none", .behaviour(24))
    func nameless() throws {
        try expectErrors(
            of: Nameless.self, "", "Nameless has no table: override databaseTableName")
        try queue.read { db in _ = #expect(throws: SchemaDriftError.self) { try Nameless().checkSchema(db) } }
    }

    private func expectErrors<T: Named>(of type: T.Type, _ table: String, _ sentence: String) throws {
        try queue.inDatabase { db in
            let record = T()
            (record.id, record.name) = (1, "Arthur")
            let attempts: [(() throws -> Void, String)] = [
                ({ try record.insert(db) }, "SELECT *"), ({ try record.update(db) }, "SELECT *"),
                ({ try record.save(db) }, "SELECT *"), ({ try record.updateChanges(db) }, "SELECT *"),
                ({ try record.upsert(db) }, "SELECT *"), ({ try record.delete(db) }, "SELECT *"),
                ({ try record.reload(db) }, "SELECT *"), ({ _ = try record.exists(db) }, "SELECT *"),
                ({ try T.insertAll(db, [record]) }, "SELECT *"), ({ _ = try T.find(db, id: 1) }, "SELECT *"),
                ({ _ = try T.fetchAll(db) }, "SELECT *"), ({ _ = try T.all().fetchAll(db) }, "SELECT *"),
                ({ _ = try T.all().deleteAll(db) }, "SELECT *"), ({ _ = try T.deleteAll(db) }, "SELECT *"),
                ({ _ = try T.all().fetchCount(db) }, "SELECT COUNT(*)"),
                ({ _ = try T.filter(key: 1).fetchOne(db) }, "SELECT *"),
            ]
            for (place, (attempt, sql)) in attempts.enumerated() {
                let error = databaseError { try attempt() }
                #expect(error?.message == sentence, "attempt \(place)")
                #expect(error?.sql == #"\#(sql) FROM "\#(table)""#, "attempt \(place)")
            }
            #expect(record.id == 1 && record.name == "Arthur" && record.hasDatabaseChanges)
        }
    }

    @Test(
        "A class whose table does not exist is fetched by SQL, copied, and asked for its flag",
        .behaviour(24),
        arguments: [true, false])
    func withoutTable(isNameless: Bool) throws {
        let type: Named.Type = isNameless ? Nameless.self : Knight.self
        try queue.write { db in
            let record = try #require(try type.fetchOne(db, sql: "SELECT 1 AS id, 'Arthur' AS name"))
            #expect(!record.hasDatabaseChanges)
            record.name = "Bors"
            #expect(try record.databaseChanges == ["name": "Arthur"])
            let copy = try record.copy()
            #expect(copy.name == "Bors" && copy.hasDatabaseChanges)
            record.hasDatabaseChanges = false
            #expect(!record.hasDatabaseChanges)
            // A statement that fails has the connection ask whether records that were changed
            // inside of it are true.
            try db.execute(sql: "INSERT INTO player VALUES (1, 'Arthur')")
            record.name = "Caradoc"
            let function = DatabaseFunction("flag", argumentCount: 0) { [record = Held(record)] _ in
                record.record.hasDatabaseChanges = false
                throw TestError(1)
            }
            try db.add(function: function)
            #expect(throws: TestError(1)) { try db.execute(sql: "UPDATE player SET name = flag()") }
            #expect(!record.hasDatabaseChanges)
        }
    }

    @Test(
        "The affinities of a table that has the name of a class by accident count, and those of no other do",
        .behaviour(95)
    )
    func accident() throws {
        class Counter: Record {
            var count = 0
            override func updateFromRow(_ row: Row) throws { count = try row["count"] == "5" ? 5 : 0 }
            override func encode(to container: inout PersistenceContainer) throws {
                container["count"] = count
            }
        }
        final class Tally: Counter {}
        final class Score: Counter {}
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE tally (id INTEGER PRIMARY KEY, count TEXT)")
            let select = "SELECT '5' AS count"
            #expect(try Tally.fetchOne(db, sql: select)?.hasDatabaseChanges == false)
            #expect(try Score.fetchOne(db, sql: select)?.hasDatabaseChanges == true)
        }
    }
}

/// Used by one thread.
private struct Held: @unchecked Sendable {
    let record: Record
    init(_ record: Record) { self.record = record }
}

extension Record {
    fileprivate func name(of table: (Record.Type) -> String) -> String { table(type(of: self)) }
}

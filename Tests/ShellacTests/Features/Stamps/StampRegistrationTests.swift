import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("The registration of stamps")
struct StampRegistrationTests {
    /// The base class of types that declare different stamps for one table.
    private class Base: Record { override class var databaseTableName: String { "a" } }
    private final class Created: Base {
        override class var databaseStamps: DatabaseStamps { DatabaseStamps(created: "created") }
    }
    private final class Updated: Base {
        override class var databaseStamps: DatabaseStamps {
            DatabaseStamps(updated: "updated").stamping("changed", onUpdateOf: "n")
        }
    }
    private final class OtherUpdated: Base {
        override class var databaseStamps: DatabaseStamps { DatabaseStamps(updated: "CHANGED") }
    }
    private final class OtherCreated: Base {
        override class var databaseStamps: DatabaseStamps { DatabaseStamps(created: "changed") }
    }
    private final class OtherGroup: Base {
        override class var databaseStamps: DatabaseStamps {
            DatabaseStamps().stamping("changed", onUpdateOf: "id")
        }
    }
    private final class Crossed: Base {
        override class var databaseStamps: DatabaseStamps { DatabaseStamps(created: "updated") }
    }
    private class AbstractRecord: Record {
        override class var databaseStamps: DatabaseStamps { DatabaseStamps(updated: "updated") }
    }
    private final class Nowhere: AbstractRecord {
        override class var databaseTableName: String { "nowhere" }
    }

    private let queue: DatabaseQueue
    init() throws {
        queue = try DatabaseQueue(configuration: StampClock().configuration())
        try queue.inDatabase {
            try $0.execute(sql: "CREATE TABLE a (id INTEGER PRIMARY KEY, n, created, updated, changed)")
        }
    }

    private func stamps() throws -> [String] {
        try queue.inDatabase { db in
            try db.execute(
                sql: "DELETE FROM a; INSERT INTO a (n) VALUES (1); UPDATE a SET n = 2, created = created")
            return try #require(try Row.fetchOne(db, sql: "SELECT created, updated, changed FROM a"))
                .databaseValues.map(short)
        }
    }

    @Test("Types that have one table each declare some of its stamps")
    func merged() throws {
        try queue.register(Created.self, Updated.self)
        #expect(try stamps() == ["0", "0", "0"])
        try queue.register(Updated.self, Created.self)
        #expect(try stamps() == ["0", "0", "0"])
        // The stamps that are given for the table itself replace all others.
        try queue.register(DatabaseStamps(updated: "updated"), on: "A")
        #expect(try stamps() == ["-", "0", "-"])
        try queue.register(DatabaseStamps(), on: "a")
        #expect(try stamps() == ["-", "-", "-"])
    }

    @Test("Types that contradict each other are refused by a sentence, and what was registered stays")
    func contradictions() throws {
        try queue.register(Created.self)
        for (first, type, other, reason) in [
            (
                Updated.self, OtherUpdated.self, Updated.self,
                "an update stamps CHANGED for OtherUpdated, and updated for Updated"
            ),
            (
                Created.self, OtherCreated.self, Created.self,
                "an insertion stamps changed for OtherCreated, and created for Created"
            ),
            (
                Updated.self, OtherGroup.self, Updated.self,
                "updates of different columns stamp changed for OtherGroup and Updated"
            ),
            (
                Updated.self, Crossed.self, Created.self,
                "an insertion stamps updated for Crossed, and created for Created"
            ),
        ] as [(Base.Type, Base.Type, Base.Type, String)] {
            let error = databaseError { try queue.register(first, type) }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(
                error?.message
                    == "the stamps of \(type) for the table a contradict those of \(other): \(reason). "
                    + "Declare the same stamps in both places"
            )
            #expect(try stamps() == ["0", "-", "-"])
        }
        try queue.register(DatabaseStamps(updated: "updated"), on: "a")
        let error = databaseError { try queue.register(Crossed.self) }
        #expect(error?.message?.contains("only insertions stamp updated for Crossed, but updates") == true)
        #expect(error?.message?.contains("those of the table itself: ") == true)
    }

    @Test("A class without a table is named, and so is what to do")
    func abstractClass() throws {
        for (type, reason) in [
            (AbstractRecord.self, "no such table: main.abstractRecord"),
            (Nowhere.self, "no such table: main.nowhere"),
        ] {
            let message = databaseError { try queue.register(type) }?.message ?? ""
            #expect(message.hasPrefix("\(type) cannot be registered: \(reason). "), "\(message)")
            #expect(message.contains("If a base class has no table, register its subclasses"))
        }
    }

    @Test(
        "Columns of STRICT tables that hold no text are refused",
        arguments: ["INTEGER", "int", "REAL", "BLOB", "TEXT", "ANY"])
    func strict(type: String) throws {
        try queue.inDatabase {
            try $0.execute(sql: "CREATE TABLE s (id INTEGER PRIMARY KEY, n ANY, c \(type), u \(type)) STRICT")
        }
        for stamps in [
            DatabaseStamps(created: "c"), DatabaseStamps(updated: "u"),
            DatabaseStamps().stamping("c", onUpdateOf: "n"),
        ] {
            let error = databaseError { try queue.register(stamps, on: "s") }
            if ["TEXT", "ANY"].contains(type) {
                #expect(error == nil)
            } else {
                #expect(
                    error?.message?.contains(
                        "cannot store the text of a stamp. In a STRICT table, declare the column as TEXT")
                        == true
                )
            }
            try queue.inDatabase { try $0.execute(sql: "INSERT INTO s (n) VALUES (1); UPDATE s SET n = 2") }
        }
    }

    // MARK: - A schema that satisfies everybody

    @Test(
        "Columns made by timestamps() are stamped, whoever inserts, and nobody complains",
        arguments: [TableOptions(), .strict, .withoutRowID])
    func timestamps(options: TableOptions) async throws {
        try queue.inDatabase { db in
            try db.create(table: "memo", options: options) { t in
                t.primaryKey("id", .integer)
                t.column("title", .text)
                t.column("score", .integer).notNull().defaults(to: 0)
                t.timestamps()
                t.timestamps(created: nil, updated: "titleChangedAt")
            }
            #expect(
                try db.columns(in: "memo").filter { $0.defaultValueSQL == "CURRENT_TIMESTAMP" }.map(\.name)
                    == ["createdAt", "updatedAt", "titleChangedAt"])
            try db.register(DatabaseStamps(created: "createdAt", updated: "updatedAt"), on: "memo")
            try db.execute(sql: "INSERT INTO memo (id, title) VALUES (1, 'a')")
            #expect(try db.memoStamps().hasPrefix("0 0 20"))
            try db.execute(
                sql:
                    "INSERT INTO memo (id, title, createdAt) VALUES (2, 'b', 'explicit'), (3, 'c', CURRENT_TIMESTAMP)"
            )
            #expect(try db.memoStamps(2).hasPrefix("explicit 0 20"))
            #expect(try db.memoStamps(3).hasPrefix("0 0 20"))
            try db.withoutStamps { try db.execute(sql: "INSERT INTO memo (id, title) VALUES (4, 'd')") }
            #expect(try db.memoStamps(4).hasPrefix("20"))
            try db.execute(
                sql: "UPDATE memo SET createdAt = 'x', updatedAt = 'x'; UPDATE memo SET title = 'e'")
            #expect(try db.memoStamps().hasPrefix("x 0 20"))
        }
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            let queue = try DatabaseQueue()
            try queue.inDatabase { db in
                try db.create(table: "memo") { t in
                    t.autoIncrementedPrimaryKey("id")
                    t.column("title", .text)
                    t.column("score", .integer).notNull().defaults(to: 0)
                    t.timestamps()
                    t.column("titleChangedAt", .datetime)
                }
                try db.register(Memo.self)
                try Memo.checkSchema(db)
                try MemoValue.checkSchema(db)
                #expect(log.elements == [])
            }
        }
    }

    @Test(
        "Default values of other kinds are explicit",
        arguments: ["''", "'2020-01-01'", "(datetime('2020-01-01'))", "\"now\"", "nonsense"])
    func otherDefaults(_ sql: String) throws {
        try queue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE d (n, c NOT NULL DEFAULT \(sql))")
            try db.register(DatabaseStamps(created: "c"), on: "d")
            try db.execute(sql: "INSERT INTO d (n) VALUES (1)")
            #expect(try String.fetchOne(db, sql: "SELECT c FROM d") != minute(0))
        }
    }

    @Test("A date of SQLite's own format with milliseconds is a default value that is replaced, too")
    func milliseconds() throws {
        try queue.inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE d (n, c NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')), u)")
            try db.register(DatabaseStamps(created: "c", updated: "u"), on: "d")
            try db.execute(sql: "INSERT INTO d (n) VALUES (1), (2)")
            #expect(
                try String.fetchAll(db, sql: "SELECT c || u FROM d") == [
                    minute(0) + minute(0), minute(0) + minute(0),
                ])
        }
    }
}

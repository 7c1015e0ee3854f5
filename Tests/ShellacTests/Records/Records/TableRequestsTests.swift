// Needs SoftDelete.
// A type fetches the same from its table as a request for it does.

import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Types and their requests")
struct TableRequestsTests {
    private class Player: Record {
        var id: Int64?
        var name = ""
        override class var databaseTableName: String { "player" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
    }

    private class NamedPlayer: Player {
        override class var databaseSelection: [any SQLSelectable] { [Column("name"), Column("id")] }
    }

    private class LivingPlayer: Player {
        override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
    }

    @Test(
        "a type runs the SQL of its requests",
        arguments: [Player.self, NamedPlayer.self, LivingPlayer.self] as [Player.Type])
    private func sameSQL(type: Player.Type) throws {
        try sameSQL(of: type)
    }

    private func sameSQL<Fetched: Player>(of type: Fetched.Type) throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT UNIQUE, deletedAt TEXT);
                    INSERT INTO player VALUES (1, 'Arthur', NULL), (2, 'Barbara', NULL), (3, 'Craig', '2020-01-01');
                    """)
            func expectSame(_ byType: () throws -> Void, _ byRequest: () throws -> Void) throws {
                spy.removeAll()
                try byType()
                let own = spy.removeAll().filter { $0.contains("\"player\"") && !$0.hasPrefix("PRAGMA") }
                try byRequest()
                let requested = spy.removeAll().filter {
                    $0.contains("\"player\"") && !$0.hasPrefix("PRAGMA")
                }
                #expect(own == requested && !own.isEmpty)
            }
            try expectSame({ _ = try type.fetchAll(db) }, { _ = try type.all().fetchAll(db) })
            try expectSame({ _ = try type.fetchOne(db) }, { _ = try type.all().fetchOne(db) })
            try expectSame({ _ = try type.fetchCount(db) }, { _ = try type.all().fetchCount(db) })
            try expectSame(
                { _ = try type.fetchAll(db, keys: [1, 2]) },
                { _ = try type.filter(keys: [1, 2]).fetchAll(db) })
            try expectSame(
                { _ = try type.fetchOne(db, key: ["name": "Arthur"]) },
                { _ = try type.filter(key: ["name": "Arthur"]).fetchOne(db) })
            try expectSame(
                { _ = try type.exists(db, key: 1) }, { _ = try type.filter(key: 1).exists(db) })
            try expectSame(
                { _ = try type.deleteOne(db, key: 7) }, { _ = try type.filter(key: 7).deleteAll(db) })
        }
    }

    @Test("any number of keys is found, whatever their type is", arguments: [1, 2, 511, 512, 513, 40_000])
    func manyKeys(count: Int) throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE thing (key BLOB PRIMARY KEY);
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                    INSERT INTO thing SELECT CAST(printf('%08d', i) AS BLOB) FROM n
                    """)
            struct Thing: Codable, FetchableRecord, TableRecord, Hashable {
                static let databaseTableName = "thing"
                let key: Data
            }
            let keys = (1...count).map { number in
                Data(String(repeating: "0", count: 8 - "\(number)".count).utf8 + Array("\(number)".utf8))
            }
            let expected = Swift.min(count, 1000)
            // Each is named twice, and found once.
            try #expect(Thing.fetchAll(db, keys: keys + keys).count == expected)
            try #expect(Thing.fetchSet(db, keys: keys).count == expected)
            let cursor = try Thing.fetchCursor(db, keys: keys)
            var fetched = 0
            while try cursor.next() != nil { fetched += 1 }
            #expect(fetched == expected)
            try #expect(Thing.deleteAll(db, keys: keys) == expected)
        }
    }
}

import TestSupport
import Testing

@testable import Shellac

@Suite("Regions of a database")
struct DatabaseRegionTests {
    @Test("Regions print as what they are")
    func description() {
        #expect("\(DatabaseRegion())" == "empty")
        #expect("\(DatabaseRegion.fullDatabase)" == "full database")
        #expect("\(DatabaseRegion(table: "player"))" == "player(*)")
        #expect("\(DatabaseRegion(table: "player", columns: ["score", "name"]))" == "player(name,score)")
        #expect("\(DatabaseRegion(table: "player", rowIDs: [2, 1]))" == "player(*)[1,2]")
        #expect("\(DatabaseRegion(table: "player", rowIDs: []))" == "empty")
        #expect("\(DatabaseRegion(table: "b").union(DatabaseRegion(table: "a")))" == "a(*),b(*)")
    }

    @Test("Unions and intersections take columns and rows, and names match without regard to case")
    func algebra() {
        let player = DatabaseRegion(table: "player")
        let name = DatabaseRegion(table: "PLAYER", columns: ["NAME"])
        let score = DatabaseRegion(table: "player", columns: ["score"])
        let first = DatabaseRegion(table: "player", rowIDs: [1, 2])
        let second = DatabaseRegion(table: "player", rowIDs: [2, 3])
        let team = DatabaseRegion(table: "team")
        let full = DatabaseRegion.fullDatabase
        #expect(player.intersection(name) == name)
        #expect(name == DatabaseRegion(table: "player", columns: ["name"]))
        #expect("\(score.intersection(name))" == "player()")
        #expect(!score.intersection(name).isEmpty)
        #expect("\(score.intersection(first).intersection(second))" == "player(score)[2]")
        #expect(DatabaseRegion(table: "player", rowIDs: [1]).intersection(second).isEmpty)
        #expect(player.intersection(team).isEmpty)
        #expect(full.intersection(score) == score && score.intersection(full) == score)
        #expect("\(DatabaseRegion(table: "player", columns: ["name"]).union(score))" == "player(name,score)")
        #expect(score.union(player) == player)
        #expect("\(first.union(second))" == "player(*)[1,2,3]")
        #expect(first.union(player) == player)
        #expect(full.union(score) == full && score.union(full).isFullDatabase)
        var region = DatabaseRegion()
        region.formUnion(team)
        #expect(region == team && !region.isEmpty && region.tableNames == ["team"])
        #expect(full.tableNames == nil && !full.isEmpty)
    }

    @Test("A region says which kinds of changes may modify it")
    func kinds() {
        let score = DatabaseRegion(table: "player", columns: ["score"])
        func update(_ columns: Set<String>) -> DatabaseEventKind {
            .update(tableName: "Player", columnNames: columns)
        }
        #expect(score.isModified(byEventsOfKind: .insert(tableName: "PLAYER")))
        #expect(score.isModified(byEventsOfKind: .delete(tableName: "player")))
        #expect(!score.isModified(byEventsOfKind: .delete(tableName: "team")))
        #expect(score.isModified(byEventsOfKind: update(["name", "SCORE"])))
        #expect(!score.isModified(byEventsOfKind: update(["name"])))
        #expect(score.isModified(byEventsOfKind: update(["ROWID"])))
        let presence = DatabaseRegion(table: "player", columns: [])
        #expect(presence.isModified(byEventsOfKind: .insert(tableName: "player")))
        #expect(!presence.isModified(byEventsOfKind: update(["name"])))
        #expect(DatabaseRegion.fullDatabase.isModified(byEventsOfKind: update(["name"])))
        #expect(!DatabaseRegion().isModified(byEventsOfKind: .insert(tableName: "player")))
    }

    @Test("A region says which changes modify it, also when a row leaves it by changing its id")
    func events() throws {
        let (queue, spy) = try DatabaseQueue.withSpy("INSERT INTO player VALUES (1, 'a'), (2, 'b')")
        var events: [DatabaseEvent] = []
        spy.onChange = { events.append($0) }
        try queue.write { db in
            try db.execute(sql: "UPDATE player SET name = 'c' WHERE id = 2")
            try db.execute(sql: "UPDATE player SET id = 3 WHERE id = 1")
            try db.execute(sql: "UPDATE player SET rowid = 4 WHERE id = 3")
        }
        let first = DatabaseRegion(table: "player", rowIDs: [1])
        #expect(events.map(first.isModified(by:)) == [false, true, true])
        #expect(
            events.map(DatabaseRegion(table: "Player", rowIDs: [2]).isModified(by:)) == [true, true, true])
        #expect(
            events.map(DatabaseRegion(table: "team", rowIDs: [1]).isModified(by:)) == [false, false, false])
        #expect(events.map(DatabaseRegion.fullDatabase.isModified(by:)) == [true, true, true])
        #expect(events.map(DatabaseRegion().isModified(by:)) == [false, false, false])
    }

    @Test(
        "What a query reads is its region",
        arguments: [
            ("SELECT name FROM player", "player(name)"),
            ("SELECT COUNT(*) FROM player", "player()"),
            ("SELECT * FROM player WHERE score > 1", "player(id,name,score,team)"),
            ("SELECT p.name FROM player p JOIN team t ON t.id = p.team", "player(name,team),team(id)"),
            ("SELECT rowid FROM player", "player(id)"),
            ("SELECT doubled FROM team", "team(*)"),
            ("SELECT 1", "empty"),
            ("WITH x AS (SELECT name FROM player) SELECT COUNT(*) FROM x", "player(name)"),
            ("DELETE FROM player WHERE score = 1", "player(score),team(id)"),
        ])
    func queries(sql: String, region: String) throws {
        let queue = try makeQueue()
        try queue.inDatabase { db in
            let ofSQL = try SQL(sql: sql).databaseRegion(db)
            let ofStatement = try db.makeStatement(sql: sql).databaseRegion(db)
            #expect([ofSQL, ofStatement].map(\.description) == [region, region])
        }
    }

    @Test("The region of wrong SQL is an error, and a region is its own")
    func errors() throws {
        try makeQueue().inDatabase { db in
            expectError("no such table: nowhere") { try SQL("SELECT x FROM nowhere").databaseRegion(db) }
            let region = DatabaseRegion(table: "player")
            let own = try region.databaseRegion(db)
            #expect(own == region)
        }
    }

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, size, doubled AS (size * 2));
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name, score, team REFERENCES team);
                    """)
        }
        return queue
    }

    @Test("notifyChanges tells those who observe the region, with the commit", arguments: [true, false])
    func notifyChanges(isInside: Bool) throws {
        let (queue, spy) = try DatabaseQueue.withSpy("CREATE TABLE team (id INTEGER PRIMARY KEY, name)")
        let other = ObserverSpy()
        other.filter = { $0.tableName == "player" }
        let none = ObserverSpy()
        none.filter = { _ in false }
        queue.add(transactionObserver: other)
        queue.add(transactionObserver: none)
        try queue.inDatabase { db in
            if isInside { try db.execute(sql: "BEGIN") }
            try db.notifyChanges(in: DatabaseRegion(table: "team", columns: ["name"]))
            if isInside {
                #expect(spy.log == ["undetected"])
                try db.execute(sql: "COMMIT")
            }
            #expect(spy.removeAll() == ["undetected", "willCommit", "didCommit"])
            #expect(
                spy.questions.suffix(3).contains(.update(tableName: "team", columnNames: ["name"]))
                    || spy.questions.last == .insert(tableName: "team"))
            #expect(other.removeAll() == ["willCommit", "didCommit"])
            try db.notifyChanges(in: DatabaseRegion.fullDatabase)
            #expect(other.removeAll() == ["undetected", "willCommit", "didCommit"])
            #expect(none.removeAll() == ["willCommit", "didCommit", "willCommit", "didCommit"])
            try db.notifyChanges(in: DatabaseRegion())
            #expect(other.removeAll() == ["willCommit", "didCommit"])
        }
    }

    @Test("What notifyChanges tells follows savepoints, and a veto is thrown", .behaviour(46))
    func notifyChangesInSavepoints() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        let region = DatabaseRegion(table: "player")
        try queue.inDatabase { db in
            try db.execute(sql: "BEGIN; SAVEPOINT s")
            try db.notifyChanges(in: region)
            #expect(spy.removeAll() == [])
            try db.execute(sql: "ROLLBACK TO s")
            try db.notifyChanges(in: region)
            try db.execute(sql: "RELEASE s")
            #expect(spy.removeAll() == ["undetected"])
            try db.execute(sql: "COMMIT")
            #expect(spy.removeAll() == ["willCommit", "didCommit"])
            spy.onWillCommit = { throw TestError(1) }
            #expect(throws: TestError(1)) { try db.notifyChanges(in: region) }
            #expect(spy.removeAll() == ["undetected", "willCommit", "didRollback"])
            expectError("no such table: nowhere") { try db.notifyChanges(in: SQL("SELECT * FROM nowhere")) }
            // Without an observer, nothing happens.
            db.remove(transactionObserver: spy)
            try db.notifyChanges(in: region)
        }
    }
}

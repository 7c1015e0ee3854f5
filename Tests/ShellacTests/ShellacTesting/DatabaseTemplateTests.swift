import Foundation
import Shellac
import ShellacTesting
import TestSupport
import Testing

private let preparations = Shared(0)

private let template = DatabaseTemplate { dbQueue in
    preparations.withLock { $0 += 1 }
    try dbQueue.write { db in
        try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
        try db.execute(sql: "INSERT INTO player (name) VALUES ('Arthur')")
    }
}

extension DatabaseWriter {
    fileprivate func names() throws -> [String] {
        try read { db in try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY id") }
    }
}

@Suite("A template of a database", .database(template))
struct DatabaseTemplateTests {
    @Test("is made once, and each copy is private", .behaviour(86))
    func privateCopies() throws {
        let (first, second) = (try template.makeQueue(), try template.makeQueue())
        try first.inDatabase { db in try db.execute(sql: "INSERT INTO player (name) VALUES ('Barbara')") }
        #expect(try first.names() == ["Arthur", "Barbara"])
        #expect(try second.names() == ["Arthur"])
        #expect(preparations.value == 1)
    }

    @Test("gives files for queues and pools", .behaviour(86))
    func files() throws {
        let folder = try TemporaryFolder()
        let queue = try template.makeQueue(path: folder.path("queue.sqlite"))
        let pool = try template.makePool(path: folder.path("pool.sqlite"))
        try pool.inDatabase { db in try db.execute(sql: "DELETE FROM player") }
        #expect(try queue.names() == ["Arthur"])
        #expect(try pool.names() == [])
        let error = #expect(throws: DatabaseError.self) {
            try template.makeQueue(path: folder.path("queue.sqlite"))
        }
        #expect(error?.message?.hasPrefix("the copy of a template needs a new file: ") == true)
        #expect(try queue.names() == ["Arthur"])
    }

    @Test("whose migration fails gives its error to each who asks for a copy", .behaviour(86))
    func failure() {
        let runs = Shared(0)
        let broken = DatabaseTemplate { dbQueue in
            runs.withLock { $0 += 1 }
            try dbQueue.inDatabase { db in try db.execute(sql: "CREATE TABLE player") }
        }
        for _ in 1...2 {
            let error = #expect(throws: DatabaseError.self) { try broken.makeQueue() }
            #expect(error?.sql == "CREATE TABLE player")
        }
        #expect(runs.value == 1)
    }

    @Test(
        "gives each test its own copy, and each case of one with arguments", .behaviour(86), arguments: 1...5)
    func trait(_ number: Int) async throws {
        #expect(
            try await testDatabase.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM player") }
                == 1)
        try await testDatabase.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: ["player \(number)"])
        }
        #expect(try testDatabase.names() == ["Arthur", "player \(number)"])
    }

    @Test("The statements that run are the expected ones", .behaviour(86))
    func statements() throws {
        try testDatabase.inDatabase { db in
            let count = try expectStatements(["SELECT count(*) FROM player"], db) {
                try Int.fetchOne(db, sql: "SELECT count(*) FROM player")
            }
            #expect(count == 1)
            try expectStatements(count: 2, db) {
                for _ in 1...2 { try db.execute(sql: "DELETE FROM player") }
            }
            try withKnownIssue {
                try expectStatements([], db) { try db.execute(sql: "DELETE FROM player") }
            } matching: { issue in
                issue.comments.contains { $0.rawValue == #"expected [], but ["DELETE FROM player"] ran"# }
            }
        }
    }
}

import TestSupport
import Testing

@testable import Shellac

/// Full-text search beside kinds, lists, counters and stamps.
@Suite("Full-text search beside other features", .behaviour(124), .behaviour(125))
struct SearchWithFeaturesTests {
    class Text: Record {
        class override var databaseTableName: String { "text" }
        class override var databaseKinds: DatabaseKinds {
            .column("kind", ["letter": Letter.self, "report": Report.self])
        }
        static let search = fullText("body")

        var id: Int64?
        var body = ""

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("body", body) { body = $0 }
        }
    }

    final class Letter: Text {}
    final class Report: Text {}

    private static func queue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE text (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL, updatedAt TEXT)"
            )
            try db.create(fullText: Text.search)
            try save(Letter(), "a king and a queen", db)
            try save(Report(), "the king of fish", db)
            try save(Report(), "fish alone", db)
        }
        return queue
    }

    @discardableResult
    private static func save<Kind: Text>(_ text: Kind, _ body: String, _ db: Database) throws -> Kind {
        text.body = body
        try text.save(db)
        return text
    }

    @Test("A search through the base finds records of their classes, and one through a kind only its own")
    func kinds() throws {
        try Self.queue().write { db throws in
            let found = try Text.matching("king", in: Text.search).order(Column("id")).fetchAll(db)
            #expect(found.map { "\(type(of: $0))" } == ["Letter", "Report"])
            #expect(try Report.matching("king", in: Text.search).fetchAll(db).map(\.id) == [2])
            #expect(try Letter.matching("fish", in: Text.search).fetchCount(db) == 0)
            let ranked = try Report.matching("fish", in: Text.search).ranked().snippet(
                "body", around: ("[", "]")
            )
            .fetchAll(db)
            #expect(
                try ranked.map { try $0.databaseSnippet("body") } == ["[fish] alone", "the king of [fish]"])
            #expect(try Report.matching("king", in: Text.search).deleteAll(db) == 1)
            #expect(try Text.matching("king", in: Text.search).fetchAll(db).map(\.id) == [1])
            for (_, _, fault) in try db.fullTextIndexes() { #expect(fault == nil) }
        }
    }

    @Test("A list of matches follows writes that add words and take them away")
    func list() async throws {
        let queue = try Self.queue()
        let request = Text.matching("king", in: Text.search).order(Column("id"))
        let controller = FetchedRecordsController(queue, request: request)
        try controller.performFetch()
        #expect(controller.fetchedRecords.map(\.id) == [1, 2])
        var changes = controller.changes.makeAsyncIterator()
        try await queue.write { db in try db.execute(sql: "UPDATE text SET body = 'no words' WHERE id = 1") }
        _ = try await changes.next()
        #expect(controller.fetchedRecords.map(\.id) == [2])
        try await queue.write { db in try Self.save(Letter(), "one more King", db) }
        _ = try await changes.next()
        #expect(controller.fetchedRecords.map(\.id) == [2, 4])
    }

    @Test("Stamps that a trigger writes, and the undo of a change, leave the words of the rows")
    func stampsAndUndo() throws {
        let queue = try Self.queue()
        try queue.register(DatabaseStamps(updated: "updatedAt"), on: "text")
        let undo = try DatabaseUndo(queue, Text.self)
        func ids(_ text: String) throws -> [Int64?] {
            try queue.read { db in
                for (_, _, fault) in try db.fullTextIndexes() { #expect(fault == nil) }
                return try Text.matching(text, in: Text.search).order(Column("id")).fetchAll(db).map(\.id)
            }
        }
        try queue.write { db in try db.execute(sql: "UPDATE text SET body = body || ' crowned' WHERE id < 3")
        }
        try #expect(ids("crowned") == [1, 2])
        try undo.undo()
        try #expect(ids("crowned") == [])
        try undo.redo()
        try #expect(ids("crowned king") == [1, 2])
        try queue.write { db in try db.execute(sql: "DELETE FROM text") }
        try undo.undo()
        try #expect(ids("king") == [1, 2])
    }

    @Test("After a failed statement and a rolled back savepoint, the words are those of the rows")
    func rollbacks() throws {
        let queue = try Self.queue()
        try queue.write { db throws in
            try db.inSavepoint {
                try db.execute(sql: "UPDATE text SET body = 'emperor'")
                #expect(try Text.matching("emperor", in: Text.search).fetchCount(db) == 3)
                return .rollback
            }
            #expect(throws: DatabaseError.self) {
                try db.execute(
                    sql: "INSERT INTO text VALUES (7, 'letter', 'emperor', NULL), (1, 'letter', 'x', NULL)")
            }
            #expect(try Text.matching("emperor", in: Text.search).fetchCount(db) == 0)
            #expect(try Text.matching("king", in: Text.search).fetchCount(db) == 2)
            for (_, _, fault) in try db.fullTextIndexes() { #expect(fault == nil) }
        }
    }
}

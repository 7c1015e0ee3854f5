#if os(Linux)
import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// (Each call runs in a fork of the test's process, which Apple's systems do not allow.)
@Suite("Use of a database outside of its access")
struct OutsideOfAccessTests {
    class Player: Record, @unchecked Sendable {
        var id: Int64?
        var name = ""
        override class var databaseTableName: String { "player" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
    }

    struct Note: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        static let databaseTableName = "player"
    }

    final class Letters: FTS5Tokenizer {
        static let name = "letters"
        init(_ db: Database, arguments: [String]) throws {}
        func tokens(of text: String, for purpose: FTS5Purpose) throws -> [FTS5Token] { [] }
    }

    private static func calls(on db: Database) -> [(String, () throws -> Void)] {
        let collation = DatabaseCollation("c") { _, _ in .orderedSame }
        let index = FullTextIndex(table: "player", columns: ["name"])
        return [
            ("execute", { try db.execute(sql: "SELECT 1") }),
            ("execute(literal:)", { try db.execute(literal: "SELECT 1") }),
            ("makeStatement", { _ = try db.makeStatement(sql: "SELECT 1") }),
            ("cachedStatement", { _ = try db.cachedStatement(sql: "SELECT 1") }),
            ("allStatements", { _ = try db.allStatements(sql: "SELECT 1").next() }),
            ("lastInsertedRowID", { _ = db.lastInsertedRowID }),
            ("changesCount", { _ = db.changesCount }),
            ("totalChangesCount", { _ = db.totalChangesCount }),
            ("fetchOne", { _ = try Int.fetchOne(db, sql: "SELECT 1") }),
            ("fetch of records", { _ = try Player.fetchAll(db) }),
            ("fetchCount", { _ = try Player.fetchCount(db) }),
            ("insert", { try Player().insert(db) }),
            ("update", { try Player().update(db) }),
            ("save", { try Player().save(db) }),
            ("upsert", { try Player().upsert(db) }),
            ("delete", { _ = try Player().delete(db) }),
            ("updateChanges", { _ = try Player().updateChanges(db) }),
            ("insert of a struct", { try Note(id: 1).insert(db) }),
            ("update of a struct", { try Note(id: 1).update(db) }),
            ("insertAll", { _ = try Note.insertAll(db, [Note(id: 1)]) }),
            ("inTransaction", { try db.inTransaction { .commit } }),
            ("inSavepoint", { try db.inSavepoint { .commit } }),
            ("beginTransaction", { try db.beginTransaction() }),
            ("commit", { try db.commit() }),
            ("rollback", { try db.rollback() }),
            ("readOnly", { db.readOnly {} }),
            ("isInsideTransaction", { _ = db.isInsideTransaction }),
            ("interrupt", { db.interrupt() }),
            ("releaseMemory", { db.releaseMemory() }),
            ("checkpoint", { try db.checkpoint() }),
            ("trace", { db.trace { _ in } }),
            ("afterNextTransaction", { db.afterNextTransaction { _ in } }),
            ("notifyChanges", { try db.notifyChanges(in: .fullDatabase) }),
            ("databaseRegion", { _ = try Player.all().databaseRegion(db) }),
            ("tableExists", { _ = try db.tableExists("player") }),
            ("columns", { _ = try db.columns(in: "player") }),
            ("create(table:)", { try db.create(table: "t") { $0.column("a") } }),
            ("drop(table:)", { try db.drop(table: "player") }),
            ("alter(table:)", { try db.alter(table: "player") { $0.add(column: "a") } }),
            ("create(virtualTable:)", { try db.create(virtualTable: "v", using: "fts5") }),
            ("rebuild", { try db.rebuild(table: "player") { _ in } }),
            ("add(function:)", { try db.add(function: DatabaseFunction("f") { _ in 1 }) }),
            ("remove(function:)", { try db.remove(function: DatabaseFunction("f") { _ in 1 }) }),
            ("add(collation:)", { try db.add(collation: collation) }),
            ("remove(collation:)", { try db.remove(collation: collation) }),
            ("add(tokenizer:)", { try db.add(tokenizer: Letters.self) }),
            ("transactionDate", { _ = try db.transactionDate }),
            ("readBlob", { try db.readBlob("name", of: "player", rowID: 1) { _ in } }),
            ("writeBlob", { try db.writeBlob("name", of: "player", rowID: 1) { _ in } }),
            ("setForeignKeysEnforced", { try db.setForeignKeysEnforced(true) }),
            ("setLegacyAlterTable", { try db.setLegacyAlterTable(true) }),
            ("hasBrokenForeignKeys", { _ = db.hasBrokenForeignKeys }),
            ("sqliteConnection", { _ = db.sqliteConnection }),
            ("maximumStatementArgumentCount", { _ = db.maximumStatementArgumentCount }),
            ("reload", { try Player().reload(db) }),
            ("touch", { try Player().touch(db) }),
            ("load", { try db.load([Player](), []) }),
            ("withoutTableCallbacks", { try db.withoutTableCallbacks {} }),
            ("withoutStamps", { try db.withoutStamps {} }),
            ("register", { try db.register(Player.self) }),
            ("databaseHistory", { _ = try Player.databaseHistory(db, key: 1) }),
            ("forget", { try db.forget(Player()) }),
            ("forget(key:)", { try db.forget(Player.self, key: 1) }),
            ("updateCounterTriggers", { try db.updateCounterTriggers() }),
            ("recount", { _ = try db.recount("player", "name") }),
            ("drop(fullText:)", { try db.drop(fullText: index) }),
            ("rebuild(fullText:)", { try db.rebuild(fullText: index) }),
        ]
    }

    @Test("Every call ends the program there, with the same sentence", .timeLimit(.minutes(10)))
    func everyCall() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent, \.standardOutputContent]
        ) {
            let queue = try DatabaseQueue()
            let db = try queue.write { db in
                try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
                return db
            }
            for (name, call) in OutsideOfAccessTests.calls(on: db) {
                let child = fork()
                if child == 0 {
                    for code in [SIGILL, SIGTRAP] { signal(code, SIG_DFL) }
                    do { try call() } catch { print("\(name): \(error)") }
                    exit(0)
                }
                var status: Int32 = 0
                waitpid(child, &status, 0)
                if status & 0x7f == 0 { print("\(name) does not end the program") }
            }
            fflush(nil)
        }
        let output = String(decoding: result.standardOutputContent, as: UTF8.self)
        #expect(!output.contains("does not end"), "\(output)")
        let sentences =
            String(decoding: result.standardErrorContent, as: UTF8.self)
            .components(separatedBy: "was used outside of its access").count - 1
        #expect(sentences == Self.calls(on: try DatabaseQueue().inDatabase { $0 }).count)
    }
}
#endif

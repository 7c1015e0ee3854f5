#if os(Linux)
import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// (Each call runs in a fork of the test's process, which Apple's systems do not allow.)
@Suite("Use of a database outside of its access")
struct OutsideOfAccessTests {
    struct Note: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        static let databaseTableName = "hero"
    }

    private static func calls(on db: Database) -> [(String, () throws -> Void)] {
        let collation = DatabaseCollation("c") { _, _ in .orderedSame }
        let index = FullTextIndex(table: "hero", columns: ["name"])
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
            ("fetch of records", { _ = try PairHero.fetchAll(db) }),
            ("fetchCount", { _ = try PairHero.fetchCount(db) }),
            ("insert", { try PairHero("Arthur").insert(db) }),
            ("update", { try PairHero("Arthur").update(db) }),
            ("save", { try PairHero("Arthur").save(db) }),
            ("upsert", { try PairHero("Arthur").upsert(db) }),
            ("delete", { _ = try PairHero("Arthur").delete(db) }),
            ("updateChanges", { _ = try PairHero("Arthur").updateChanges(db) }),
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
            ("databaseRegion", { _ = try PairHero.all().databaseRegion(db) }),
            ("tableExists", { _ = try db.tableExists("hero") }),
            ("columns", { _ = try db.columns(in: "hero") }),
            ("create(table:)", { try db.create(table: "t") { $0.column("a") } }),
            ("drop(table:)", { try db.drop(table: "hero") }),
            ("alter(table:)", { try db.alter(table: "hero") { $0.add(column: "a") } }),
            ("create(virtualTable:)", { try db.create(virtualTable: "v", using: "fts5") }),
            ("rebuild", { try db.rebuild(table: "hero") { _ in } }),
            ("add(function:)", { try db.add(function: DatabaseFunction("f") { _ in 1 }) }),
            ("remove(function:)", { try db.remove(function: DatabaseFunction("f") { _ in 1 }) }),
            ("add(collation:)", { try db.add(collation: collation) }),
            ("remove(collation:)", { try db.remove(collation: collation) }),
            ("add(tokenizer:)", { try db.add(tokenizer: FullTextIndexTests.Codes.self) }),
            ("transactionDate", { _ = try db.transactionDate }),
            ("readBlob", { try db.readBlob("name", of: "hero", rowID: 1) { _ in } }),
            ("writeBlob", { try db.writeBlob("name", of: "hero", rowID: 1) { _ in } }),
            ("setForeignKeysEnforced", { try db.setForeignKeysEnforced(true) }),
            ("setLegacyAlterTable", { try db.setLegacyAlterTable(true) }),
            ("hasBrokenForeignKeys", { _ = db.hasBrokenForeignKeys }),
            ("sqliteConnection", { _ = db.sqliteConnection }),
            ("maximumStatementArgumentCount", { _ = db.maximumStatementArgumentCount }),
            ("reload", { try PairHero("Arthur").reload(db) }),
            ("touch", { try PairHero("Arthur").touch(db) }),
            ("load", { try db.load([PairHero](), []) }),
            ("withoutTableCallbacks", { try db.withoutTableCallbacks {} }),
            ("withoutStamps", { try db.withoutStamps {} }),
            ("register", { try db.register(PairHero.self) }),
            ("databaseHistory", { _ = try PairHero.databaseHistory(db, key: 1) }),
            ("forget", { try db.forget(PairHero("Arthur")) }),
            ("forget(key:)", { try db.forget(PairHero.self, key: 1) }),
            ("updateCounterTriggers", { try db.updateCounterTriggers() }),
            ("recount", { _ = try db.recount("hero", "name") }),
            ("drop(fullText:)", { try db.drop(fullText: index) }),
            ("rebuild(fullText:)", { try db.rebuild(fullText: index) }),
        ]
    }

    @Test("Every call ends the program there, with the same sentence", .timeLimit(.minutes(10)))
    func everyCall() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) {
            let folder = try TemporaryFolder()
            let queue = try DatabaseQueue.withHeroes()
            let db = try queue.inDatabase { $0 }
            for (number, (name, call)) in OutsideOfAccessTests.calls(on: db).enumerated() {
                let said = folder.path("\(number)")
                let child = fork()
                if child == 0 {
                    crashWithoutBacktrace()
                    // All of this would fill the pipe, which is read once the process has ended.
                    dup2(open(said, O_WRONLY | O_CREAT, 0o600), STDERR_FILENO)
                    do { try call() } catch { print("\(name): \(error)") }
                    exit(0)
                }
                var status: Int32 = 0
                waitpid(child, &status, 0)
                if status & 0x7f == 0 { print("\(name) does not end the program") }
                let sentence = try String(contentsOfFile: said, encoding: .utf8)
                if !sentence.contains("was used outside of its access") { print("\(name) says: \(sentence)") }
            }
            print("all were called")
            fflush(nil)
        }
        #expect(String(decoding: result.standardOutputContent, as: UTF8.self) == "all were called\n")
    }
}
#endif

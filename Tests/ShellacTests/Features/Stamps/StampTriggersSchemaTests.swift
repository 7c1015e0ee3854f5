import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Stamp triggers follow the schema")
struct StampTriggersSchemaTests {
    @Test(
        "A table that is dropped and made again is stamped, in the same transaction and after its rollback",
        .behaviour(37)
    )
    func droppedAndMadeAgain() throws {
        let memos = try MemoDatabase()
        func insertAndStamp(_ db: Database) throws -> String {
            try db.execute(sql: "INSERT INTO memo (title) VALUES ('a')")
            return try db.memoStamps(db.lastInsertedRowID)
        }
        try memos.queue.inTransaction { db in
            try db.execute(sql: "DROP TABLE memo")
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM temp.sqlite_master") == 0)
            try db.execute(sql: memoTable)
            #expect(try insertAndStamp(db) == "0 0 -")
            return .rollback
        }
        try memos.queue.inDatabase { db in try #expect(insertAndStamp(db) == "0 0 -") }
        try memos.queue.inDatabase { db in
            try db.execute(sql: "DROP TABLE memo")
            try db.execute(
                sql: "CREATE TABLE memo (title, createdAt, updatedAt, titleChangedAt, id INTEGER PRIMARY KEY)"
            )
            #expect(try insertAndStamp(db) == "0 0 -")
        }
        // A migration rebuilds tables under other names.
        try memos.queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE new (id INTEGER PRIMARY KEY, title, score, createdAt, updatedAt, titleChangedAt);
                    INSERT INTO new SELECT id, title, 1, createdAt, updatedAt, titleChangedAt FROM memo;
                    DROP TABLE memo;
                    ALTER TABLE new RENAME TO memo;
                    """)
            #expect(try insertAndStamp(db) == "0 0 -")
        }
    }

    @Test("ALTER TABLE: other columns, another name, a stamp that is gone", .behaviour(37))
    func altered() throws {
        let memos = try MemoDatabase()
        try memos.queue.inDatabase { db in
            try db.execute(sql: "ALTER TABLE memo ADD COLUMN extra")
            try db.execute(sql: "INSERT INTO memo (title, extra) VALUES ('a', 1)")
            #expect(try db.memoStamps() == "0 0 -")
            try db.execute(sql: "ALTER TABLE memo RENAME TO paper")
            // The type's table is no more.
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM temp.sqlite_master") == 0)
            try db.execute(sql: "ALTER TABLE paper RENAME TO memo")
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM temp.sqlite_master") == 3)
            // A stamp under another name is no stamp; the others stay.
            try db.execute(sql: "ALTER TABLE memo RENAME COLUMN createdAt TO bornAt")
            try db.execute(sql: "INSERT INTO memo (title) VALUES ('b')")
            #expect(try String.fetchOne(db, sql: "SELECT updatedAt FROM memo WHERE id = 2") == minute(0))
            #expect(
                try DatabaseValue.fetchOne(db, sql: "SELECT bornAt FROM memo WHERE id = 2") ?? .null == .null)
        }
    }

    @Test(
        "A savepoint that is rolled back, and a statement that fails, leave the triggers that fit",
        .behaviour(37))
    func undone() throws {
        let memos = try MemoDatabase()
        try memos.queue.write { db in
            try db.inSavepoint {
                try db.execute(sql: "DROP TABLE memo")
                return .rollback
            }
            try db.execute(sql: "INSERT INTO memo (title) VALUES ('a')")
            #expect(try db.memoStamps() == "0 0 -")
            #expect(databaseError { try db.execute(sql: memoTable) } != nil)
            try db.execute(sql: "UPDATE memo SET title = 'b'")
            #expect(try db.memoStamps() == "0 0 0")
        }
    }

    @Test(
        "What another connection does to the schema is noticed when the next transaction begins",
        .behaviour(37),
        arguments: [TransactionKind.immediate, .deferred, .exclusive], [false, true])
    func otherConnection(kind: TransactionKind, isDefensive: Bool) throws {
        let file = try TemporaryDatabase()
        let memos = try MemoDatabase(path: file.path)
        let code = try memos.queue.inDatabase { db in
            shellac_db_config(db.pointer, SQLITE_DBCONFIG_DEFENSIVE, isDefensive ? 1 : 0)
        }
        #expect(code == SQLITE_OK)
        let other = try DatabaseQueue(path: file.path)
        try other.inDatabase { db in
            try db.execute(
                sql: "DROP TABLE memo; CREATE TABLE memo (id INTEGER PRIMARY KEY, title, updatedAt)")
        }
        try memos.queue.inTransaction(kind) { db in
            try db.execute(sql: "INSERT INTO memo (title) VALUES ('a')")
            #expect(try String.fetchOne(db, sql: "SELECT updatedAt FROM memo") == minute(0))
            return .commit
        }
        try other.inDatabase { db in try db.execute(sql: "DROP TABLE memo") }
        try memos.queue.inTransaction(kind) { db in
            try #expect(!db.tableExists("memo"))
            return .commit
        }
        try other.inDatabase { db in try db.execute(sql: memoTable) }
        try memos.queue.inSavepoint {
            try $0.execute(sql: "INSERT INTO memo (title) VALUES ('a')")
            #expect(try $0.memoStamps() == "0 0 -")
            return .commit
        }
        try memos.queue.inDatabase { db in
            #expect(shellac_db_config_value(db.pointer, SQLITE_DBCONFIG_DEFENSIVE) == (isDefensive ? 1 : 0))
        }
    }

    @Test("A connection that did not register the type writes without stamps")
    func unregistered() throws {
        let file = try TemporaryDatabase()
        let memos = try MemoDatabase(path: file.path)
        let other = try DatabaseQueue(path: file.path)
        try other.inDatabase { db in
            try db.execute(sql: "INSERT INTO memo (title) VALUES ('a')")
            #expect(try db.memoStamps() == "- - -")
        }
        try memos.later { db in
            try db.execute(sql: "UPDATE memo SET score = 1")
            #expect(try db.memoStamps() == "- 1 -")
        }
    }

    @Test("Registering again, in a transaction that is rolled back, in another case: one set of triggers")
    func again() throws {
        let memos = try MemoDatabase(registers: false)
        try memos.queue.inTransaction { db in
            try db.register(Memo.self)
            return .rollback
        }
        try memos.queue.write { db in
            try db.execute(sql: "INSERT INTO memo (title) VALUES ('a')")
            #expect(try db.memoStamps() == "0 0 -")
        }
        try memos.queue.register(Memo.self, Memo.self)
        try memos.queue.register(Memo.databaseStamps, on: "MEMO")
        let count = try memos.queue.read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM temp.sqlite_master")
        }
        #expect(count == 3)
        // A write transaction that finds all as it was asks for the version of the schema, and no
        // more.
        memos.spy.removeAll()
        try memos.later { _ in }
        #expect(memos.spy.removeAll().count <= 3)
    }
}

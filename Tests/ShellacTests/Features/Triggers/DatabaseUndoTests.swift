// An assignment to a column is an expression here.
// swift-format-ignore-file: NoAssignmentInExpressions

import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Undo")
struct DatabaseUndoTests {
    private let fixture: UndoFixture
    private var queue: DatabaseQueue { fixture.queue }
    private var undo: DatabaseUndo { fixture.undo }

    init() throws { fixture = try Self.make() }

    private static func make(limit: Int? = nil) throws -> UndoFixture {
        try UndoFixture(schema: UndoFixture.memos, tables: ["team", "MEMO", "memo", "code"], limit: limit)
    }

    private func integers(_ sql: String) throws -> [Int?] { try queue.inDatabase { try $0.integers(sql) } }

    @Test("Each transaction is a group, whoever has written, and comes back with its stamps")
    func groups() throws {
        try queue.register(Memo.self)
        #expect(undo.tables == ["team", "MEMO", "code"])
        #expect(!undo.canUndo && !undo.canRedo)
        let memo = Memo("a")
        var dumps = [try fixture.dump()]
        func step(_ body: (Database) throws -> Void) throws {
            fixture.clock.advance()
            try queue.write(body)
            dumps.append(try fixture.dump())
            #expect(undo.undoCount == dumps.count - 1)
        }
        try step { db in try memo.insert(db) }
        try step { db in
            memo.title = "b"
            try memo.updateChanges(db)
            try db.execute(sql: "INSERT INTO memo (title) VALUES ('raw')")
        }
        try step { db in try Memo.all().updateAll(db, Column("score") += 1) }
        try step { db in try memo.delete(db) }
        try step { db in try Memo.deleteAll(db) }
        let end = dumps.count - 1
        for index in (0..<end).reversed() {
            fixture.clock.advance()
            #expect(try undo.undo())
            #expect(try fixture.dump() == dumps[index])
        }
        #expect(try !undo.undo())
        #expect(!undo.canUndo && undo.redoCount == end)
        for index in 1...end {
            #expect(try undo.redo())
            #expect(try fixture.dump() == dumps[index])
        }
        #expect(try !undo.redo())
        // A new change empties the list of changes to redo.
        try undo.undo()
        try queue.write { db in try Memo("new").insert(db) }
        #expect(!undo.canRedo && undo.undoCount == end)
    }

    @Test("Cascaded rows come back, and exchanged unique values are exchanged again")
    func cascades() throws {
        try fixture.write(
            """
            INSERT INTO team VALUES (1, 'x'), (2, 'y'); INSERT INTO memo (title, team) VALUES ('a', 1), ('b', 1), ('c', 2);
            INSERT INTO code VALUES (1, 1), (2, 2), (3, 3)
            """)
        let start = try fixture.dump()
        try fixture.write("DELETE FROM team WHERE id = 1")
        try fixture.write(
            "UPDATE code SET n = n + 10; UPDATE code SET n = CASE n WHEN 11 THEN 2 WHEN 12 THEN 3 ELSE 1 END")
        let end = try fixture.dump()
        #expect(try integers("SELECT COUNT(*) FROM memo") == [1])
        try undo.undo()
        #expect(try integers("SELECT n FROM code ORDER BY id") == [1, 2, 3])
        try undo.undo()
        #expect(try fixture.dump() == start)
        try undo.redo()
        try undo.redo()
        #expect(try fixture.dump() == end)
    }

    @Test("What was rolled back, or changes nothing in the end, is in no group")
    func traces() throws {
        try fixture.write("INSERT INTO code VALUES (1, 1), (2, 2)")
        let start = try fixture.dump()
        #expect(throws: Boom(1)) {
            try queue.write { db in
                try db.execute(sql: "DELETE FROM code")
                throw Boom(1)
            }
        }
        try queue.write { db in
            try db.inSavepoint {
                try db.execute(sql: "UPDATE code SET n = n + 5")
                return .rollback
            }
            expectError("UNIQUE constraint failed: code.n") { try db.execute(sql: "UPDATE code SET n = 9") }
            try db.execute(sql: "INSERT OR IGNORE INTO code VALUES (3, 1), (1, 8)")
            try db.execute(sql: "UPDATE code SET n = 7 WHERE id = 1; UPDATE code SET n = 1 WHERE id = 1")
            try db.execute(sql: "DELETE FROM code WHERE id = 2; INSERT INTO code VALUES (2, 2)")
        }
        try queue.inDatabase { db in
            expectError("UNIQUE constraint failed: code.n") {
                try db.execute(sql: "INSERT INTO code VALUES (4, 4), (5, 1)")
            }
            try db.execute(sql: "UPDATE code SET n = n")
        }
        #expect(try fixture.dump() == start)
        #expect(undo.undoCount == 1)
        // OR FAIL keeps what came before.
        try queue.inDatabase { db in
            expectError("UNIQUE constraint failed: code.n") {
                try db.execute(sql: "INSERT OR FAIL INTO code VALUES (4, 4), (5, 1)")
            }
        }
        #expect(undo.undoCount == 2)
        try undo.undo()
        #expect(try fixture.dump() == start)
    }

    @Test("Statements outside of transactions are groups, also beside transactions in one access")
    func loneStatements() throws {
        try queue.inDatabase { db in
            try db.execute(sql: "INSERT INTO code VALUES (1, 1)")
            #expect(db.lastInsertedRowID == 1)
            try db.execute(sql: "UPDATE code SET n = 2 WHERE id IN (1, 2, 3)")
            #expect(db.changesCount == 1)
            try db.inTransaction {
                try db.execute(sql: "UPDATE code SET n = 3")
                try db.execute(sql: "UPDATE code SET n = 4")
                return .commit
            }
            try db.execute(sql: "UPDATE code SET n = 5")
            try db.execute(sql: "UPDATE code SET n = 6")
            try db.inTransaction {
                try db.execute(sql: "UPDATE code SET n = 7")
                return .commit
            }
        }
        #expect(undo.undoCount == 6)
        for n in [6, 5, 4, 2, 1] {
            try undo.undo()
            #expect(try integers("SELECT n FROM code") == [n])
        }
        try undo.undo()
        #expect(try integers("SELECT n FROM code") == [])
        for _ in 1...6 { try undo.redo() }
        #expect(try integers("SELECT n FROM code") == [7])
    }

    @Test("Many statements outside of transactions are no burden")
    func manyLoneStatements() throws {
        try queue.inDatabase { db in
            for index in 1...3000 { try db.execute(sql: "INSERT INTO code VALUES (\(index), NULL)") }
        }
        #expect(undo.undoCount == 3000)
        try undo.undo()
        #expect(try integers("SELECT COUNT(*) FROM code") == [2999])
    }

    @Test("A commit that was refused, and then succeeds, makes one group")
    func refusedCommit() throws {
        let fixture = try UndoFixture(
            schema: """
                CREATE TABLE a (id INTEGER PRIMARY KEY, n);
                CREATE TABLE b (id INTEGER PRIMARY KEY, a REFERENCES a DEFERRABLE INITIALLY DEFERRED);
                """, tables: ["a", "b"])
        let start = try fixture.dump()
        try fixture.queue.inDatabase { db in
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO b VALUES (1, 1), (2, NULL)")
            expectError("FOREIGN KEY constraint failed (the transaction is still open)") { try db.commit() }
            try db.execute(sql: "INSERT INTO a VALUES (1, 1); DELETE FROM b WHERE id = 2")
            try db.commit()
        }
        #expect(fixture.undo.undoCount == 1)
        let end = try fixture.dump()
        try fixture.undo.undo()
        #expect(try fixture.dump() == start)
        try fixture.undo.redo()
        #expect(try fixture.dump() == end)
        // One that undoes in the second part what the first one did changes nothing.
        try fixture.queue.inDatabase { db in
            try db.beginTransaction()
            try db.execute(sql: "INSERT INTO b VALUES (7, 7)")
            expectError("FOREIGN KEY constraint failed (the transaction is still open)") { try db.commit() }
            try db.execute(sql: "DELETE FROM b WHERE id = 7")
            try db.commit()
        }
        #expect(fixture.undo.undoCount == 1)
        #expect(try fixture.dump() == end)
    }

    @Test("A limit drops the oldest groups")
    func limit() throws {
        let fixture = try Self.make(limit: 2)
        for index in 1...4 { try fixture.write("INSERT INTO code VALUES (\(index), \(index))") }
        #expect(fixture.undo.undoCount == 2)
        try fixture.undo.undo()
        try fixture.undo.undo()
        #expect(try !fixture.undo.undo())
        #expect(fixture.undo.redoCount == 2)
        #expect(try fixture.queue.inDatabase { try $0.integers("SELECT id FROM code") } == [1, 2])
    }

    @Test("Record types stand for their tables, which must be there")
    func types() throws {
        struct Code: TableRecord {}
        struct Missing: TableRecord {}
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in try db.execute(sql: "CREATE TABLE code (n)") }
        let error = databaseError { _ = try DatabaseUndo(queue, Code.self, Missing.self) }
        #expect(error?.message?.contains("no such table: main.missing") == true)
        let undo = try DatabaseUndo(queue, Code.self, limit: 1)
        #expect(undo.tables == ["code"])
        try queue.write { db in try db.execute(sql: "INSERT INTO code VALUES (1)") }
        #expect(try undo.undo())
        #expect(try queue.inDatabase { db in try db.integers("SELECT n FROM code") } == [])
    }

    @Test("Groups have names, which follow their transactions")
    func names() throws {
        let none = databaseError { try queue.inDatabase { try undo.setActionName("none", in: $0) } }
        #expect(none?.message?.contains("there is no group that could be named none") == true)
        try queue.write { db in
            try undo.setActionName("Draft", in: db)
            try db.execute(sql: "INSERT INTO code VALUES (1, 1)")
            try db.inSavepoint {
                try undo.setActionName("Lost", in: db)
                return .rollback
            }
            try undo.setActionName("Insert", in: db)
            try db.inSavepoint {
                try undo.setActionName("Lost, too", in: db)
                return .rollback
            }
        }
        #expect(undo.undoName == "Insert")
        try queue.write { db in try undo.setActionName("Nothing", in: db) }
        #expect(undo.undoCount == 1 && undo.undoName == "Insert")
        try fixture.write("UPDATE code SET n = 2")
        #expect(undo.undoName == nil)
        try queue.inDatabase { db in try undo.setActionName("Change", in: db) }
        #expect(undo.undoName == "Change")
        try queue.inDatabase { db in
            try db.execute(sql: "UPDATE code SET n = 3")
            try undo.setActionName("Alone", in: db)
        }
        #expect(undo.undoName == "Alone")
        try undo.undo()
        #expect(undo.undoName == "Change" && undo.redoName == "Alone")
        try undo.undo()
        #expect(undo.undoName == "Insert" && undo.redoName == "Change")
        try undo.redo()
        #expect(undo.undoName == "Change" && undo.redoName == "Alone")
        let other = try DatabaseQueue()
        let error = databaseError { try other.inDatabase { try undo.setActionName("x", in: $0) } }
        #expect(error?.message?.contains("cannot be named with the Database of") == true)
    }

    @Test("What is not recorded cannot be undone, and its rows are in the way of older groups")
    func withoutRecording() throws {
        try fixture.write("INSERT INTO code VALUES (1, 1), (2, 2)")
        try queue.write { db in
            let count = try undo.withoutRecording {
                try undo.withoutRecording { try db.execute(sql: "UPDATE code SET n = 5 WHERE id = 2") }
                return db.changesCount
            }
            #expect(count == 1)
            #expect(throws: Boom(2)) { try undo.withoutRecording { throw Boom(2) } }
            try db.execute(sql: "UPDATE code SET n = 6 WHERE id = 1")
        }
        #expect(undo.undoCount == 2)
        try undo.undo()
        let dump = try fixture.dump()
        let error = #expect(throws: DatabaseUndoConflict.self) { try undo.undo() }
        #expect(error?.tableName == "code" && error?.key == ["id": 2.databaseValue])
        #expect(
            error?.description
                == "cannot undo: the row of code with id: 2 was changed since without being recorded")
        #expect(try fixture.dump() == dump)
        #expect(undo.undoCount == 1 && undo.redoCount == 1)
        try undo.redo()
        // Outside of an access, it might be another thread that is not recorded.
        let late = databaseError { try undo.withoutRecording {} }
        #expect(late?.message?.contains("inside of one") == true)
    }

    @Test("All groups can be forgotten, also inside of a transaction")
    func removingAll() throws {
        try fixture.write("INSERT INTO code VALUES (1, 1)")
        try fixture.write("INSERT INTO code VALUES (2, 2)")
        try undo.undo()
        try undo.removeAll()
        #expect(!undo.canUndo && !undo.canRedo)
        try queue.write { db in
            try db.execute(sql: "INSERT INTO code VALUES (3, 3)")
            try undo.removeAll()
        }
        #expect(undo.undoCount == 1)
        try? queue.write { _ in
            try undo.removeAll()
            throw Boom()
        }
        #expect(undo.undoCount == 1)
        try undo.undo()
        #expect(try integers("SELECT id FROM code") == [1])
    }
}

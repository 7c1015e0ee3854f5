import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Undo, and who is beside it")
struct DatabaseUndoObserversTests {
    private let fixture: UndoFixture
    private var queue: DatabaseQueue { fixture.queue }
    private var undo: DatabaseUndo { fixture.undo }

    init() throws { fixture = try UndoFixture(schema: UndoFixture.memos, tables: ["team", "memo", "code"]) }

    private func integers(_ sql: String) throws -> [Int?] { try queue.inDatabase { try $0.integers(sql) } }

    @Test("Inside of an access undo throws, and the access goes on")
    func reentrance() throws {
        try fixture.write("INSERT INTO code VALUES (1, 1)")
        let spy = ObserverSpy()
        let errors = Recorder<String>()
        spy.onCommit = { _ in errors.record("\(databaseError { try undo.undo() }?.resultCode as Any)") }
        queue.add(transactionObserver: spy)
        try queue.write { db in
            try db.execute(sql: "UPDATE code SET n = 2")
            for error in [databaseError { try undo.undo() }, databaseError { try undo.redo() }] {
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(error?.message?.contains("inside of an access") == true)
            }
        }
        #expect(errors.elements.count == 1 && errors.elements[0].contains("21"))
        try queue.inDatabase { _ in
            expectError(
                "undo() was called inside of an access to the database, whose transaction is not a group "
                    + "yet: call it after the access, or roll back the transaction"
            ) { try undo.undo() }
        }
        queue.remove(transactionObserver: spy)
        try undo.undo()
        #expect(try integers("SELECT n FROM code") == [1])
    }

    @Test("Tasks undo and redo, and are cancelled without a trace")
    func tasks() async throws {
        try fixture.write("INSERT INTO code VALUES (1, 1)")
        #expect(try await undo.undo())
        #expect(try await !undo.undo())
        #expect(undo.canRedo)
        #expect(try await undo.redo())
        #expect(try await queue.read { try $0.integers("SELECT id FROM code") } == [1])
        let (queue, undo) = (queue, undo)
        let hold = try await Hold(queue)
        let task = Task { try await undo.undo() }
        task.cancel()
        let result = await task.result
        try await hold.release()
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(undo.undoCount == 1)
        #expect(try await undo.undo())
    }

    @Test("Observers hear of undo as of other changes, and of nothing that records them")
    func observers() throws {
        let spy = ObserverSpy()
        try queue.add(transactionObserver: spy, options: .hiddenChanges)
        try fixture.write("INSERT INTO code VALUES (1, 1), (2, 2)")
        let transaction = ["insert code 1", "insert code 2", "willCommit", "didCommit"]
        #expect(spy.removeAll() == transaction)
        try fixture.execute("UPDATE code SET n = 3 WHERE id = 2")
        #expect(spy.removeAll() == ["update code 2", "willCommit", "didCommit"])
        try undo.undo()
        #expect(spy.removeAll() == ["update code 2", "willCommit", "didCommit"])
        try undo.undo()
        #expect(spy.removeAll() == ["delete code 1", "delete code 2", "willCommit", "didCommit"])
        try undo.redo()
        #expect(spy.removeAll() == transaction)
        #expect(spy.questions.allSatisfy { !$0.tableName.hasPrefix("shellac") })
        // An undo of nothing notifies of a transaction that has changed nothing.
        try undo.removeAll()
        spy.removeAll()
        try undo.undo()
        #expect(spy.removeAll() == ["willCommit", "didCommit"])
    }

    @Test("Only the columns that have changed are updated")
    func updatedColumns() throws {
        try fixture.write("INSERT INTO memo (title, score) VALUES ('a', 1)")
        try fixture.write("UPDATE memo SET title = 'A', score = 1")
        let spy = ObserverSpy()
        spy.filter = { if case .update(_, let columns) = $0 { !columns.isEmpty } else { false } }
        queue.add(transactionObserver: spy)
        try undo.undo()
        #expect(spy.questions.contains(.update(tableName: "memo", columnNames: ["title"])))
        #expect(spy.log.contains("update memo 1"))
    }

    @Test("Two undos on one connection keep their own groups")
    func two() throws {
        let other = try DatabaseUndo(queue, tables: ["code"])
        try fixture.write("INSERT INTO code VALUES (1, 1); INSERT INTO team VALUES (1, 'x')")
        try fixture.write("INSERT INTO team VALUES (2, 'y')")
        #expect(undo.undoCount == 2 && other.undoCount == 1)
        // For the other, an undo is a change like any other.
        try undo.undo()
        try undo.undo()
        #expect(other.undoCount == 2)
        try other.undo()
        #expect(try integers("SELECT id FROM code") == [1])
        #expect(try integers("SELECT id FROM team") == [])
    }

    @Test("When nobody can undo any more, nothing is recorded, and nothing is left behind")
    func end() throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY)") }
        do {
            let undo = try DatabaseUndo(queue, tables: ["t"])
            try queue.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
            #expect(undo.canUndo)
        }
        try queue.write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
        let (count, isUsable) = try queue.inDatabase { db in
            (try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM temp.sqlite_master"), try db.isUsable())
        }
        #expect(count == 0 && isUsable)
        try queue.close()
    }
}

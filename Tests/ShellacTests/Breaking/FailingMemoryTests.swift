import CSQLite
import FailingMemory
import ShellacTesting
import TestSupport
import Testing

@testable import Shellac

/// An allocation of SQLite that fails.
private final class MemoryFault: SteppedFault {
    private let count: Int
    private let lasts: Bool
    private(set) var hasStruck = false

    init(after count: Int, lasts: Bool) { (self.count, self.lasts) = (count, lasts) }

    /// (SQLite allocates on the thread of the access, which is that of the caller.)
    func strike(_ writer: any DatabaseWriter, _ body: () throws -> Void) throws {
        shellac_test_fail_memory(count, lasts ? 1 : 0)
        let outcome = Result { try body() }
        hasStruck = shellac_test_restore_memory() > 0
        // If there was no memory to roll back, this access does it.
        if lasts { try writer.inDatabase { _ in } }
        try outcome.get()
    }

    func causes(_ error: DatabaseError) -> Bool {
        error.resultCode == .SQLITE_NOMEM || error.extendedResultCode == .SQLITE_IOERR_NOMEM
    }
}

/// A workload for which SQLite finds no memory changes nothing, whichever allocation fails.
///
/// The gate fails some allocations of each workload. `SHELLAC_BREAKING_STRIDE=1` fails all of them.
@Suite("Memory whose nth allocation fails")
struct FailingMemoryTests {
    private static let stride = environmentNumber("SHELLAC_BREAKING_STRIDE")

    private func queue() throws -> DatabaseQueue {
        shellac_test_refuse_reserves(1)
        let queue = try DatabaseQueue(configuration: StampClock().configuration())
        shellac_test_refuse_reserves(0)
        try queue.inDatabase { db in
            var (present, hits): (Int32, Int32) = (0, 0)
            sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_LOOKASIDE_HIT, &present, &hits, 0)
            try #require(hits == 0, "SQLite has a reserve")
        }
        return queue
    }

    private func run(_ workload: Workload) throws -> BrokenRun {
        let queue = try queue()
        try Workload.fill(queue)
        return try BrokenRun(workload, queue)
    }

    @Test(
        "leaves the rows, the records and the connection as they were",
        arguments: Workload.all, [false, true])
    func fails(_ workload: Workload, lasts: Bool) throws {
        let (failures, forgiven) = try BrokenRun.strikeEverywhere(
            stride: Self.stride ?? 251, run: { try run(workload) },
            fault: { MemoryFault(after: $0, lasts: lasts) },
            named: { "the allocation after \($0)\(lasts ? " and all later ones" : "")" })
        #expect(failures > 0)
        if Self.stride != nil {
            print("\(workload.name)\(lasts ? ", lasting" : ""): \(failures) failures, \(forgiven) forgiven")
        }
    }

    // MARK: - Where a transaction ends

    /// An observed table with no row.
    private func heroes(_ spy: ObserverSpy) throws -> DatabaseQueue {
        let queue = try queue()
        try queue.write { db in try db.execute(sql: "CREATE TABLE hero (name TEXT)") }
        queue.add(transactionObserver: spy, extent: .databaseLifetime)
        return queue
    }

    private func names(_ queue: DatabaseQueue) throws -> [String] {
        try queue.read { db in try String.fetchAll(db, sql: "SELECT name FROM hero ORDER BY name") }
    }

    @Test(
        "A statement does not run alone if its transaction is lost while the schema is read for observers",
        .behaviour(45))
    func question() throws {
        var (count, failures) = (0, 0)
        while true {
            let queue = try heroes(ObserverSpy())
            var thrown: (any Error)?
            shellac_test_fail_memory(count, 0)
            do {
                try queue.write { db in
                    try db.execute(sql: "CREATE VIEW names AS SELECT name FROM hero")
                    try db.execute(sql: "INSERT INTO hero VALUES ('Arthur')")
                }
            } catch { thrown = error }
            guard shellac_test_restore_memory() > 0 else { break }
            if thrown != nil { failures += 1 }
            try #expect(names(queue) == (thrown == nil ? ["Arthur"] : []), "the allocation after \(count)")
            count += 1
        }
        #expect(failures > 100)
    }

    @Test("The connection rolls a transaction back without memory, and notifies observers at once")
    func rollback() throws {
        let spy = ObserverSpy()
        let queue = try heroes(spy)
        #expect(throws: TestError(1)) {
            try queue.write { db in
                try db.execute(sql: "INSERT INTO hero VALUES ('Arthur')")
                spy.removeAll()
                shellac_test_fail_memory(0, 1)
                throw TestError(1)
            }
        }
        #expect(spy.log == ["didRollback"])
        _ = shellac_test_restore_memory()
        try #expect(names(queue) == [])
    }

    @Test(
        "The next access rolls a transaction back that the last one could not end"
    )
    func nextAccess() throws {
        let spy = ObserverSpy()
        let queue = try heroes(spy)
        #expect(throws: TestError(1)) {
            try queue.write { db in
                try db.execute(sql: "INSERT INTO hero VALUES ('Arthur')")
                // SQLite prepares all statements again afterwards.
                try db.execute(sql: "CREATE INDEX names ON hero (name)")
                shellac_test_fail_memory(0, 1)
                throw TestError(1)
            }
        }
        _ = shellac_test_restore_memory()
        try queue.write { db in
            #expect(spy.log.last == "didRollback")
            try #expect(db.indexes(on: "hero").isEmpty)
            try db.execute(sql: "INSERT INTO hero VALUES ('Lancelot')")
        }
        try #expect(names(queue) == ["Lancelot"])
    }

    @Test(
        "A transaction refuses statements and its commit if it could not roll a failed savepoint back",
        .behaviour(45))
    func savepoint() throws {
        let queue = try heroes(ObserverSpy())
        try queue.inDatabase { db in
            let error = thrownError {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO hero VALUES ('Arthur')")
                    #expect(throws: TestError(1)) {
                        try db.inSavepoint {
                            try db.execute(sql: "INSERT INTO hero VALUES ('Lancelot')")
                            try db.execute(sql: "CREATE INDEX names ON hero (name)")
                            shellac_test_fail_memory(0, 1)
                            throw TestError(1)
                        }
                    }
                    _ = shellac_test_restore_memory()
                    #expect(throws: DatabaseError.self) {
                        try db.execute(sql: "INSERT INTO hero VALUES ('Kay')")
                    }
                    return .commit
                }
            }
            #expect((error as? DatabaseError)?.resultCode == .SQLITE_NOMEM)
            #expect(!db.isInsideTransaction)
        }
        try #expect(names(queue) == [])
        try queue.write { db in try db.execute(sql: "INSERT INTO hero VALUES ('Gawain')") }
        try #expect(names(queue) == ["Gawain"])
    }

    @Test(
        "The access or the program ends such a transaction if it has no scope",
        arguments: [false, true])
    func transactionWithoutScope(isEndedByProgram: Bool) throws {
        let queue = try heroes(ObserverSpy())
        let error = thrownError {
            try queue.inDatabase { db in
                try db.beginTransaction()
                try db.execute(sql: "INSERT INTO hero VALUES ('Arthur')")
                try? db.inSavepoint {
                    try db.execute(sql: "CREATE INDEX names ON hero (name)")
                    shellac_test_fail_memory(0, 1)
                    throw TestError(1)
                }
                _ = shellac_test_restore_memory()
                if isEndedByProgram {
                    try db.rollback()
                    try db.execute(sql: "INSERT INTO hero VALUES ('Lancelot')")
                } else {
                    try db.commit()
                }
            }
        }
        #expect((error as? DatabaseError)?.resultCode == (isEndedByProgram ? nil : .SQLITE_NOMEM))
        try #expect(names(queue) == (isEndedByProgram ? ["Lancelot"] : []))
        try queue.write { db in try db.execute(sql: "INSERT INTO hero VALUES ('Merlin')") }
        try #expect(names(queue) == (isEndedByProgram ? ["Lancelot", "Merlin"] : ["Merlin"]))
    }
}

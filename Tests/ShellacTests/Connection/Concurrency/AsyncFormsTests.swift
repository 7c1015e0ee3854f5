import Foundation
import Shellac
import TestSupport
import Testing

/// The asynchronous forms of backups, VACUUM, closing and registering.
@Suite(.behaviour(121)) struct AsyncFormsTests {
    enum Form: String, CaseIterable {
        case backup, vacuum, vacuumInto, register, registerTable, close
    }

    final class Dated: Record {
        var id: Int64?
        override class var databaseTableName: String { "dated" }
        override class var databaseStamps: DatabaseStamps { DatabaseStamps(updated: "updatedAt") }
    }

    private let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
        try file.queue().write { db in
            try db.execute(sql: "CREATE TABLE dated (id INTEGER PRIMARY KEY, updatedAt TEXT)")
            for number in 0..<200 { try db.insert("\(number)" + String(repeating: "x", count: 500)) }
        }
    }

    private func backUp(
        _ writer: any DatabaseWriter, to copy: DatabaseQueue, pagesPerStep: Int = 1_000,
        _ progress: @escaping @Sendable (DatabaseBackupProgress) throws -> Void
    ) async throws {
        if let queue = writer as? DatabaseQueue {
            try await queue.backup(to: copy, pagesPerStep: pagesPerStep, progress: progress)
        } else if let pool = writer as? DatabasePool {
            try await pool.backup(to: copy, pagesPerStep: pagesPerStep, progress: progress)
        }
    }

    private func perform(
        _ form: Form, on writer: any DatabaseWriter, _ number: Int = 0, copy: DatabaseQueue? = nil
    ) async throws {
        switch form {
        case .backup:
            try await backUp(writer, to: copy ?? DatabaseQueue()) { _ in }
        case .vacuum: try await writer.vacuum()
        case .vacuumInto: try await writer.vacuum(into: file.folder.path + "/copy\(number).sqlite")
        case .register: try await writer.register(Dated.self)
        case .registerTable:
            try await writer.register(DatabaseStamps(updated: "updatedAt"), on: "dated")
        case .close: try await writer.close()
        }
    }

    @Test(
        "While they wait, they block no thread on which tasks run", arguments: Form.allCases, Writer.allCases)
    func waiting(form: Form, writer: Writer) async throws {
        let database = try writer.open(file)
        // A backup of a pool reads beside the writer, and waits for its destination.
        let copy = try DatabaseQueue()
        let held: any DatabaseWriter = form == .backup && writer == .pool ? copy : database
        let hold = try await Hold(held)
        // Swift's pool has one thread for each core.
        let count = ProcessInfo.processInfo.activeProcessorCount + 4
        try await withThrowingTaskGroup { group in
            for number in 0..<count {
                group.addTask { try await perform(form, on: database, number, copy: copy) }
            }
            for _ in 0..<100 { await Task.detached {}.value }
            try await hold.release()
            try await group.waitForAll()
        }
        switch form {
        case .backup: try #expect(copy.names().count == 200)
        case .vacuumInto:
            try #expect(DatabaseQueue(path: file.folder.path + "/copy0.sqlite").names().count == 200)
        case .register, .registerTable:
            let date = try await database.write { db in
                try db.execute(sql: "INSERT INTO dated DEFAULT VALUES")
                return try String.fetchOne(db, sql: "SELECT updatedAt FROM dated")
            }
            #expect(date != nil)
        case .close:
            #expect(thrownError { _ = try database.names() } as? DatabaseError != nil)
        case .vacuum: try #expect(database.names().count == 200)
        }
    }

    @Test("A cancelled backup leaves its destination as it was", arguments: Writer.allCases)
    func cancelledBackup(writer: Writer) async throws {
        let database = try writer.open(file)
        let copy = try DatabaseQueue.withPlayers()
        try await copy.write { db in try db.insert("Arthur") }
        let steps = Shared(0)
        let task = Task {
            @Sendable func cancel(_ progress: DatabaseBackupProgress) {
                steps.withLock { $0 += 1 }
                withUnsafeCurrentTask { $0?.cancel() }
            }
            try await backUp(database, to: copy, pagesPerStep: 1, cancel)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(steps.value == 1)
        try #expect(copy.names() == ["Arthur"])
        // Both can be used on.
        try await perform(.backup, on: database, copy: copy)
        try #expect(copy.names().count == 200)
    }

    @Test("What is cancelled before its turn does nothing", arguments: [Form.backup, .vacuumInto, .register])
    func cancelled(form: Form) async throws {
        let database = try file.queue()
        let hold = try await Hold(database)
        let task = Task { try await perform(form, on: database, 7) }
        task.cancel()
        if form != .backup {
            // It leaves the line at once.
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        try await hold.release()
        if form == .backup { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(!FileManager.default.fileExists(atPath: file.folder.path + "/copy7.sqlite"))
        let date = try await database.write { db in
            try db.execute(sql: "INSERT INTO dated DEFAULT VALUES")
            return try String.fetchOne(db, sql: "SELECT updatedAt FROM dated")
        }
        #expect(date == nil)
    }

    @Test("A backup and VACUUM report their progress, and end by an error that it throws")
    func progress() async throws {
        let (queue, copy) = (try file.queue(), try DatabaseQueue.withPlayers())
        let reports = Shared<[Int]>([])
        try await queue.backup(to: copy, pagesPerStep: 10) { progress in
            reports.withLock { $0.append(progress.completedPageCount) }
        }
        #expect(reports.value.count > 2 && reports.value == reports.value.sorted())
        await #expect(throws: TestError(3)) {
            try await queue.backup(to: copy, pagesPerStep: 10) { _ in throw TestError(3) }
        }
        try #expect(copy.names().count == 200)
        let whole = Shared<WorkProgress?>(nil)
        try await queue.vacuum { progress in whole.withLock { $0 = progress } }
        #expect(whole.value?.isCompleted == true)
        await #expect(throws: TestError(4)) { try await queue.vacuum { _ in throw TestError(4) } }
        try #expect(queue.names().count == 200)
    }

    @Test("A snapshot is copied and closed")
    func snapshots() async throws {
        let pool = try file.pool()
        let snapshot = try pool.makeSnapshot()
        try await pool.write { db in try db.insert("later") }
        let copy = try DatabaseQueue()
        try await snapshot.backup(to: copy)
        try #expect(copy.names().count == 200)
        // The snapshot keeps its pool open, and the error says so.
        let error = await #expect(throws: DatabaseError.self) { try await pool.close() }
        #expect(error?.resultCode == .SQLITE_BUSY && error?.message?.contains("snapshot") == true)
        try await snapshot.close()
        try await pool.close()
        let closed = await #expect(throws: DatabaseError.self) { try await pool.read { _ in } }
        #expect(closed?.resultCode == .SQLITE_MISUSE)
        // Closing again is nothing.
        try await pool.close()
    }

    @Test("Errors are those of the synchronous forms")
    func errors() async throws {
        let queue = try file.queue()
        let missing = await #expect(throws: DatabaseError.self) {
            try await queue.register(DatabaseStamps(updated: "updatedAt"), on: "nowhere")
        }
        #expect(missing?.message?.contains("nowhere") == true)
        let path = await #expect(throws: DatabaseError.self) { try await queue.vacuum(into: "a\0b") }
        #expect(path?.message == "there is a NUL character in the path")
        let taken = await #expect(throws: DatabaseError.self) { try await queue.vacuum(into: file.path) }
        #expect(taken?.resultCode == .SQLITE_ERROR)
        var readonly = Configuration()
        readonly.readonly = true
        let reader = try DatabaseQueue(path: file.path, configuration: readonly)
        let refused = await #expect(throws: DatabaseError.self) { try await queue.backup(to: reader) }
        #expect(refused?.resultCode == .SQLITE_READONLY)
        try #expect(queue.names().count == 200)
    }
}

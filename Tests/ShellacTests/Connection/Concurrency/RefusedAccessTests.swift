import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Asynchronous accesses that are refused", .behaviour(83))
struct RefusedAccessTests {
    @Test(
        "The callback of one may wait for an access to another database that tasks wait for, too",
        arguments: ["read", "write"])
    func waitingCallback(verb: String) async {
        await #expect(processExitsWith: .success) { [verb] in
            // It ends a process that hangs.
            Thread {
                Thread.sleep(forTimeInterval: 120)
                exit(9)
            }.start()
            let folder = try TemporaryFolder()
            let service = try DatabaseQueue(path: folder.path("service.sqlite"))
            let log = try DatabaseQueue(path: folder.path("log.sqlite"))
            try await log.write { db in try db.execute(sql: "CREATE TABLE log (message)") }
            let running = Task { try await service.run() }
            try await Task.sleep(for: .milliseconds(50))
            running.cancel()
            _ = await running.result
            let (inside, end, logged) = (Gate(), Gate(), Gate())
            let busy = Task {
                try await log.write { _ in
                    inside.open()
                    try end.wait()
                }
            }
            try await waitUntil { inside.isOpen }
            let task = Task {
                try await log.write { db in try db.execute(sql: "INSERT INTO log VALUES ('task')") }
            }
            try await Task.sleep(for: .milliseconds(100))
            let tell: @Sendable (Bool) -> Void = { isRefused in
                #expect(isRefused)
                #expect(throws: Never.self) {
                    try log.write { db in try db.execute(sql: "INSERT INTO log VALUES ('refused')") }
                }
                logged.open()
            }
            switch verb {
            case "read": service.asyncRead { result in tell((try? result.get()) == nil) }
            default:
                service.asyncBarrierWriteWithoutTransaction { result in tell((try? result.get()) == nil) }
            }
            try await Task.sleep(for: .milliseconds(100))
            end.open()
            try await busy.value
            try await task.value
            try await waitUntil { logged.isOpen }
            let messages = try await log.read { db in try String.fetchAll(db, sql: "SELECT message FROM log")
            }
            #expect(messages.sorted() == ["refused", "task"])
        }
    }

    @Test(
        "The completion of a write is called with the error that refuses it, and with a database that throws",
        arguments: Writer.allCases)
    func completion(writer: Writer) async throws {
        let file = try TemporaryDatabase()
        let database = try writer.open(file)
        try await database.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
        let (told, ended) = (Recorder<String>(), Gate())
        try await database.close()
        database.asyncWrite { _ in
            told.record("written")
        } completion: { db, result in
            if case .failure(let error) = result { told.record("\(error)") }
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO t VALUES (1)") }
            ended.open()
        }
        try await waitUntil { ended.isOpen }
        #expect(told.elements.count == 1)
        #expect(told.elements.first?.contains("closed") == true)
    }

    @Test("The completion of a write to a service that has ended is called with its error")
    func completionOfService() async throws {
        let folder = try TemporaryFolder()
        let service = try DatabaseQueue(path: folder.path("service.sqlite"))
        let running = Task { try await service.run() }
        try await Task.sleep(for: .milliseconds(50))
        running.cancel()
        try await running.value
        let (told, ended) = (Recorder<Bool>(), Gate())
        service.asyncWrite { _ in
            told.record(false)
        } completion: { _, result in
            if case .failure = result { told.record(true) }
            ended.open()
        }
        try await waitUntil { ended.isOpen }
        #expect(told.elements == [true])
    }

    @Test("Hundreds of databases that rest keep few threads", .behaviour(118))
    func restingThreads() async {
        await #expect(processExitsWith: .success) {
            func threadCount() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
            }
            let before = try threadCount()
            var queues: [DatabaseQueue] = []
            for _ in 0..<200 {
                let queue = try DatabaseQueue()
                try await queue.write { db in try db.execute(sql: "CREATE TABLE t (a)") }
                queues.append(queue)
            }
            let after = try threadCount()
            #expect(after <= before + 60, "\(before) threads became \(after)")
            withExtendedLifetime(queues) {}
        }
    }
}

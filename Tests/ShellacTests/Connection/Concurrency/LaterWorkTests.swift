import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("What is done later, and nobody waits for")
struct LaterWorkTests {
    @Test("It is done, whoever lets go of the database meanwhile", arguments: Writer.allCases)
    func kept(writer: Writer) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("later.sqlite")
        let (isInside, mayGo, ended) = (Gate(), Gate(), Gate())
        func begin() throws {
            let database: any DatabaseWriter =
                switch writer {
                case .queue: try DatabaseQueue(path: path)
                case .pool: try DatabasePool(path: path)
                }
            try database.write { db in try db.createPlayers() }
            // One is running when its database is released, and the others wait in line.
            database.asyncWriteWithoutTransaction { db in
                isInside.open()
                #expect(throws: Never.self) {
                    try mayGo.wait()
                    try db.insert("first")
                }
            }
            database.asyncWrite { db in
                try db.insert("second")
            } completion: { _, result in
                #expect(throws: Never.self) { try result.get() }
            }
            database.asyncBarrierWriteWithoutTransaction { result in
                #expect(throws: Never.self) { try result.get().insert("third") }
            }
            database.asyncWriteWithoutTransaction { db in
                #expect(throws: Never.self) { try #expect(db.names() == ["first", "second", "third"]) }
                ended.open()
            }
        }
        try begin()
        try await waitUntil { isInside.isOpen }
        mayGo.open()
        try await waitUntil { ended.isOpen }
        // Then it is closed.
        try await waitUntil { try folder.openFiles() == [] }
        let queue = try DatabaseQueue(path: path)
        try #expect(await queue.read { db in try db.names() } == ["first", "second", "third"])
    }

    /// An object that reports its release.
    private final class Witness: Sendable {
        private let onDeinit: @Sendable () -> Void
        init(_ onDeinit: @escaping @Sendable () -> Void) { self.onDeinit = onDeinit }
        deinit { onDeinit() }
    }

    @Test(
        "An object that its function holds may wait for an access when it is let go of, behind tasks that wait",
        arguments: Writer.allCases)
    func comesBack(writer: Writer) async throws {
        let file = try TemporaryDatabase()
        let database = try writer.open(file)
        let hold = try await Hold(database)
        let written = Recorder<Int>()
        // This thread may be the last one to let go of a witness, which then waits for the hold.
        let asking = RunningThread {
            for number in 1...4 {
                let witness = Witness { [weak database] in
                    try? database?.write { db in try db.insert("deinit \(number)") }
                    written.record(number)
                }
                if number == 4 {
                    database.asyncRead { _ in withExtendedLifetime(witness) {} }
                } else {
                    database.asyncWriteWithoutTransaction { _ in withExtendedLifetime(witness) {} }
                }
            }
        }
        try await waitUntil { database.waitingWriterCount >= (writer == .queue ? 4 : 3) }
        let tasks = (0..<20).map { number in
            Task { try await database.write { db in try db.insert("task \(number)") } }
        }
        try await hold.release()
        for task in tasks { try await task.value }
        try await waitUntil { written.elements.count == 4 }
        try asking.join()
        try #expect(await database.read { db in try db.names().count } == 24)
    }
}

import Foundation
import TestSupport
import Testing

@testable import Shellac

/// The connections that a thread has the access to, which are found without asking another thread.
@Suite("Connections in use")
struct AccessedConnectionsTests {
    @Test(
        "A thread has the access to those whose closures it is in, the innermost first, and to no closed one")
    func nested() throws {
        let (queue, other) = (try DatabaseQueue(), try DatabaseQueue())
        #expect(Database.accessed.isEmpty)
        try queue.inDatabase { db in
            #expect(identities == [ObjectIdentifier(db)])
            try other.write { inner in
                #expect(identities == [ObjectIdentifier(inner), ObjectIdentifier(db)])
                // No other thread has it.
                try #expect(DatabaseQueue().read { _ in Database.accessed.count } == 3)
            }
            #expect(throws: CancellationError.self) { try other.write { _ in throw CancellationError() } }
            #expect(identities == [ObjectIdentifier(db)])
        }
        #expect(Database.accessed.isEmpty)
    }

    private var identities: [ObjectIdentifier] { Database.accessed.map(ObjectIdentifier.init) }

    @Test(
        "Other threads have the access to their own ones, also in tasks and later", arguments: Writer.allCases
    )
    func threads(kind: Writer) async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let writer = try kind.open(file) { _ in }
        let hold = try await Hold(writer)
        try await onThread { #expect(Database.accessed.isEmpty) }
        try await hold.release()
        let isAlone: @Sendable (Database) -> Bool = { db in
            Database.accessed.count == 1 && Database.accessed.first === db
        }
        #expect(try await writer.read { db in isAlone(db) })
        #expect(try await writer.write { db in isAlone(db) })
        let told = Recorder<Bool>()
        writer.asyncRead { result in told.record((try? result.get()).map(isAlone) ?? false) }
        writer.asyncWriteWithoutTransaction { db in told.record(isAlone(db)) }
        try await waitUntil { told.elements.count == 2 }
        #expect(told.elements == [true, true])
    }

    @Test("They are found while others are opened and freed", .timeLimit(.minutes(10)))
    func freed() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let isEnding = Shared(false)
            for _ in 0..<2 {
                group.addTask {
                    try await onThread {
                        let queue = try DatabaseQueue()
                        try queue.inDatabase { db in
                            while !isEnding.value {
                                for _ in 0..<1_000 where Database.accessed.first !== db {
                                    Issue.record("lost")
                                }
                            }
                        }
                    }
                }
            }
            group.addTask {
                try await onThread {
                    for _ in 0..<500 { _ = try DatabaseQueue() }
                    isEnding.withLock { $0 = true }
                }
            }
            try await group.waitForAll()
        }
    }

    /// The databases that cannot be opened.
    enum Failing: String, CaseIterable, Sendable {
        case queue, pool, reader, snapshot, snapshotPool

        func open(_ path: String, _ configuration: (_ failing: Int) -> Configuration) throws {
            switch self {
            case .queue: _ = try DatabaseQueue(path: path, configuration: configuration(1))
            case .pool: _ = try DatabasePool(path: path, configuration: configuration(1))
            case .reader: _ = try DatabasePool(path: path, configuration: configuration(2))
            case .snapshot: _ = try DatabasePool(path: path, configuration: configuration(3)).makeSnapshot()
            case .snapshotPool:
                _ = try DatabasePool(path: path, configuration: configuration(5)).makeSnapshotPool(
                    readerCount: 4)
            }
        }
    }

    @Test(
        "A connection that cannot be set up is closed, and so are those before it",
        arguments: Failing.allCases)
    func failing(kind: Failing) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("test.sqlite")
        try await onThread {
            let opened = Shared(0)
            let error = #expect(throws: DatabaseError.self) {
                try kind.open(path) { failing in
                    var configuration = Configuration()
                    configuration.prepareDatabase { db in
                        opened.withLock { $0 += 1 }
                        if opened.value == failing { try db.execute(sql: "SELECT * FROM missing") }
                    }
                    return configuration
                }
            }
            #expect(error?.message?.contains("missing") == true)
            #expect(opened.value == [1, 1, 2, 3, 5][Failing.allCases.firstIndex(of: kind) ?? 0])
        }
        #expect(try folder.openFiles() == [])
    }
}

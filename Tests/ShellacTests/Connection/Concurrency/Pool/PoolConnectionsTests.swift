import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("DatabasePool: connections that are replaced", .behaviour(80, 81))
struct PoolConnectionsTests {
    private let file: TemporaryDatabase
    private let pool: DatabasePool

    init() throws {
        file = try TemporaryDatabase()
        pool = try file.pool()
        try pool.write { db in try db.insert("Arthur") }
    }

    @Test("Invalidated readers are opened anew when they are used, and those that read end first")
    func invalidate() async throws {
        let number = Shared(0)
        let pool = try file.pool { configuration in
            configuration.maximumReaderCount = 2
            configuration.prepareDatabase { db in
                let prepared = number.withLock { number in
                    number += 1
                    return number
                }
                try db.add(function: DatabaseFunction("generation", argumentCount: 0) { _ in prepared })
            }
        }
        let sql = "SELECT generation()"
        try await #expect(pool.read { db in try Int.fetchOne(db, sql: sql) } == 2)
        try await pool.read { db in
            try onOtherThread { pool.invalidateReadOnlyConnections() }
            let kept = try Int.fetchOne(db, sql: sql)
            #expect(kept == 2)
        }
        try await #expect(pool.read { db in try Int.fetchOne(db, sql: sql) } == 3)
        pool.invalidateReadOnlyConnections()
        try await #expect(pool.read { db in try Int.fetchOne(db, sql: sql) } == 4)
        try await expectAllPlaces(of: pool)
    }

    @Test(
        "An invalidated reader of which a statement is kept makes way for another one",
        arguments: [false, true])
    func invalidateWithStatement(isReading: Bool) async throws {
        let pool = try file.pool { $0.maximumReaderCount = 1 }
        let kept = Shared<[AnyObject]>([])
        for _ in 1...3 {
            try await onThread {
                try pool.read { db in
                    let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player")
                    _ = try cursor.next()
                    let statement = try db.makeStatement(sql: "SELECT 1")
                    kept.withLock { $0 += [cursor, statement] }
                    if isReading { pool.invalidateReadOnlyConnections() }
                }
            }
            if !isReading { pool.invalidateReadOnlyConnections() }
            let names = try await pool.read { db in try db.names() }
            #expect(names == ["Arthur"])
        }
        try await expectAllPlaces(of: pool)
        kept.withLock { $0 = [] }
        try await pool.close()
    }

    @Test(
        "Memory is given back while others read, with the connections or without", arguments: [false, true])
    func memory(isPersistent: Bool) async throws {
        let opened = Recorder<Bool>()
        let pool = try file.pool { configuration in
            configuration.persistentReadOnlyConnections = isPersistent
            configuration.maximumReaderCount = 3
            configuration.prepareDatabase { db in opened.record(db.configuration.readonly) }
        }
        try await HeldReads(pool).release()
        #expect(opened.elements.count == 4)
        let held = try await HeldReads(pool, count: 1)
        pool.releaseMemory()
        try await HeldReads(pool, count: 2).release()
        #expect(opened.elements.count == (isPersistent ? 4 : 6))
        pool.releaseMemoryEventually()
        try await held.release()
        try await expectAllPlaces(of: pool)
    }

    /// An object that reads when it is freed, with the connection that holds it.
    private final class Visitor: Sendable {
        let pool: Shared<DatabasePool?>
        let visits: Recorder<[String]>
        init(_ pool: Shared<DatabasePool?>, _ visits: Recorder<[String]>) {
            (self.pool, self.visits) = (pool, visits)
        }
        deinit {
            guard let pool = pool.value else { return }
            visits.record((try? pool.read { db in try db.names() }) ?? [])
        }
    }

    @Test("What is freed with a reader that nobody uses may read", arguments: [false, true])
    func freed(isInvalidated: Bool) async throws {
        let (box, visits) = (Shared<DatabasePool?>(nil), Recorder<[String]>())
        let pool = try file.pool { configuration in
            configuration.maximumReaderCount = 1
            configuration.prepareDatabase { db in
                guard db.configuration.readonly else { return }
                let visitor = Visitor(box, visits)
                try db.add(
                    function: DatabaseFunction("visitor", argumentCount: 0) { _ in
                        ObjectIdentifier(visitor).hashValue
                    })
            }
        }
        box.withLock { $0 = pool }
        if isInvalidated { pool.invalidateReadOnlyConnections() } else { pool.releaseMemory() }
        #expect(visits.elements == [["Arthur"]])
        try await expectAllPlaces(of: pool)
        box.withLock { $0 = nil }
    }
}

import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Fetches by readers, which see other states than the writer is about to make.
@Suite("Live values of a pool", .behaviour(74, 79))
struct LivePoolTests {
    private static let count = ValueObservation<Int>.tracking { db in
        try Int.fetchOne(db, sql: "SELECT score FROM livePlayer WHERE id = 1") ?? -1
    }

    @Test("the first value does not wait for a write that is running, and what that writes comes after it")
    func beside() async throws {
        let live = try LiveDatabase(.pool, "a")
        let (isInside, mayEnd) = (Gate(), Gate())
        let writing = Task { [writer = live.writer] in
            try await onThread {
                try writer.inTransaction { db in
                    try db.execute(sql: "UPDATE livePlayer SET score = 1")
                    isInside.open()
                    try mayEnd.wait()
                    return .commit
                }
            }
        }
        try await waitUntil { isInside.isOpen }
        var values = Self.count.values(in: live.writer).makeAsyncIterator()
        try #expect(await values.next() == 0)
        var rows = live.writer.values(of: PlayerValue.all()).makeAsyncIterator()
        try #expect(await rows.next()?.map(\.score) == [0])
        mayEnd.open()
        try #expect(await values.next() == 1)
        try #expect(await rows.next()?.map(\.score) == [1])
        try await writing.value
    }

    @Test("each commit that concerns an observation has it fetched once, and a start does so once")
    func once() async throws {
        let live = try LiveDatabase(.pool, "a")
        let (fetches, regions) = (Recorder<Void>(), Recorder<Void>())
        var values = Self.count.handleEvents(
            willFetch: { fetches.record(()) }, willTrackRegion: { _ in regions.record(()) }
        ).values(in: live.writer).makeAsyncIterator()
        try #expect(await values.next() == 0)
        // The writer is notified right after it.
        try await waitUntil { !regions.elements.isEmpty }
        for score in 1...50 {
            try await live.writer.settle()
            #expect(fetches.elements.count == score)
            try await live.writer.run("UPDATE livePlayer SET score = \(score)")
            try #expect(await values.next() == score)
            try await live.writer.run(
                "UPDATE livePlayer SET name = 'b\(score)'; INSERT INTO other VALUES (\(score), 'x')")
        }
    }

    @Test("a state is told the number of the last commit in it, also where a commit comes while it is taken")
    func number() throws {
        let file = try TemporaryDatabase()
        // The pool, and an intruder that writes right before a read takes its state.
        let intruder = Shared<(@Sendable () -> Void)?>(nil)
        let pool = try file.pool { configuration in
            configuration.trace = { event in
                guard event.description.contains("schema_version") else { return }
                let write = intruder.withLock { write in
                    defer { write = nil }
                    return write
                }
                write?()
            }
        }
        func read() throws -> (names: [String], number: UInt64) {
            try pool.readers.access(at: CallSite(.read, #fileID, #line)) { db in
                try db.readNumberedState { db, number in (try db.names(), number) }
            }
        }
        for count in 1...5 {
            let before = try read()
            #expect(before.names.count == count - 1)
            intruder.withLock {
                $0 = { [weak pool] in
                    guard let pool else { return }
                    try? RunningThread { try pool.write { db in try db.insert("\(count)") } }.join()
                }
            }
            let after = try read()
            #expect(after.names.count == count)
            #expect(after.number == before.number + 2)
        }
    }

    @Test("starts beside a writer of lone statements that never pauses miss nothing")
    func starts() async throws {
        // The writer of a crowded run ends by itself: beside all other tests, it would leave them
        // no time.
        let starts = environmentNumber("SHELLAC_POOL_STARTS")
        let (batches, readerCount, most) = starts.map { ($0 / 50, 50, Int.max) } ?? (4, 20, 400)
        let live = try LiveDatabase(.pool, "a")
        let writer = live.writer
        for batch in 1...batches {
            let mayRun = Shared(true)
            let writing = Task {
                try await onThread {
                    var number = 0
                    while mayRun.value, number < most {
                        number += 1
                        try writer.inDatabase { db in
                            try db.execute(sql: "UPDATE livePlayer SET score = score + 1 WHERE id = 1")
                        }
                    }
                    return number
                }
            }
            var readers: [Task<[Int], any Error>] = []
            let last = Shared<Int?>(nil)
            for number in 0..<readerCount {
                readers.append(
                    Task {
                        var seen: [Int] = []
                        if number % 2 == 0 {
                            for try await value in Self.count.values(in: writer) {
                                seen.append(value)
                                if value == last.value { break }
                            }
                        } else {
                            let request = PlayerValue.filter(Column("id") == 1 && Column("score") > -number)
                            for try await rows in writer.values(of: request) {
                                seen.append(rows.first?.score ?? -1)
                                if seen.last == last.value { break }
                            }
                        }
                        return seen
                    })
                if number % 8 == 0 { await Task.yield() }
            }
            try await Task.sleep(for: .milliseconds(batch % 5))
            mayRun.withLock { $0 = false }
            _ = try await writing.value
            // The last commit is one that all must see, whenever they have begun.
            let score = try await writer.read { db in
                try Int.fetchOne(db, sql: "SELECT score FROM livePlayer") ?? 0
            }
            last.withLock { $0 = score + 1 }
            try await writer.run("UPDATE livePlayer SET score = score + 1 WHERE id = 1")
            let end = Task { [readers] in
                try await Task.sleep(for: .seconds(120))
                for reader in readers { reader.cancel() }
            }
            for reader in readers {
                let seen = try await reader.value
                #expect(seen.last == score + 1, "batch \(batch): \(seen)")
                #expect(seen == seen.sorted(), "batch \(batch): \(seen)")
            }
            end.cancel()
        }
    }

    @Test("a function that comes to read another table is told of what was written before the writer knew")
    func otherRegion() async throws {
        let live = try LiveDatabase(.pool, "a")
        let (isHeld, mayGo) = (Gate(), Gate())
        let values = ValueObservation<[String]>.tracking { db in
            let score = try Int.fetchOne(db, sql: "SELECT score FROM livePlayer") ?? 0
            return score == 0 ? [] : try String.fetchAll(db, sql: "SELECT note FROM other ORDER BY id")
        }.values(in: live.writer)
        var iterator = values.makeAsyncIterator()
        try #expect(await iterator.next() == [])
        try await live.writer.settle()
        // The writer is held right behind the commit: the fetch comes first, and then what the
        // fetch could not see.
        let writing = Task { [writer = live.writer] in
            try await onThread {
                try writer.inDatabase { db in
                    try db.execute(sql: "UPDATE livePlayer SET score = 1")
                    isHeld.open()
                    try mayGo.wait()
                    try db.execute(sql: "INSERT INTO other (note) VALUES ('new')")
                }
            }
        }
        try await waitUntil { isHeld.isOpen }
        try #expect(await iterator.next() == [])
        mayGo.open()
        try await writing.value
        try #expect(await iterator.next() == ["new"])
    }

    @Test("a row that is written after it was read first, and before the writer knew, is told")
    func followedBeforeTheWriterKnew() async throws {
        let live = try LiveDatabase(.pool, "a")
        let (isHeld, mayGo) = (Gate(), Gate())
        let player = try await live.writer.read { db in try LivePlayer.find(db, key: 1) }
        let writing = Task { [writer = live.writer] in
            try await onThread {
                try writer.inDatabase { db in
                    isHeld.open()
                    try mayGo.wait()
                    try db.execute(sql: "UPDATE livePlayer SET score = 1")
                }
            }
        }
        try await waitUntil { isHeld.isOpen }
        let following = Following(player.follow(in: live.writer))
        try #expect(await following.first() == ["1 a 0 NULL"])
        mayGo.open()
        try await writing.value
        try await live.writer.settle()
        #expect(following.states.elements == ["1 a 1 NULL"])
    }

    @Test("a pool is not closed while somebody observes it, and says so", .behaviour(83))
    func closing() async throws {
        let live = try LiveDatabase(.pool, "a")
        var values: DatabaseValues<Int>.Iterator? = Self.count.values(in: live.writer).makeAsyncIterator()
        try #expect(await values?.next() == 0)
        let error = #expect(throws: DatabaseError.self) { try live.writer.close() }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(error?.message?.hasSuffix("cannot be closed: an observation is still alive") == true)
        try await live.writer.run("UPDATE livePlayer SET score = 7")
        try #expect(await values?.next() == 7)
        values = nil
        try await waitUntil { (try? live.writer.close()) != nil }
    }

    @Test("commits of other processes are followed where that is asked for", .behaviour(79))
    func external() async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.appending(path: "live.sqlite").path
        let pool = try DatabasePool(path: path)
        try await pool.write { db in
            try db.createLivePlayers()
            try db.addPlayer("a")
        }
        let other = try DatabaseQueue(path: path)
        var values = Self.count.observingExternalChanges(every: .milliseconds(5)).values(in: pool)
            .makeAsyncIterator()
        var rows = pool.values(of: PlayerValue.all()).observingExternalChanges(every: .milliseconds(5))
            .makeAsyncIterator()
        let player = try await pool.read { db in try LivePlayer.find(db, key: 1) }
        let following = Following(player.follow(in: pool).observingExternalChanges(every: .milliseconds(5)))
        try #expect(await values.next() == 0)
        try #expect(await rows.next()?.map(\.score) == [0])
        try #expect(await following.first() == ["1 a 0 NULL"])
        try await other.run("UPDATE livePlayer SET score = 3")
        while try await values.next() != 3 {}
        while try await rows.next()?.first?.score != 3 {}
        try #expect(await following.first().last == "1 a 3 NULL")
    }
}

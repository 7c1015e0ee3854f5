import Foundation
import ShellacTesting
import TestSupport
import Testing

@testable import Shellac

// The limit only ends what hangs.
@Suite(
    "External changes of a file that says at each question that it has changed", .behaviour(106),
    .timeLimit(.minutes(10)))
struct RestlessVersionTests {
    private let file: TemporaryDatabase
    private let storage = FaultyStorage()
    private let queue: DatabaseQueue
    private let other: DatabaseQueue

    init() throws {
        file = try TemporaryDatabase()
        let name = storage.name
        queue = try file.queue { $0.vfs = name }
        // (It meets the questions of an observation.)
        other = try file.queue { $0.busyMode = .timeout(60) }
        storage.movesVersion = true
    }

    private func ask(_ version: inout ExternalVersion, times: Int = 1) throws -> [Bool] {
        try (1...times).map { _ in
            try queue.inDatabase { db in
                let hasChanged = try version.hasChanged(db)
                return hasChanged
            }
        }
    }

    private func waitFor<Element>(_ recorder: Recorder<Element>, _ count: Int) async throws {
        while recorder.elements.count < count { try await Task.sleep(for: .milliseconds(2)) }
    }

    @Test("SQLite's number changes at each question, which is what these tests are about")
    func numbers() throws {
        let numbers = try (1...5).map { _ in try queue.inDatabase { db in try db.dataVersionWithoutWaiting } }
        #expect(Set(numbers).count == 5)
        storage.movesVersion = false
        let still = try (1...5).map { _ in try queue.inDatabase { db in try db.dataVersionWithoutWaiting } }
        #expect(Set(still.dropFirst()).count == 1)
    }

    @Test("The content is compared, and a commit is told once")
    func content() throws {
        var version = ExternalVersion()
        try #expect(ask(&version, times: 4) == [false, false, false, false])
        for name in ["Arthur", "Barbara"] {
            try other.write { db in try db.insert(name) }
            try #expect(ask(&version, times: 3) == [true, false, false])
        }
        try other.write { db in try db.execute(sql: "UPDATE player SET name = 'Craig' WHERE id = 2") }
        try #expect(ask(&version, times: 2) == [true, false])
    }

    @Test("What the user compares is compared in the place of the content")
    func comparison() throws {
        var version = ExternalVersion { db in
            try DatabaseValue.fetchOne(db, sql: "SELECT MAX(id) FROM player")
        }
        try #expect(ask(&version, times: 3) == [false, false, false])
        try other.write { db in try db.insert("Arthur") }
        try #expect(ask(&version, times: 3) == [true, false, false])
        try other.write { db in try db.execute(sql: "UPDATE player SET name = 'Barbara'") }
        try #expect(ask(&version, times: 3) == [false, false, false])
    }

    @Test("An error of what the user compares is thrown, and it cannot write")
    func failingComparison() async throws {
        var failing = ExternalVersion { _ in throw TestError(1) }
        #expect(thrownError { _ = try ask(&failing) } as? TestError == TestError(1))
        let changes = queue.externalChanges(pollingEvery: .milliseconds(1)) { db in
            try db.insert("Zoe")
            return nil
        }
        var iterator = changes.makeAsyncIterator()
        var thrown: (any Error)?
        do { _ = try await iterator.next() } catch { thrown = error }
        #expect((thrown as? DatabaseError)?.resultCode == .SQLITE_READONLY)
        #expect(try other.names() == [])
    }

    @Test("A database that is too large to be compared is told as changed at each question")
    func large() throws {
        try other.write { db in
            try db.execute(
                sql: "CREATE TABLE large (a); INSERT INTO large VALUES (zeroblob(?))", arguments: [17 << 20])
        }
        var version = ExternalVersion()
        try #expect(ask(&version, times: 3) == [false, true, true])
        var compared = ExternalVersion { db in
            try DatabaseValue.fetchOne(db, sql: "SELECT COUNT(*) FROM player")
        }
        try #expect(ask(&compared, times: 3) == [false, false, false])
    }

    @Test("So is one where SQLite cannot give the content")
    func withoutSerialization() throws {
        try Features.hiddenOptions.withValue(["DESERIALIZE"]) {
            var version = ExternalVersion()
            try #expect(ask(&version, times: 3) == [false, true, true])
        }
    }

    @Test("Where the number stands still, nothing else is asked for")
    func stillNumber() throws {
        storage.movesVersion = false
        // (SQLite finds out now that the file is what it was.)
        _ = try queue.inDatabase { db in try db.dataVersionWithoutWaiting }
        var version = ExternalVersion { _ in throw TestError(2) }
        try #expect(ask(&version, times: 3) == [false, false, false])
        try other.write { db in try db.insert("Arthur") }
        try #expect(ask(&version, times: 3) == [true, false, false])
    }

    @Test("The sequence tells a commit, and no question")
    func sequence() async throws {
        let changes = queue.externalChanges(pollingEvery: .milliseconds(2))
        let recorder = Recorder<Int>()
        let task = Task {
            var count = 0
            for try await _ in changes {
                count += 1
                recorder.record(count)
            }
        }
        // A few dozen questions.
        try await Task.sleep(for: .milliseconds(150))
        #expect(recorder.elements == [])
        try await other.write { db in try db.insert("Arthur") }
        try await waitFor(recorder, 1)
        try await Task.sleep(for: .milliseconds(150))
        #expect(recorder.elements == [1])
        task.cancel()
        _ = await task.result
    }

    @Test("An observation of external changes fetches for a commit, and for no question")
    func liveValues() async throws {
        let fetches = Recorder<Int>()
        let observation = ValueObservation.tracking { db in
            fetches.record(1)
            return try db.names()
        }.observingExternalChanges(every: .milliseconds(2))
        let values = Recorder<[String]>()
        let task = Task { [queue] in
            for try await names in observation.values(in: queue) { values.record(names) }
        }
        try await waitFor(values, 1)
        try await Task.sleep(for: .milliseconds(150))
        let before = fetches.elements.count
        #expect(before <= 2)
        try await other.write { db in try db.insert("Arthur") }
        try await waitFor(values, 2)
        #expect(values.elements.last == ["Arthur"])
        task.cancel()
        _ = await task.result
    }
}

import TestSupport
import Testing

@testable import Shellac

@Suite("Live values beside another process", .behaviour(74))
struct OtherProcessTests {
    @Test("follow what it commits", arguments: [JournalMode.default, .wal])
    func otherProcess(_ journalMode: JournalMode) async throws {
        let file = try TemporaryDatabase(journalMode: journalMode)
        let queue = try file.queue { $0.busyMode = .timeout(60) }
        var values = queue.values(of: SQLRequest<String>(sql: "SELECT name FROM player ORDER BY id"))
            .observingExternalChanges(every: .milliseconds(5)).makeAsyncIterator()
        try #expect(await values.next() == [])
        try await SecondProcess.execute("INSERT INTO player (name) VALUES ('a')", path: file.path)
        try #expect(await values.next() == ["a"])
        try await SecondProcess.execute(
            "UPDATE player SET name = 'b'; INSERT INTO player (name) VALUES ('c')", path: file.path)
        try #expect(await values.next() == ["b", "c"])
    }
}

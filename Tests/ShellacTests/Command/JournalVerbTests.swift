import Foundation
import TestSupport
import Testing

@testable import Shellac

/// The verb `journal` of the command.
@Suite("shellac journal")
struct JournalVerbTests {
    @Test(
        "It lists the entries with their notes and changes, for people and for programs, and writes nothing")
    func lists() async throws {
        let file = try TemporaryDatabase()
        try Self.fill(file)
        let before = try Data(contentsOf: URL(filePath: file.path))
        let all = try await Command.run(
            [ShellacCommand.executable(), "journal", "test.sqlite"], in: file.folder)
        #expect(
            all.output == """
                1  2023-11-14 22:13:20.000
                2  2023-11-14 22:13:20.000  author: ann
                  insert player 1: name "Arthur"
                3  2023-11-14 22:13:20.000
                  update player 1: name "Arthur" → "King"

                """)
        let later = try await Command.run(
            [
                ShellacCommand.executable(), "journal", "test.sqlite", "--after", "1", "--limit", "1", "--as",
                "jsonl",
            ], in: file.folder)
        #expect(
            later.output == """
                {"number":2,"date":"2023-11-14 22:13:20.000","note":{"author":"ann"},"followsGap":false,\
                "followsOtherCommit":false,"changes":[{"table":"player","operation":"insert","indirect":false,"key":[1],"old":null,\
                "new":{"id":1,"name":"Arthur"}}]}

                """)
        try #expect(Data(contentsOf: URL(filePath: file.path)) == before)
        let other = try TemporaryDatabase()
        let missing = try await Command.run(
            [ShellacCommand.executable(), "journal", "test.sqlite"], in: other.folder)
        #expect(missing.status == 5)
    }

    private static func fill(_ file: TemporaryDatabase) throws {
        var configuration = Configuration()
        configuration.transactionClock = .custom { _ in Date(timeIntervalSince1970: 1_700_000_000) }
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        try queue.keepJournal(of: .all)
        try JournalNote.current.withValue(["author": "ann"]) {
            try queue.write { db in try db.insert("Arthur") }
        }
        try queue.write { db in try db.execute(sql: "UPDATE player SET name = 'King'") }
        try queue.close()
    }
}

import Foundation
import Shellac
import ShellacTesting
import Testing

private let template = DatabaseTemplate { dbQueue in
    try dbQueue.inDatabase { db in
        try db.execute(
            sql: """
                CREATE TABLE team (code TEXT PRIMARY KEY NOT NULL, founded DATE NOT NULL);
                CREATE TABLE member (
                    id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER CHECK (score < 900),
                    weight REAL, isActive BOOLEAN NOT NULL, joined DATETIME NOT NULL, token BLOB NOT NULL,
                    state TEXT NOT NULL, team TEXT NOT NULL REFERENCES team(code),
                    doubled INTEGER AS (score * 2));
                """)
    }
}

private final class Team: Record {
    var code = ""
    var founded = Date(timeIntervalSince1970: 0)

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("code", code) { code = $0 }
        try column("founded", founded) { founded = $0 }
    }
}

private enum State: String, Codable { case open, closed }

private struct Member: Codable, Equatable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var name: String
    var score: Int16?
    var weight: Double?
    var isActive: Bool
    var joined: Date
    var token: UUID
    var state: State
    var team: String

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

@Suite("A generator of records", .database(template))
struct RecordGeneratorTests {
    private func members(seed: UInt64) throws -> [Member] {
        var generator = RecordGenerator(seed: seed)
        return try template.makeQueue().inDatabase { db in
            let teams = try generator.insert(3, of: Team.self, db)
            #expect(teams.allSatisfy { !$0.hasDatabaseChanges })
            let members = try generator.insert(
                50, of: Member.self, values: ["state": ["open", "closed"]], db)
            // The table holds the returned records, with their row IDs.
            #expect(try Member.order(Column("id")).fetchAll(db) == members)
            #expect(Set(members.map(\.team)).isSubset(of: teams.map(\.code)))
            return members
        }
    }

    @Test("inserts records that their tables and their types accept")
    func records() throws {
        let members = try members(seed: 1)
        #expect(members.map(\.id) == (1...50).map { $0 })
        #expect(members.contains { $0.score == nil } && members.contains { $0.score != nil })
        #expect(Set(members.map(\.state)) == [.open, .closed])
        #expect(Set(members.map(\.team)).count > 1)
        #expect(Set(members.map(\.name)).count > 40)
    }

    @Test("inserts the same ones for the same seed, and others for another")
    func seeds() throws {
        let (first, again, other) = (try members(seed: 1), try members(seed: 1), try members(seed: 2))
        #expect(first == again)
        #expect(first != other)
    }

    @Test("throws the error of the last attempt if no values are accepted")
    func refusals() throws {
        try testDatabase.inDatabase { db in
            var generator = RecordGenerator(seed: 1)
            let noTeam = #expect(throws: DatabaseError.self) {
                try generator.insert(1, of: Member.self, values: ["state": ["open"]], db)
            }
            #expect(
                noTeam?.message
                    == "RecordGenerator: there is no value to choose for member.team: insert rows into the table "
                    + "that it refers to, or pass values")
            try generator.insert(1, of: Team.self, db)
            #expect(throws: RowDecodingError.self) {
                try generator.insert(1, of: Member.self, values: ["state": ["lost"]], db)
            }
            let refused = #expect(throws: DatabaseError.self) {
                try generator.insert(1, of: Member.self, values: ["state": ["open"], "score": [900]], db)
            }
            #expect(refused?.extendedResultCode == .SQLITE_CONSTRAINT_CHECK)
            let typo = #expect(throws: DatabaseError.self) {
                try generator.insert(1, of: Member.self, values: ["stat": ["open"]], db)
            }
            #expect(typo?.message == "RecordGenerator: the table member has no column stat")
            #expect(try !db.isInsideTransaction && Member.fetchCount(db) == 0)
        }
    }
}

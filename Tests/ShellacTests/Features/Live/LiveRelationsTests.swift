import Shellac
import TestSupport
import Testing

@Suite("Values of a request that loads relations", .behaviour(75))
struct LiveRelationsTests {
    final class Club: Record {
        static let members = hasMany(Member.self)

        var id: Int64?
        var name = ""

        override class var databaseTableName: String { "club" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }

        var names: String {
            get throws { try "\(name): " + self[Club.members].map { "\($0.name)" }.joined(separator: " ") }
        }
    }

    final class Member: Record {
        static let club = belongsTo(Club.self)

        var id: Int64?
        var name = ""

        override class var databaseTableName: String { "member" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
    }

    struct Person: Decodable, Sendable { var name: String }
    struct ClubInfo: Decodable, FetchableRecord, Sendable {
        var name: String
        var members: [Person]

        var text: String { "\(name): " + members.map(\.name).joined(separator: " ") }
    }

    /// The forms of a request of clubs and members.
    enum Form: String, CaseIterable, Sendable {
        case records, rows, structs
        case joinedRecords, joinedRows, adaptedRows
    }

    static let members = Club.members.order { $0.id }

    /// Follows a request, and records what it delivers.
    private func follow(
        _ form: Form, of writer: any DatabaseWriter, _ delivered: Recorder<[String]>
    ) -> Task<Void, any Error> {
        func deliver<Request: FetchRequest & Sendable>(
            _ request: Request, _ text: @escaping @Sendable (Request.RowDecoder) throws -> String
        ) -> Task<Void, any Error> where Request.RowDecoder: DatabaseFetchable {
            Task {
                for try await found in writer.values(of: request) { delivered.record(try found.map(text)) }
            }
        }
        let clubs = Club.order { $0.id }
        let joined = Member.including(optional: Member.club).order { $0.id }
        switch form {
        case .records: return deliver(clubs.including(Self.members)) { try $0.names }
        case .rows:
            return deliver(clubs.including(all: Self.members).asRequest(of: Row.self)) { row in
                let names = try row.prefetchedRows["members"]?.map { try $0["name"] as String } ?? []
                return try "\(row["name"] as String): " + names.joined(separator: " ")
            }
        case .structs:
            return deliver(clubs.including(all: Self.members).asRequest(of: ClubInfo.self)) { $0.text }
        case .joinedRecords: return deliver(joined) { try "\($0.name) \($0[Member.club]?.name ?? "-")" }
        case .joinedRows:
            return deliver(joined.asRequest(of: Row.self)) { row in
                try "\(row["name"] as String) \(row.scopes["club"]?["name"] as String? ?? "-")"
            }
        case .adaptedRows:
            let sql = SQLRequest<Row>(
                sql:
                    "SELECT member.id, club.name, member.name FROM member LEFT JOIN club ON club.id = clubID ORDER BY 1"
            )
            return deliver(sql.adapted { _ in SuffixRowAdapter(fromIndex: 1) }) { row in
                try "\(row[1] as String) \(row[0] as String? ?? "-")"
            }
        }
    }

    @Test(
        "wake nobody where all their statements give the same rows, and everybody where one gives others",
        arguments: LiveKind.allCases, Form.allCases)
    func equalRows(kind: LiveKind, form: Form) async throws {
        let live = try LiveDatabase(kind, configuration: Configuration())
        let writer = live.writer
        defer { withExtendedLifetime(live) {} }
        try await writer.run(
            """
            CREATE TABLE club (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE member (id INTEGER PRIMARY KEY, name TEXT NOT NULL, clubID INTEGER REFERENCES club, note TEXT);
            INSERT INTO club VALUES (1, 'red');
            INSERT INTO member (id, name, clubID) VALUES (1, 'a', 1), (2, 'b', NULL);
            """)
        let delivered = Recorder<[String]>()
        let task = follow(form, of: writer, delivered)
        defer { task.cancel() }
        try await waitUntil { delivered.elements.count == 1 }
        let isJoined = form.rawValue.hasPrefix("joined") || form == .adaptedRows
        #expect(delivered.elements == [isJoined ? ["a red", "b -"] : ["red: a"]])
        // These change the rows that are read, and not the result.
        for sql in [
            "UPDATE member SET name = 'a' WHERE id = 1", "UPDATE club SET name = 'red'",
            "INSERT INTO member (id, name) VALUES (3, 'c'); DELETE FROM member WHERE id = 3",
        ] {
            try await writer.run(sql)
            try await writer.settle()
        }
        if !isJoined {
            try await writer.run("UPDATE member SET name = name || '!' WHERE clubID IS NULL")
            try await writer.settle()
        }
        #expect(delivered.elements.count == 1)
        // These do.
        try await writer.run("UPDATE member SET name = 'd' WHERE id = 1")
        try await waitUntil { delivered.elements.count == 2 }
        #expect(delivered.elements.last?.first == (isJoined ? "d red" : "red: d"))
        try await writer.run("UPDATE club SET name = 'blue'")
        try await waitUntil { delivered.elements.count == 3 }
        #expect(delivered.elements.last?.first == (isJoined ? "d blue" : "blue: d"))
        try await writer.run("UPDATE member SET clubID = 1, name = 'e' WHERE id = 2")
        try await waitUntil { delivered.elements.count == 4 }
        #expect(delivered.elements.last?.last == (isJoined ? "e blue" : "blue: d e"))
        try await writer.run("DELETE FROM member")
        try await waitUntil { delivered.elements.count == 5 }
        #expect(delivered.elements.last == (isJoined ? [] : ["blue: "]))
    }

    @Test("are compared with no statement more, and end with the first error")
    func statements() async throws {
        let spy = SQLSpy()
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try await queue.run(
            """
            CREATE TABLE club (id INTEGER PRIMARY KEY, name);
            CREATE TABLE member (id INTEGER PRIMARY KEY, name, clubID INTEGER REFERENCES club);
            INSERT INTO club VALUES (1, 'red'); INSERT INTO member VALUES (1, 'a', 1), (2, 'b', NULL);
            """)
        let delivered = Recorder<[String]>()
        let task = follow(.records, of: queue, delivered)
        try await waitUntil { delivered.elements.count == 1 }
        try await queue.settle()
        spy.removeAll()
        try await queue.run("UPDATE member SET name = 'c' WHERE id = 2")
        try await queue.settle()
        #expect(spy.sql.filter { $0.hasPrefix("SELECT") && $0.contains(#"FROM ""#) }.count == 2)
        #expect(delivered.elements.count == 1)
        // A row that cannot be read ends the loop, even if it was the same before.
        try await queue.run("UPDATE member SET name = NULL WHERE id = 1")
        await #expect(throws: RowDecodingError.self) { try await task.value }
        #expect(delivered.elements.count == 1)
    }
}

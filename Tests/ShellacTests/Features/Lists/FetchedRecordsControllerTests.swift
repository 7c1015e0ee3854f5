import TestSupport
import Testing

@testable import Shellac

private let byName = ListPlayer.order(Column("name"))
private let byTeam = ListPlayer.order(Column("team"), Column("name"))

@Suite("FetchedRecordsController", .behaviour(77))
struct FetchedRecordsControllerTests {
    private func place(_ row: Int, _ section: Int = 0) -> RecordIndexPath {
        RecordIndexPath(row: row, section: section)
    }

    // MARK: - Reading

    @Test("The list is empty until it is fetched, and has its records, sections and places then")
    func reading() throws {
        let queue = try DatabaseQueue.withListPlayers("c", "a", "b")
        let controller = FetchedRecordsController(queue, request: byName)
        #expect(controller.fetchedRecords.isEmpty && controller.outline == [":0"])
        try #expect(controller.indexPath(for: ListPlayer()) == nil)
        try controller.performFetch()
        #expect(controller.fetchedRecords.map(\.name) == ["a", "b", "c"])
        #expect(controller.outline == [":3"])
        #expect(controller.record(at: place(1)).name == "b")
        #expect(controller.records(inSection: 0).map(\.name) == ["a", "b", "c"])
        let section: [ListPlayer] = controller.records(inSection: 0)
        #expect(section.indices == 0..<3)
        for (row, player) in controller.fetchedRecords.enumerated() {
            try #expect(controller.indexPath(for: player) == place(row))
        }
        // It has the key of a row, whatever else has changed.
        let other = try queue.read { db in try ListPlayer.fetchOne(db, key: 1) }
        other?.name = "z"
        try #expect(other.flatMap(controller.indexPath) == place(2))
        try #expect(controller.indexPath(for: ListPlayer()) == nil)
    }

    @Test(
        "A list without section names has one section, also where it is empty, and one with names has none then"
    )
    func emptySections() throws {
        let queue = try DatabaseQueue.withListPlayers()
        let plain = FetchedRecordsController(queue, request: byName)
        try plain.performFetch()
        #expect(plain.outline == [":0"])
        let sectioned = FetchedRecordsController(queue, request: byTeam, sectionNameKey: "team")
        try sectioned.performFetch()
        #expect(sectioned.outline == [])
    }

    @Test("The text of a column names sections, or a function does; rows of one stand together")
    func sections() throws {
        let queue = try DatabaseQueue.withListPlayers("ab", "bb", "ac", "bc")
        try queue.write {
            try $0.execute(sql: "UPDATE listPlayer SET team = CASE WHEN name LIKE 'a%' THEN 1 END, score = 7")
        }
        let byColumn = FetchedRecordsController(queue, request: byTeam, sectionNameKey: "TEAM")
        try byColumn.performFetch()
        #expect(byColumn.outline == [":2", "1:2"])
        let byScore = FetchedRecordsController(queue, request: byTeam, sectionNameKey: "score")
        try byScore.performFetch()
        #expect(byScore.outline == ["7:4"])
        let byLetter = FetchedRecordsController(queue, request: ListPlayer.order(Column("id").desc)) { row in
            let name: String = try row["name"]
            return String(name.prefix(1))
        }
        try byLetter.performFetch()
        #expect(byLetter.outline == ["b:2", "a:2"])
        #expect(byLetter.fetchedRecords.map(\.name) == ["bc", "bb", "ac", "ab"])
        try #expect(byLetter.indexPath(for: byLetter.fetchedRecords[2]) == place(0, 1))
        // Names with other bytes are other names, even if they look the same.
        let accents = try DatabaseQueue.withListPlayers("\u{E9}", "e\u{301}")
        let byName = FetchedRecordsController(
            accents, request: ListPlayer.order(Column("id")), sectionNameKey: "name")
        try byName.performFetch()
        #expect(byName.outline.count == 2)
    }

    @Test(
        "A record is found by its key also where the column has stored an equal number, but not by a part of the key"
    )
    func foundKeys() throws {
        struct Measure: Codable, FetchableRecord, TableRecord, EncodableRecord {
            static let databaseTableName = "measure"
            var at: Double
            var value: Int?
        }
        let queue = try DatabaseQueue()
        try queue.write {
            try $0.execute(
                sql:
                    "CREATE TABLE measure (at NUMERIC PRIMARY KEY, value, note) WITHOUT ROWID; INSERT INTO measure (at) VALUES (1.0), (2.5)"
            )
        }
        let measures = FetchedRecordsController(queue, request: Measure.order(Column("at")))
        try measures.performFetch()
        try #expect(measures.fetchedRecords.map(measures.indexPath) == [place(0), place(1)])
        // No measure knows its note, which is NULL.
        let notes = FetchedRecordsController(queue, request: Measure.all(), keyColumns: ["at", "note"])
        try notes.performFetch()
        try #expect(notes.fetchedRecords.map(notes.indexPath) == [nil, nil])
    }

    @Test(
        "A row whose key changes in its letters alone is updated, and is found by either", .behaviour(109),
        arguments: [false, true])
    func lettersOfKeys(isWithoutRowID: Bool) throws {
        let queue = try DatabaseQueue()
        try queue.write { try LooseKey.noCase.createTable($0, withoutRowID: isWithoutRowID) }
        let tags = FetchedRecordsController(queue, request: ListedLooseTag.order(Column("code")))
        try tags.performFetch()
        let old = tags.fetchedRecords[0]
        let source = ListSource(ListedLooseTag.order(Column("code")), .primaryKey(ListedLooseTag.self), nil)
        func contents() throws -> ListContents {
            let fetch = try queue.read(source.fetch)
            return try ListContents(fetch.rows, keyColumns: fetch.keyColumns, sectionName: nil)
        }
        let before = try contents()
        try queue.write { try $0.execute(sql: "UPDATE tag SET name = 'Swift' WHERE name = 'swift'") }
        let changes = try ListDifference(from: before, to: contents()).changes.changes
        guard changes.count == 1, case .update = changes[0] else {
            Issue.record("\(changes)")
            return
        }
        try tags.performFetch()
        #expect(tags.fetchedRecords.map(\.name) == ["Swift", "go"])
        try #expect(tags.indexPath(for: old) == place(0))
    }

    @Test("Sections are told apart by the bytes of their names, however they look", .behaviour(109))
    func sectionsThatLookTheSame() throws {
        let queue = try DatabaseQueue.withListPlayers("\u{e9}", "m", "e\u{301}")
        let controller = FetchedRecordsController(
            queue, request: ListPlayer.order(Column("id")), sectionNameKey: "name")
        try controller.performFetch()
        #expect(controller.sections.map(\.numberOfRecords) == [1, 1, 1])
        #expect(
            controller.sections.map { Array($0.name.utf8) } == [[0xC3, 0xA9], [0x6D], [0x65, 0xCC, 0x81]])
        // One becomes the other: that is another section.
        try queue.write {
            try $0.execute(
                sql: "DELETE FROM listPlayer WHERE id = 3; UPDATE listPlayer SET name = 'm' WHERE id = 1")
        }
        try controller.performFetch()
        #expect(controller.sections.map(\.numberOfRecords) == [2])
    }

    @Test("Structs, and rows of no table with key columns of their own, make a list, too")
    func structs() throws {
        struct Team: Decodable, FetchableRecord {
            let team: String?
            let count: Int
        }
        let queue = try DatabaseQueue.withListPlayers("a", "b", "c")
        let players = FetchedRecordsController(queue, request: ListPlayerValue.order(Column("name").desc))
        try players.performFetch()
        #expect(players.fetchedRecords.map(\.id) == [3, 2, 1])
        try #expect(players.indexPath(for: players.fetchedRecords[1]) == place(1))
        let request = SQLRequest<Team>(sql: "SELECT team, COUNT(*) AS count FROM listPlayer GROUP BY team")
        let teams = FetchedRecordsController(queue, request: request, keyColumns: ["team"])
        try teams.performFetch()
        #expect(teams.fetchedRecords.map(\.count) == [3])
    }

    @Test("Fetching again keeps the records of rows that have not changed, and makes new ones of the others")
    func identity() throws {
        let queue = try DatabaseQueue.withListPlayers("a", "b", "c")
        let controller = FetchedRecordsController(queue, request: byName)
        try controller.performFetch()
        let old = controller.fetchedRecords
        old[1].name = "edited"
        try queue.write {
            try $0.execute(
                sql:
                    "UPDATE listPlayer SET name = 'd' WHERE name = 'a'; UPDATE listPlayer SET score = 1 WHERE name = 'c'"
            )
        }
        try controller.performFetch()
        #expect(controller.fetchedRecords.map(\.name) == ["edited", "c", "d"])
        #expect(controller.fetchedRecords[0] === old[1])
        #expect(controller.fetchedRecords[1] !== old[2] && controller.fetchedRecords[2] !== old[0])
        // The fetched values are remembered: only the edited ones have changed.
        try #expect(
            controller.fetchedRecords.map { try $0.databaseChanges.keys.sorted() } == [["name"], [], []])
    }

    @Test("Records of a list are saved like others, and those that lack columns leave them alone")
    func saving() throws {
        let queue = try DatabaseQueue.withListPlayers("a", "b")
        try queue.write { try $0.execute(sql: "UPDATE listPlayer SET score = 5") }
        let controller = FetchedRecordsController(
            queue,
            request: ListPlayer.select(Column("id"), Column("name"), Column("team")).order(Column("id")))
        try controller.performFetch()
        let player = controller.fetchedRecords[0]
        player.team = "red"
        try queue.write { db in
            #expect(player.hasDatabaseChanges)
            try player.update(db)
            try #expect(
                Row.fetchOne(db, sql: "SELECT name, team, score FROM listPlayer WHERE id = 1").map {
                    Array($0.databaseValues)
                }
                    == ["a".databaseValue, "red".databaseValue, 5.databaseValue])
        }
    }

    // MARK: - Errors

    @Test("A request that does not fetch the key throws a sentence, and leaves the list as it was")
    func missingKey() throws {
        let queue = try DatabaseQueue.withListPlayers("a")
        let controller = FetchedRecordsController(queue, request: byName)
        try controller.performFetch()
        controller.setRequest(ListPlayer.select(Column("name")))
        let error = #expect(throws: DatabaseError.self) { try controller.performFetch() }
        #expect(
            error?.message
                == "a list identifies its rows by the primary key of table listPlayer: id. The request "
                + "does not fetch all of these: select them, too, or pass other key columns to the list"
        )
        #expect(error?.sql?.contains("\"name\"") == true)
        #expect(controller.fetchedRecords.map(\.name) == ["a"])
        controller.setRequest(byName, keyColumns: ["shirt"])
        let other = #expect(throws: DatabaseError.self) { try controller.performFetch() }
        #expect(
            other?.message?.hasPrefix(
                "a list identifies its rows by the given key columns: shirt.")
                == true)
        // One of two columns does not identify a row.
        controller.setRequest(byName, keyColumns: ["name", "shirt"])
        let half = #expect(throws: DatabaseError.self) { try controller.performFetch() }
        #expect(half?.message?.contains("the given key columns: name, shirt.") == true)
        controller.setRequest(byName, keyColumns: [])
        expectError(containing: "by the given key columns") {
            try controller.performFetch()
        }
        // And it goes on.
        controller.setRequest(byName.reversed())
        try controller.performFetch()
    }

    @Test(
        "A section name that throws, a row that does not convert, and SQL that fails throw, and leave the list as it was"
    )
    func failures() throws {
        struct NoName: Error {}
        let queue = try DatabaseQueue.withListPlayers("a", "b")
        let isFailing = Shared(false)
        let controller = FetchedRecordsController(queue, request: byName) { _ in
            if isFailing.value { throw NoName() }
            return "all"
        }
        try controller.performFetch()
        isFailing.withLock { $0 = true }
        try queue.write { try $0.execute(sql: "DELETE FROM listPlayer WHERE name = 'a'") }
        #expect(throws: NoName.self) { try controller.performFetch() }
        #expect(controller.fetchedRecords.map(\.name) == ["a", "b"])
        isFailing.withLock { $0 = false }
        try queue.write { try $0.execute(sql: "UPDATE listPlayer SET score = 'many'") }
        let error = #expect(throws: RowDecodingError.self) { try controller.performFetch() }
        #expect(error?.columnName == "score")
        #expect(controller.fetchedRecords.map(\.name) == ["a", "b"] && controller.outline == ["all:2"])
        try queue.write { try $0.execute(sql: "DROP TABLE listPlayer") }
        expectError("no such table: listPlayer") { try controller.performFetch() }
        try queue.close()
        expectError("the database :memory: is closed") { try controller.performFetch() }
        #expect(controller.outline == ["all:2"])
        let column = FetchedRecordsController(
            try DatabaseQueue.withListPlayers("a"), request: byName, sectionNameKey: "shirt")
        #expect(throws: RowDecodingError.self) { try column.performFetch() }
    }

    @Test("A place where there is no record traps with a sentence")
    func places() async {
        await #expect(processExitsWith: .failure) {
            crashWithoutBacktrace()
            let controller = FetchedRecordsController(try DatabaseQueue.withListPlayers("a"), request: byName)
            try controller.performFetch()
            _ = controller.record(at: RecordIndexPath(row: 1, section: 0))
        }
        await #expect(processExitsWith: .failure) {
            crashWithoutBacktrace()
            let controller = FetchedRecordsController(try DatabaseQueue.withListPlayers("a"), request: byName)
            _ = controller.record(at: RecordIndexPath(row: 0, section: 0))
        }
    }

    @Test("A function without an actor is told to write a loop")
    func noActor() async {
        await #expect(processExitsWith: .failure) {
            crashWithoutBacktrace()
            func track(_ controller: FetchedRecordsController<ListPlayer>) { controller.trackChanges() }
            track(FetchedRecordsController(try DatabaseQueue.withListPlayers("a"), request: byName))
        }
    }
}

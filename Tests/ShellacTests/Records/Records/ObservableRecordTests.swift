import Observation
import Shellac
import TestSupport
import Testing

@Observable
private final class Player: Record {
    var id: Int64?
    var name = ""
    var score = 0

    override class var databaseTableName: String { "player" }

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("name") { name = try row["name"] }
        if row.hasColumn("score") { score = try row["score"] }
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["name"] = name
        container["score"] = score
    }
}

/// The same, whose columns are listed.
@Observable
private final class ListedPlayer: Record {
    var id: Int64?
    var name = ""
    var score = 0

    override class var databaseTableName: String { "player" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
    }
}

@Suite("Observable records")
struct ObservableRecordTests {
    private func queue() throws -> DatabaseQueue {
        let dbQueue = try DatabaseQueue()
        try dbQueue.write { db in
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("score", .integer).notNull()
            }
        }
        return dbQueue
    }

    /// Whether something that was read is announced to change meanwhile.
    private func isAnnounced(reading read: () -> Void, _ change: () throws -> Void) rethrows -> Bool {
        let recorder = Recorder<Bool>()
        withObservationTracking(read) { recorder.record(true) }
        try change()
        return !recorder.elements.isEmpty
    }

    @Test("an @Observable subclass is inserted, fetched, updated and rolled back as any other")
    func persistence() throws {
        let dbQueue = try queue()
        let player = Player()
        player.name = "Arthur"
        #expect(throws: CancellationError.self) {
            try dbQueue.write { db in
                try player.insert(db)
                #expect(player.id == 1)
                #expect(!player.hasDatabaseChanges)
                throw CancellationError()
            }
        }
        #expect(player.id == nil)
        #expect(player.hasDatabaseChanges)
        try dbQueue.write { db in
            try player.save(db)
            player.score = 1000
            #expect(try player.databaseChanges == ["score": 0])
            try player.updateChanges(db)
            let fetched = try Player.find(db, key: 1)
            #expect(fetched.score == 1000)
            #expect(!fetched.hasDatabaseChanges)
        }
    }

    @Test(
        "who reads a property, or hasDatabaseChanges, hears of an assignment, of an insertion's row id and of a rollback"
    )
    func notifications() throws {
        let dbQueue = try queue()
        let player = Player()
        #expect(isAnnounced(reading: { _ = player.score }, { player.score = 1 }))
        #expect(!isAnnounced(reading: { _ = player.name }, { player.score = 2 }))
        try dbQueue.inDatabase { db in
            try db.execute(sql: "BEGIN")
            #expect(try isAnnounced(reading: { _ = player.id }, { try player.insert(db) }))
            #expect(isAnnounced(reading: { _ = player.hasDatabaseChanges }, { player.name = "Arthur" }))
            #expect(try isAnnounced(reading: { _ = player.id }, { try db.execute(sql: "ROLLBACK") }))
            #expect(player.id == nil)
        }
    }

    @Test(
        "an @Observable class sees no write while it is encoded, and one where a property is set",
        .behaviour(57))
    func listedColumns() throws {
        try queue().write { db in
            let player = ListedPlayer()
            #expect(try isAnnounced(reading: { _ = player.id }) { try player.insert(db) })
            #expect(player.id == 1)
            #expect(try !isAnnounced(reading: { _ = (player.id, player.name) }) { try player.update(db) })
            #expect(!isAnnounced(reading: { _ = (player.id, player.name) }) { _ = player.hasDatabaseChanges })
            try db.execute(sql: "UPDATE player SET name = 'Arthur'")
            #expect(try isAnnounced(reading: { _ = player.name }) { try player.reload(db) })
            #expect(player.name == "Arthur")
        }
    }
}

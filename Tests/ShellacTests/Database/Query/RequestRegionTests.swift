import Shellac
import TestSupport
import Testing

@Suite("The region of a request")
struct RequestRegionTests {
    @Test("is the tables, columns and rows that it reads")
    func regions() throws {
        let player = League.Player.self
        try League.database().read { db in
            let columns = try player.filter(Column("score") > 1).select(Column("name")).region(db)
            #expect(columns == DatabaseRegion(table: "player", columns: ["name", "score"]))
            let other = try player.select(Column("id")).filter(
                Table("team").select(Column("id")).contains(Column("teamID"))
            ).region(db)
            #expect(other.tableNames == ["player", "team"])
            let all = ["id", "name", "score", "teamID", "isFlagged"]
            let row = try player.filter(key: 1).region(db)
            let rows = DatabaseRegion(table: "player", columns: all).intersection(
                DatabaseRegion(table: "player", rowIDs: [1]))
            #expect(row == rows)
            let byText = try player.filter(key: "1").region(db)
            #expect(byText == DatabaseRegion(table: "player", columns: all))
            let sql = try SQLRequest<Row>("SELECT name FROM team").region(db)
            #expect(sql == DatabaseRegion(table: "team", columns: ["name"]))
            let error = databaseError { _ = try Table("nope").region(db) }
            #expect(error?.message == "no such table: nope")
        }
    }

    @Test("of a row by its id is modified by that row's changes alone")
    func observation() throws {
        let recorder = Recorder<String>()
        let queue = try League.database()
        let observation = DatabaseRegionObservation(
            tracking: League.Player.filter(key: 2).select(Column("score")))
        let token = observation.start(
            in: queue, onError: { _ in }, onChange: { _ in recorder.record("changed") })
        try queue.write { db in try db.execute(sql: "UPDATE player SET score = 1 WHERE id = 1") }
        #expect(recorder.elements == [])
        try queue.write { db in try db.execute(sql: "UPDATE player SET score = 1 WHERE id = 2") }
        #expect(recorder.elements == ["changed"])
        token.cancel()
    }
}

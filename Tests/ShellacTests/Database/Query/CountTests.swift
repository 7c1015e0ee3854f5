import Shellac
import TestSupport
import Testing

@Suite("The number of rows of a request")
struct CountTests {
    @Test("is that of the rows which are fetched, where a condition reads a name of the selection")
    func names() throws {
        try League.database().read { db in
            let (name, alias) = (Column("name"), Column("alias"))
            let players = Table<League.Player>("player")
            let requests = [
                players.annotated(with: name.forKey("alias")).filter(alias.detached == "Arthur"),
                players.annotated(with: name.forKey("alias")).filter(sql: "alias LIKE 'A%'"),
                players.select(name.forKey("alias")).filter(alias.detached != "Arthur").asRequest(
                    of: League.Player.self),
                players.annotated(with: (Column("score") + 1).forKey("more")).filter(Column("more") > 100),
                players.annotated(with: name.forKey("alias")).filter(Column("score") > 100),
                players.annotated(with: name.forKey("alias")),
            ]
            for request in requests {
                let rows = try request.asRequest(of: Row.self).fetchAll(db)
                try #expect(request.fetchCount(db) == rows.count)
                try #expect(request.isEmpty(db) == rows.isEmpty)
            }
        }
    }

    @Test("needs no query inside, where no condition could read a name")
    func sql() throws {
        let sql = try League.sql { db in
            _ = try Table("player").annotated(with: Column("name").forKey("alias")).fetchCount(db)
            _ = try Table("player").annotated(with: Column("name")).filter(Column("id") > 1).fetchCount(db)
        }
        #expect(sql == [#"SELECT COUNT(*) FROM "player""#, #"SELECT COUNT(*) FROM "player" WHERE "id" > ?"#])
    }
}

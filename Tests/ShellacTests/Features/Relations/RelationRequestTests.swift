import Shellac
import TestSupport
import Testing

/// Requests that join the tables of relations: their SQL, and their results.
@Suite("A request of several tables")
struct RelationRequestTests {
    typealias Team = Guild.Team
    typealias Player = Guild.Player
    typealias Weapon = Guild.Weapon

    /// The SQL of a request, and the names that its rows have in a column.
    private func expect<Element>(
        _ request: QueryInterfaceRequest<Element>, _ sql: String, _ names: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let spy = SQLSpy()
        let queue = try Guild.database(spy)
        let found = try queue.read { db in
            _ = try request.asRequest(of: Row.self).fetchAll(db)
            spy.removeAll()
            return try request.asRequest(of: Row.self).fetchAll(db).map { try $0["name"] as String }
        }
        #expect(spy.selections.first == sql, sourceLocation: sourceLocation)
        #expect(found == names, sourceLocation: sourceLocation)
    }

    @Test("joins required and optional rows, by the spelling of the family", .behaviour(68))
    func joining() throws {
        let reds = Player.team.filter { $0.name == "Reds" }
        try expect(
            Player.joining(required: Player.team),
            #"SELECT "player".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamID""#,
            ["Arthur", "Barbara", "Craig", "David", "Eve"])
        try expect(
            Player.joining(required: reds).filter { $0.score > 10 }.order { $0.name.desc },
            #"SELECT "player".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamID" AND "team"."name" = ? "#
                + #"WHERE "player"."score" > ? ORDER BY "player"."name" DESC"#,
            ["Craig", "Barbara"])
        try expect(
            Player.joining(optional: Player.team.order { $0.name }),
            #"SELECT "player".* FROM "player" LEFT JOIN "team" ON "team"."id" = "player"."teamID" ORDER BY "team"."name""#,
            ["Frank", "David", "Eve", "Arthur", "Barbara", "Craig"])
        try expect(
            Team.joining(required: Team.players.filter { $0.score > 20 }).order { $0.id },
            #"SELECT "team".* FROM "team" JOIN "player" ON "player"."teamID" = "team"."id" AND "player"."score" > ? "#
                + #"ORDER BY "team"."id""#,
            ["Reds", "Blues", "Blues"])
    }

    @Test("is sorted by joined rows behind its own, and reversed as a whole", .behaviour(68))
    func reversing() throws {
        let byTeam = Player.joining(required: Player.team.order { $0.name })
        let sql = #"SELECT "player".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamID""#
        try expect(
            byTeam.order { $0.isCaptain.desc }.filter { [30, 50].contains($0.score) }.reversed(),
            sql + #" WHERE "player"."score" IN (?, ?) ORDER BY "player"."isCaptain", "team"."name" DESC"#,
            ["Eve", "Barbara"])
        try expect(
            byTeam.reversed().order { $0.id }.reversed(),
            sql + #" ORDER BY "player"."id" DESC, "team"."name""#,
            ["Eve", "David", "Craig", "Barbara", "Arthur"])
        try expect(
            byTeam.order { $0.id }.unordered(), sql, ["Arthur", "Barbara", "Craig", "David", "Eve"])
        // Of two joins that are one, the last order counts.
        try expect(
            byTeam.joining(required: Player.team).order { $0.score }.filter { [30, 50].contains($0.score) },
            sql + #" WHERE "player"."score" IN (?, ?) ORDER BY "player"."score", "team"."name""#,
            ["Barbara", "Eve"])
        try expect(
            Player.joining(required: Player.team).joining(required: Player.team.order { $0.name })
                .joining(optional: Player.team.filter { $0.name != "Reds" }).reversed(),
            sql + #" AND "team"."name" <> ? ORDER BY "team"."name" DESC"#, ["David", "Eve"])
        // A table that is joined later has its own order.
        try expect(
            Player.order { $0.teamID }.reversed().joining(required: Player.team.order { $0.name })
                .filter { $0.score > 30 }.joining(optional: Player.weapons.order { $0.name }).reversed(),
            #"SELECT "player".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamID" "#
                + #"LEFT JOIN "weapon" ON "weapon"."playerID" = "player"."id" WHERE "player"."score" > ? "#
                + #"ORDER BY "player"."teamID", "team"."name" DESC, "weapon"."name" DESC"#,
            ["David", "Eve"])
        // Deeper ones, and those on the way through others.
        let weapons = Team.hasMany(
            Weapon.self, through: Team.players.order { $0.name }, using: Player.weapons.order { $0.name })
        try expect(
            Weapon.joining(required: Weapon.owner.joining(required: Player.team.order { $0.name }))
                .reversed(),
            #"SELECT "weapon".* FROM "weapon" JOIN "player" ON "player"."id" = "weapon"."playerID" "#
                + #"JOIN "team" ON "team"."id" = "player"."teamID" ORDER BY "team"."name" DESC"#,
            ["axe", "bow", "club"])
        try expect(
            Team.joining(required: weapons).reversed(),
            #"SELECT "team".* FROM "team" JOIN "player" ON "player"."teamID" = "team"."id" "#
                + #"JOIN "weapon" ON "weapon"."playerID" = "player"."id" ORDER BY "player"."name" DESC, "weapon"."name" DESC"#,
            ["Blues", "Reds", "Reds"])
    }

    @Test(
        "leaves the order of lists that are fetched besides, which have one of their own", .behaviour(63, 68))
    func reversingLists() throws {
        let players = Team.players.order { $0.name }
        func names(_ request: QueryInterfaceRequest<Team>) throws -> [[String]] {
            try Guild.database().read { db in
                try request.fetchAll(db).map { try [$0.name] + $0.players.map(\.name) }
            }
        }
        let reds = ["Reds", "Arthur", "Barbara", "Craig"]
        try #expect(
            names(Team.including(players).order { $0.name }.reversed())
                == [reds, ["Nobody"], ["Blues", "David", "Eve"]])
        try #expect(
            names(Team.including(players.reversed()).filter { $0.id < 3 }.order { $0.id })
                == [["Reds", "Craig", "Barbara", "Arthur"], ["Blues", "Eve", "David"]])
        try #expect(
            names(Team.including(players.reversed().limitPerParent(1)).filter(key: 1))
                == [["Reds", "Craig"]])
        try #expect(
            names(
                Team.including(
                    Team.players.joining(optional: Player.weapons.order { $0.name })
                        .filter { $0.id == 1 || $0.id == 4 }.reversed()
                ).filter(keys: [1, 2]).order { $0.id }) == [
                    ["Reds", "Arthur", "Arthur"], ["Blues", "David"],
                ])
        try Guild.database().read { db in
            let rows = try Team.including(all: players).filter(key: 1).reversed().asRequest(of: Row.self)
                .fetchAll(db)
            let found = try rows[0].prefetchedRows["players"]?.map { try $0["name"] as String }
            #expect(found == ["Arthur", "Barbara", "Craig"])
            let team = try Team.find(db, key: 1)
            try #expect(
                team.request(for: players).reversed().fetchAll(db).map(\.name) == [
                    "Craig", "Barbara", "Arthur",
                ])
            let last = Team.hasOne(Player.self).order { $0.score }
            try db.load([team], last)
            try #expect(team[last]?.name == "Arthur")
            try db.load([team], last.reversed())
            try #expect(team[last]?.name == "Barbara")
            try db.load([team], last.unordered())
            try #expect(team[last]?.name == "Arthur")
        }
    }

    @Test("names tables that it joins several times apart", .behaviour(68))
    func names() throws {
        try expect(
            Player.joining(required: Player.team.joining(required: Team.players.filter { $0.score > 40 })),
            #"SELECT "player".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamID" "#
                + #"JOIN "player" AS "player2" ON "player2"."teamID" = "team"."id" AND "player2"."score" > ?"#,
            ["David", "Eve"])
        let team = TableAlias("t")
        try expect(
            Player.joining(required: Player.team.aliased(team)).filter(team[Column("name")] == "Blues"),
            #"SELECT "player".* FROM "player" JOIN "team" AS "t" ON "t"."id" = "player"."teamID" WHERE "t"."name" = ?"#,
            ["David", "Eve"])
        // An alias without a name makes the same SQL each time.
        for _ in 1...2 {
            let (team, player) = (TableAlias(), TableAlias())
            try expect(
                Player.aliased(player).joining(optional: Player.team.aliased(team))
                    .filter(team[Column("id")] == nil && player[Column("score")] > 1),
                #"SELECT "shellac_table0".* FROM "player" AS "shellac_table0" LEFT JOIN "team" AS "shellac_table1" "#
                    + #"ON "shellac_table1"."id" = "shellac_table0"."teamID" "#
                    + #"WHERE "shellac_table1"."id" IS NULL AND "shellac_table0"."score" > ?"#,
                ["Frank"])
        }
    }

    @Test("asks once for what is asked of one relation several times", .behaviour(68))
    func merging() throws {
        try expect(
            Player.joining(optional: Player.team).joining(
                required: Player.team.filter { $0.name == "Blues" }),
            #"SELECT "player".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamID" AND "team"."name" = ?"#,
            ["David", "Eve"])
        let rows = try Guild.database().read { db in
            try Player.including(optional: Player.team).joining(required: Player.team)
                .asRequest(of: Row.self).fetchAll(db)
        }
        #expect(rows.count == 5)
        #expect(rows.allSatisfy { $0.scopes["team"] != nil })
    }

    @Test("that is for one row takes one of several that are joined with it", .behaviour(68))
    func oneOfSeveral() throws {
        let spy = SQLSpy()
        try Guild.database(spy).read { db in
            _ = try Team.joining(required: Team.players).filter(key: 1).fetchOne(db)
            _ = try Player.joining(required: Player.team).filter(key: 1).fetchOne(db)
        }
        #expect(
            spy.selections.suffix(2) == [
                #"SELECT "team".* FROM "team" JOIN "player" ON "player"."teamID" = "team"."id" "#
                    + #"WHERE "team"."id" = ? LIMIT 1"#,
                #"SELECT "player".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamID" "#
                    + #"WHERE "player"."id" = ?"#,
            ])
    }

    @Test("tells of columns that the tables on the way have, too", .behaviour(68))
    func clashingColumns() throws {
        let weapons = Team.hasMany(Weapon.self, through: Team.players, using: Player.weapons)
        try Guild.database().read { db in
            let rows = try Team.annotated(
                with: weapons.max { $0.name }.forKey("last"), weapons.count,
                weapons.min { $0.id }.forKey("first")
            ).order { $0.id }.asRequest(of: Row.self).fetchAll(db)
            try #expect(rows.map { try $0["last"] as String? } == ["bow", "club", nil])
            try #expect(rows.map { try $0["first"] as Int? } == [1, 3, nil])
            try #expect(rows.map { try $0["weaponCount"] as Int } == [2, 1, 0])
        }
    }

    @Test("begins with a record, and has the limit of its relation", .behaviour(68))
    func limitedRequest() throws {
        try Guild.database().read { db in
            let reds = try Team.find(db, key: 1)
            try #expect(reds.request(for: Team.best).fetchAll(db).map(\.name) == ["Barbara", "Craig"])
            try #expect(reds.request(for: Team.best).fetchCount(db) == 2)
        }
    }

    @Test("gives the rows of joined tables in scopes", .behaviour(68))
    func scopes() throws {
        try expect(
            Player.including(required: Player.team),
            #"SELECT "player".*, "team"."id" AS "shellac_0", "team".* FROM "player" "#
                + #"JOIN "team" ON "team"."id" = "player"."teamID""#,
            ["Arthur", "Barbara", "Craig", "David", "Eve"])
        try Guild.database().read { db in
            let request = Player.including(optional: Player.team).order { $0.id }
            let rows = try request.asRequest(of: Row.self).fetchAll(db)
            #expect(rows.count == 6)
            let first = rows[0]
            #expect(first.columnNames == ["id", "teamID", "name", "score", "isCaptain"])
            #expect(first.scopes.names == ["team"])
            #expect(first.scopes["team"] == ["id": 1, "name": "Reds"])
            #expect(rows[5].scopes["team"] == nil)
            #expect(rows[5].scopes.names == ["team"])
            #expect(first.scopes["other"] == nil)
            #expect(first != Row(Array(first)))
            try #expect(request.asRequest(of: Row.self).fetchOne(db) == first)
            try #expect(request.fetchCount(db) == 6)
            try #expect(Player.including(required: Player.team).fetchCount(db) == 5)
        }
    }

    @Test("shows the rows of joined tables to whoever looks for a fault", .behaviour(68))
    func described() throws {
        try Guild.database().read { db in
            let weapon = Weapon.owner.including(optional: Player.team).including(all: Player.weapons)
            let rows = try Weapon.including(optional: weapon).filter(keys: [1, 4]).order { $0.id }
                .asRequest(of: Row.self).fetchAll(db)
            #expect(rows[0].description == "[id: 1, playerID: 1, name: 'axe']")
            #expect(
                rows[0].debugDescription == """
                    [id: 1, playerID: 1, name: 'axe']
                      player: [id: 1, teamID: 1, name: 'Arthur', score: 10, isCaptain: 0]
                        team: [id: 1, name: 'Reds']
                        weapons: 2
                          [id: 1, playerID: 1, name: 'axe']
                          [id: 2, playerID: 1, name: 'bow']
                    """)
            #expect(rows[1].debugDescription == "[id: 4, playerID: NULL, name: 'dagger']\n  player: NULL")
        }
    }

    @Test("says that a struct needs a row where none was joined", .behaviour(26, 68))
    func missingRow() throws {
        struct Info: Decodable, FetchableRecord {
            struct Name: Decodable { var name: String }
            var name: String
            var team: Name
        }
        let error = try Guild.database().read { db in
            #expect(throws: RowDecodingError.self) {
                try Player.including(optional: Player.team).filter(key: 6).asRequest(of: Info.self).fetchAll(
                    db)
            }
        }
        #expect(error?.reason == .unexpectedNull && error?.columnName == "team")
        #expect(error?.description.contains(#"could not read Name from column "team": it is NULL"#) == true)
        let other = try Guild.database().read { db in
            #expect(throws: RowDecodingError.self) {
                try Player.all().asRequest(of: Info.self).fetchAll(db)
            }
        }
        #expect(other?.reason == .columnNotFound)
    }

    @Test("joins what is joined with a joined table", .behaviour(68))
    func nested() throws {
        let owner = Weapon.owner.including(optional: Player.team)
        try Guild.database().read { db in
            let rows = try Weapon.including(optional: owner).order { $0.id }
                .asRequest(of: Row.self).fetchAll(db)
            #expect(
                rows.map { $0.scopes["player"]?.scopes["team"]?.text("name") } == [
                    "Reds", "Reds", "Blues", nil,
                ])
            #expect(rows.map { $0.scopesTree["team"]?.text("name") } == ["Reds", "Reds", "Blues", nil])
            #expect(rows[0].scopesTree.names == ["player", "team"])
        }
        // A required row behind an optional one is missing along with it.
        try expect(
            Weapon.including(
                optional: Weapon.owner.select(Column("id"), Column("name")).joining(required: Player.team)
            ).order { $0.id },
            #"SELECT "weapon".*, "player"."id" AS "shellac_0", "player"."id" AS "id", "player"."name" AS "name" "#
                + #"FROM "weapon" LEFT JOIN ("player" "#
                + #"JOIN "team" ON "team"."id" = "player"."teamID") ON "player"."id" = "weapon"."playerID" "#
                + #"ORDER BY "weapon"."id""#,
            ["axe", "bow", "club", "dagger"])
    }

    @Test("fetches rows that are related to its own, by statements of their own", .behaviour(68))
    func prefetching() throws {
        let spy = SQLSpy()
        try Guild.database(spy).read { db in
            spy.removeAll()
            let request = Team.including(all: Team.players.order { $0.id }.including(all: Player.weapons))
                .order { $0.id }
            let rows = try request.asRequest(of: Row.self).fetchAll(db)
            #expect(spy.selections.count == 3)
            #expect(
                rows[0].prefetchedRows["players"]?.map { $0.text("name") } == ["Arthur", "Barbara", "Craig"])
            #expect(rows[0].prefetchedRows["players"]?[0].prefetchedRows["weapons"]?.count == 2)
            #expect(rows[0].prefetchedRows["players"]?[1].prefetchedRows["weapons"] == [])
            #expect(rows[2].prefetchedRows["players"] == [])
            #expect(rows[2].prefetchedRows["others"] == nil)
            #expect(rows[0].prefetchedRows.keys == ["players"])
            #expect(rows[0].columnNames == ["id", "name"])
            let names = try Team.select(Column("name"), as: Row.self).including(all: Team.players)
                .order(Column("id")).fetchAll(db)
            #expect(names[0].columnNames == ["name"])
            #expect(names[0].prefetchedRows["players"]?.count == 3)
            // From a joined row, too.
            let peers = try Player.including(optional: Player.team.including(all: Team.players))
                .order { $0.id }.asRequest(of: Row.self).fetchAll(db)
            #expect(peers.map { $0.prefetchedRows["players"]?.count } == [3, 3, 3, 2, 2, nil])
            #expect(peers[0].scopes["team"]?.prefetchedRows["players"]?.count == 3)
        }
    }

    @Test("adds columns of joined tables to its own", .behaviour(68))
    func annotated() throws {
        try expect(
            Player.annotated(withRequired: Player.team.select(Column("name").forKey("teamName")))
                .order(Column("teamName"), Column("id")),
            #"SELECT "player".*, "team"."name" AS "teamName" FROM "player" "#
                + #"JOIN "team" ON "team"."id" = "player"."teamID" ORDER BY "teamName", "player"."id""#,
            ["David", "Eve", "Arthur", "Barbara", "Craig"])
        let names = try Guild.database().read { db in
            try Player.annotated(withOptional: Player.team.select(Column("name").forKey("teamName")))
                .order { $0.id }.asRequest(of: Row.self).fetchAll(db).map { try $0["teamName"] as String? }
        }
        #expect(names == ["Reds", "Reds", "Reds", "Blues", "Blues", nil])
    }
}

extension Row {
    /// The text of a column, if it has one.
    func text(_ column: String) -> String? { databaseValue(named: column).flatMap(String.fromDatabaseValue) }
}

import Shellac
import TestSupport
import Testing

private typealias Player = Guild.Player
private typealias Team = Guild.Team

extension DerivableRequest<Guild.Player> {
    fileprivate func best() -> Self { filter { $0.score > 15 }.order(\.score.desc) }

    fileprivate func named(_ name: String?) -> Self {
        name.map { name in filter { $0.name == name } } ?? self
    }

    fileprivate func armed() -> Self { joining(required: Player.weapons) }

    fileprivate func withTeam() -> Self { including(required: Player.team) }
}

extension DerivableRequest where RowDecoder == Guild.Team {
    fileprivate func havingPlayers() -> Self { having(Team.players.isEmpty == false) }

    fileprivate func withTheBest() -> Self { including(Team.players.best()).orderByPrimaryKey() }
}

extension QueryInterfaceRequest<Guild.Player> {
    fileprivate func first() -> Self { order(\.score.desc).limit(1) }
}

extension DerivableRequest where RowDecoder: TableRecord {
    fileprivate func alphabetical() -> Self { order(Column("name")).withStableOrder() }
}

/// Methods that users add to requests, in extensions of protocols. They return `Self`, and refine
/// relations as well.
@Suite("Refinements that users write")
struct OwnRefinementsTests {
    private func names(_ request: some FetchRequest<Player>) throws -> [String] {
        try Guild.database().read { db in try Player.fetchAll(db, request).map(\.name) }
    }

    @Test("return a request of a request, one after the other")
    func requests() throws {
        #expect(try names(Player.all().best()) == ["Frank", "Eve", "David", "Barbara", "Craig"])
        #expect(try names(Player.filter { $0.teamID == 1 }.best().first()) == ["Barbara"])
        #expect(try names(Player.all().armed().best()) == ["David"])
        #expect(try names(Player.all().best().named("Eve").named(nil)) == ["Eve"])
        #expect(try names(Table<Player>("player").filter { $0.id < 4 }.best()) == ["Barbara", "Craig"])
        #expect(
            try names(Player.all().alphabetical())
                == ["Arthur", "Barbara", "Craig", "David", "Eve", "Frank"])
    }

    @Test("return a relation of a relation, which is loaded, joined, counted and requested")
    func relations() throws {
        let players: HasMany<Player> = Team.players.best()
        try Guild.database().read { db in
            let teams = try Team.including(players).alphabetical().fetchAll(db)
            let loaded = try teams.map { try $0.players.map(\.name) }
            #expect(loaded == [["Eve", "David"], [], ["Barbara", "Craig"]])

            let reds = try Team.joining(required: players.named("Craig")).fetchAll(db)
            #expect(reds.map(\.name) == ["Reds"])

            let counts = try Team.all().alphabetical().select(players.count, as: Int.self).fetchAll(db)
            #expect(counts == [2, 0, 2])

            let team = try #require(try Team.fetchOne(db, key: 1))
            let best = try team.request(for: players).first().fetchAll(db)
            #expect(best.map(\.name) == ["Barbara"])
        }
    }

    @Test("stay what they were, with rows of their own, a limit for each parent, and other relations along")
    func nested() throws {
        try Guild.database().read { db in
            let rows = try Team.including(all: Team.players.best().limitPerParent(1)).alphabetical()
                .asRequest(of: Row.self).fetchAll(db)
            let names = try rows.map { try $0.prefetchedRows["players"]?.map { try $0["name"] as String } }
            #expect(names == [["Eve"], [], ["Barbara"]])

            let teams = try Team.all().withTheBest().havingPlayers().fetchAll(db)
            #expect(teams.map(\.name) == ["Reds", "Blues"])
            #expect(try teams.map { try $0.players.count } == [2, 2])

            let weapons = try Guild.Weapon.including(
                required: Guild.Weapon.owner.armed().withTeam().named("Arthur")
            )
            .fetchAll(db)
            // Arthur has two, and each of them is joined with both.
            #expect(weapons.count == 4)
            #expect(try weapons.allSatisfy { try $0.owner?.team?.name == "Reds" })
        }
    }

    @Test("of a relation find rows by key, by id and by SQL, tell rows apart, and find none")
    func keys() throws {
        func loaded(_ players: HasMany<Player>) throws -> [String] {
            try Guild.database().read { db in
                try Team.including(players).orderByPrimaryKey().fetchAll(db)
                    .flatMap { try $0.players.map(\.name) }
            }
        }
        #expect(try loaded(Team.players.filter(key: 2)) == ["Barbara"])
        #expect(try loaded(Team.players.filter(keys: [3, 5, 6])) == ["Craig", "Eve"])
        #expect(try loaded(Team.players.filter(id: 4)) == ["David"])
        #expect(try loaded(Team.players.filter(keys: [["id": 1], ["id": 5]])) == ["Arthur", "Eve"])
        #expect(try loaded(Team.players.filter(key: Int64?.none)) == [])
        #expect(try loaded(Team.players.none()) == [])
        #expect(try loaded(Team.players.filter(literal: "score > \(45)").distinct()) == ["Eve"])
        #expect(
            try loaded(Team.players.order(sql: "name DESC")) == [
                "Craig", "Barbara", "Arthur", "Eve", "David",
            ])
        let atLeast = Team.players.filterWhenConnected { db in
            try Column("score") >= (Int.fetchOne(db, sql: "SELECT 40") ?? 0)
        }
        #expect(try loaded(atLeast) == ["David", "Eve"])
    }

    @Test("find the key where rows of the relation are joined with others")
    func joinedKeys() throws {
        try Guild.database().read { db in
            let players = try Player.joining(required: Player.weapons.filter(key: 3)).fetchAll(db)
            #expect(players.map(\.name) == ["David"])
            let teams = try Team.including(Team.players.filter(key: 1).joining(required: Player.weapons))
                .fetchAll(
                    db)
            #expect(try teams[0].players.map(\.name) == ["Arthur", "Arthur"])
        }
    }

    @Test("of groups are refused where a relation is loaded, with a sentence")
    func groups() throws {
        let players = Team.players.having(max(Column("score")) > 3)
        try Guild.database().read { db in
            let error = #expect(throws: RelationError.self) { try Team.including(players).fetchAll(db) }
            #expect(error.map { "\($0)" }?.contains("group a request instead") == true)
        }
    }

    @Test(
        "that a relation does not have are told at compile time",
        arguments: [
            ("Team.players.limit(3)", "'limit' has been renamed to 'limitPerParent(_:)'"),
            ("Team.players.group(Column(\"a\"))", "has no member 'group'"),
            ("Team.players.union(Player.all())", "has no member 'union'"),
            ("Team.including(Team.players.bets())", "value of type 'HasMany<Player>' has no member 'bets'"),
            ("Player.all().bets()", "value of type 'QueryInterfaceRequest<Player>' has no member 'bets'"),
            ("Player.all().best().limit(\"3\")", "cannot convert value of type 'String'"),
            ("Player.all().union(3)", "requires that 'Int' conform to 'RowSource'"),
        ])
    func messages(code: String, sentence: String) async throws {
        let source = """
            import Shellac
            class Team: Record { static let players = hasMany(Player.self) }
            class Player: Record {}
            extension DerivableRequest<Player> { func best() -> Self { filter { $0.score > 100 } } }
            let x = \(code)
            """
        let result = try await SwiftScript.compile(source: source)
        #expect(result.output.contains(sentence), "\(result.output)")
    }

    @Test("An alias of a type knows its columns, and is a table's name in joins")
    func aliases() throws {
        let (player, team) = (TableAlias<Mover>(), TableAlias<Mover>("other"))
        try withMovers { db in
            let request = Mover.aliased(player)
                .join(Mover.all(), aliased: team, on: player.teamId == team.teamId && player.id != team.id)
                .filter(team.score > 20)
            #expect(try request.fetchAll(db).map(\.name) == ["Arthur"])
            let left = Mover.aliased(player).leftJoin(
                Mover.all(), aliased: team, on: player.score < team.score
            )
            .select([player.name, count(team.id).forKey("n")]).group(player.id).order(player.id)
            .asRequest(of: Row.self)
            #expect(try left.fetchAll(db).map { try $0["n"] as Int } == [2, 0, 1])
            var arthur = Mover(id: nil, name: "Arthur", score: 7)
            try arthur.upsert(db, onConflict: ["name"], updating: .noColumnUnlessSpecified) { excluded in
                Column("score") += excluded.score
            }
            #expect(try Int.fetchOne(db, sql: "SELECT score FROM mover WHERE name = 'Arthur'") == 17)
        }
    }
}

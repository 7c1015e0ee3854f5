import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Graphs that are odd, and saves that fail midway.
@Suite("Saving odd graphs") struct OddGraphTests {
    typealias Team = Guild.Team
    typealias Player = Guild.Player
    typealias Weapon = Guild.Weapon

    private func player(_ name: String) -> Player {
        let player = Player()
        player.name = name
        return player
    }

    private func names(_ db: Database, _ team: Int64?) throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT name FROM player WHERE teamID IS ? ORDER BY name", arguments: [team])
    }

    // MARK: - Conflict policies

    final class QuietTeam: Record {
        static let players = hasMany(Player.self)
        var id: Int64?
        var name = ""
        override class var databaseTableName: String { "team" }
        override class var persistenceConflictPolicy: PersistenceConflictPolicy {
            PersistenceConflictPolicy(insert: .ignore)
        }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
    }

    final class Recruit: Record {
        static let team = belongsTo(QuietTeam.self)
        var id: Int64?
        var teamID: Int64?
        var name = ""
        override class var databaseTableName: String { "player" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("teamID", teamID) { teamID = $0 }
            try column("name", name) { name = $0 }
        }
    }

    @Test("does not leave records without a parent whose insertion was ignored", .behaviour(18, 66))
    func ignored() throws {
        try Guild.database().write { db in
            try db.execute(sql: "CREATE UNIQUE INDEX teamByName ON team(name)")
            let team = QuietTeam()
            team.name = "Reds"
            team.set(QuietTeam.players, to: [player("Anna")])
            let error = #expect(throws: RelationError.self) { try team.save(db, with: QuietTeam.players) }
            #expect(error?.description.contains("no key") == true)
            try #expect(names(db, nil) == ["Frank"])

            let (recruit, other) = (Recruit(), QuietTeam())
            (recruit.name, recruit.teamID, other.name) = ("Bert", 2, "Blues")
            recruit.set(Recruit.team, to: other)
            #expect(throws: RelationError.self) { try recruit.save(db, with: Recruit.team) }
            #expect(recruit.teamID == 2)
            try #expect(names(db, nil) == ["Frank"])
        }
    }

    // MARK: - Cycles

    final class Ship: Record {
        static let crew = hasMany(Sailor.self, using: "shipID")
        static let captain = belongsTo(Sailor.self, using: "captainID")
        var id: Int64?
        var captainID: Int64?
        override class var databaseTableName: String { "ship" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("captainID", captainID) { captainID = $0 }
        }
    }

    final class Sailor: Record {
        static let ship = belongsTo(Ship.self, using: "shipID")
        var id: Int64?
        var shipID: Int64?
        override class var databaseTableName: String { "sailor" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("shipID", shipID) { shipID = $0 }
        }
    }

    private func ships() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write {
            try $0.execute(
                sql: """
                    CREATE TABLE ship (id INTEGER PRIMARY KEY, captainID INTEGER REFERENCES sailor);
                    CREATE TABLE sailor (id INTEGER PRIMARY KEY, shipID INTEGER REFERENCES ship);
                    """)
        }
        return queue
    }

    @Test("that is a cycle of new rows is written, or refused with a sentence: never by half", .behaviour(66))
    func cycle() throws {
        try ships().write { db in
            let (ship, captain) = (Ship(), Sailor())
            ship.set(Ship.captain, to: captain)
            captain.set(Sailor.ship, to: ship)
            do {
                try ship.save(db, with: Ship.captain.including(Sailor.ship))
                #expect(captain.shipID == ship.id)
                #expect(ship.captainID == captain.id)
                try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM sailor WHERE shipID = 1") == 1)
            } catch is RelationError {
                try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM sailor") == 0)
                #expect(captain.id == nil && ship.id == nil)
            }
            captain.set(Sailor.ship, to: nil)
        }
    }

    @Test("whose captain is one of its crew", .behaviour(66))
    func captain() throws {
        try ships().write { db in
            let (ship, captain, cook) = (Ship(), Sailor(), Sailor())
            ship.set(Ship.captain, to: captain)
            ship.set(Ship.crew, to: [captain, cook, cook])
            try ship.save(db, with: Ship.captain, Ship.crew)
            #expect(ship.captainID == captain.id)
            #expect(captain.shipID == ship.id && cook.shipID == ship.id)
            try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM sailor WHERE shipID = 1") == 2)
            ship.set(Ship.crew, to: [captain])
            try ship.save(db, with: Ship.crew, removed: .delete)
            try #expect(Int64.fetchAll(db, sql: "SELECT id FROM sailor") == [captain.id])
        }
    }

    final class Node: Record {
        static let children = hasMany(Node.self)
        static let parent = belongsTo(Node.self)
        var id: Int64?
        var parentID: Int64?
        override class var databaseTableName: String { "node" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("parentID", parentID) { parentID = $0 }
        }
    }

    @Test("of a table that refers to itself, with a record that is below itself", .behaviour(66, 67))
    func tree() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE node (id INTEGER PRIMARY KEY, parentID INTEGER REFERENCES node)")
            let nodes = (0..<4).map { _ in Node() }
            nodes[0].set(Node.children, to: [nodes[1], nodes[2]])
            nodes[1].set(Node.children, to: [nodes[3]])
            try nodes[0].save(db, with: Node.children.including(Node.children.including(Node.children)))
            #expect(nodes.map(\.parentID) == [nil, nodes[0].id, nodes[0].id, nodes[1].id])
            let root = try #require(
                try Node.including(Node.children.including(Node.children.including(Node.children)))
                    .filter(key: nodes[0].id).fetchOne(db))
            let child = try root[Node.children][0]
            try #expect(child[Node.parent] === root)
            try #expect(child[Node.children][0][Node.parent] === child)
            try #expect(child[Node.children][0][Node.children].isEmpty)
            try db.execute(sql: "UPDATE node SET parentID = id WHERE id = 1")
            let own = try #require(try Node.including(Node.children).filter(key: 1).fetchOne(db))
            try #expect(own[Node.children].count == 3)
            // A record in its own list.
            let node = Node()
            try node.insert(db)
            node.set(Node.children, to: [node])
            try node.save(db, with: Node.children)
            #expect(node.parentID == node.id)
            node.set(Node.children, to: [])
        }
    }

    // MARK: - Ways back

    @Test("saves the record that a way back leads to", .behaviour(66))
    func back() throws {
        try Guild.database().write { db in
            let team = try #require(try Team.including(Team.players).filter(key: 1).fetchOne(db))
            let arthur = try team.players[0]
            team.name = "Changed"
            arthur.score = 99
            try arthur.save(db, with: Player.team)
            try #expect(Player.find(db, key: 1).score == 99)
            try #expect(Team.find(db, key: 1).name == "Changed")
        }
    }

    @Test("does not move a record back to the team that it was loaded for", .behaviour(66))
    func movedSince() throws {
        try Guild.database().write { db in
            let team = try #require(try Team.including(Team.players).filter(key: 1).fetchOne(db))
            let arthur = try team.players[0]
            arthur.teamID = 2
            try arthur.save(db, with: Player.team)
            #expect(arthur.teamID == 2)
            try #expect(names(db, 2) == ["Arthur", "David", "Eve"])

            let david = try #require(try Player.including(Player.team).filter(key: 4).fetchOne(db))
            david.teamID = 1
            try david.save(db, with: Player.team)
            #expect(david.teamID == 1)
            try #expect(names(db, 1) == ["Barbara", "Craig", "David"])
            // The given records take its place, also those that were there before.
            let blues = try david.team
            david.set(Player.team, to: team)
            try david.save(db, with: Player.team)
            david.set(Player.team, to: blues)
            try david.save(db, with: Player.team)
            try #expect(names(db, 2) == ["Arthur", "David", "Eve"])
            david.teamID = 3
            david.set(Player.team, to: blues)
            try david.save(db, with: Player.team)
            #expect(david.teamID == 2)
            david.set(Player.team, to: nil)
            try db.inSavepoint {
                try david.save(db, with: Player.team)
                #expect(david.teamID == nil)
                return .rollback
            }
            #expect(david.teamID == 2)
            try david.save(db, with: Player.team)
            try #expect(names(db, nil) == ["David", "Frank"])
        }
    }

    @Test("leads back to the record that a list was saved along with", .behaviour(65, 66))
    func backAfterSaving() throws {
        try Guild.database().write { db in
            let teams = try Team.including(Team.players).order { $0.id }.fetchAll(db)
            let arthur = try teams[0].players[0]
            teams[1].set(Team.players, to: try teams[1].players + [arthur])
            try teams[1].save(db, with: Team.players)
            #expect(arthur.teamID == 2)
            try #expect(arthur.team !== teams[0])
        }
    }

    final class Fan: Record {
        static let team = belongsTo(Club.self)
        static let namesake = belongsTo(Club.self, using: ForeignKey(["clubName"], to: ["name"]))
        var id: Int64?
        var clubID: Int64?
        var clubName = ""
        override class var databaseTableName: String { "fan" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("clubID", clubID) { clubID = $0 }
            try column("clubName", clubName) { clubName = $0 }
        }
    }

    final class Club: Record {
        static let fans = hasMany(Fan.self)
        static let shouting = hasMany(Fan.self, using: ForeignKey(["clubName"], to: ["name"]))
        var id: Int64?
        var name = ""
        override class var databaseTableName: String { "club" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
    }

    @Test("is not found by the way back of another foreign key", .behaviour(65))
    func otherKey() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE club (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE fan (id INTEGER PRIMARY KEY, clubID INTEGER REFERENCES club, clubName TEXT);
                    INSERT INTO club VALUES (1, 'a'), (2, 'b');
                    INSERT INTO fan VALUES (1, 1, 'b');
                    """)
            let clubs = try Club.including(Club.shouting).order(Column("id")).fetchAll(db)
            let fan = try clubs[1][Club.shouting][0]
            try #expect(fan[Fan.namesake] === clubs[1])
            #expect(throws: RelationError.self) { try fan[Fan.team] }
            let others = try Club.including(Club.fans).order(Column("id")).fetchAll(db)
            try #expect(others[0][Club.fans][0][Fan.team] === others[0])
            #expect(throws: RelationError.self) { try others[0][Club.fans][0][Fan.namesake] }
        }
    }

    // MARK: - Removed

    @Test(
        "removes nothing from a list that was never loaded, on a row that the record does not know",
        .behaviour(66))
    func unknownRow() throws {
        try Guild.database().write { db in
            let team = Team()
            (team.id, team.name) = (1, "Reds")
            team.set(Team.players, to: [])
            #expect(throws: RelationError.self) { try team.save(db, with: Team.players, removed: .delete) }
            let fetched = try Team.find(db, key: 1)
            fetched.hasDatabaseChanges = true
            fetched.set(Team.players, to: [])
            #expect(throws: RelationError.self) {
                try fetched.save(db, with: Team.players, removed: .nullify)
            }
            try #expect(names(db, 1).count == 3)
            // A new row has nothing to remove, wherever its key comes from.
            let other = Team()
            (other.id, other.name) = (77, "New")
            other.set(Team.players, to: [player("Anna")])
            try other.save(db, with: Team.players, removed: .delete)
            try #expect(names(db, 77) == ["Anna"])
        }
    }

    @Test("removes from lists that are filtered, limited, sorted, selected or distinct", .behaviour(66))
    func derived() throws {
        let relations: [HasMany<Player>] = [
            Team.players.filter { $0.score > 5 }, Team.players.limitPerParent(9),
            Team.players.order { $0.name.desc },
            Team.players.select(
                Column("name"), Column("id"), Column("teamID"), Column("score"), Column("isCaptain")),
            Team.players.refined { $0.distinct() },
            Team.players.annotated(with: (Column("score") * 2).forKey("x")),
        ]
        for relation in relations {
            for removed in [RemovedRecords.nullify, .delete] {
                try Guild.database().write { db in
                    let team = try #require(try Team.including(relation).filter(key: 1).fetchOne(db))
                    team.set(Team.players, to: try team.players.filter { $0.name == "Barbara" })
                    try team.save(db, with: relation, removed: removed)
                    try #expect(names(db, 1) == ["Barbara"])
                }
            }
        }
    }

    final class Line: Record {
        var orderID: Int64?
        var number = 0
        var text = ""
        override class var databaseTableName: String { "line" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("orderID", orderID) { orderID = $0 }
            try column("number", number) { number = $0 }
            try column("text", text) { text = $0 }
        }
        convenience init(_ number: Int, _ text: String) {
            self.init()
            (self.number, self.text) = (number, text)
        }
    }

    final class Order: Record {
        static let lines = hasMany(Line.self).order(Column("number"))
        var id: Int64?
        override class var databaseTableName: String { "order" }
        override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
    }

    @Test("with a key that is part of the rows' own key", .behaviour(66))
    func identifying() throws {
        try DatabaseQueue().write { db in
            try db.execute(
                sql: """
                    CREATE TABLE "order" (id INTEGER PRIMARY KEY);
                    CREATE TABLE line (
                        orderID INTEGER REFERENCES "order", number INTEGER NOT NULL, text TEXT NOT NULL,
                        PRIMARY KEY (orderID, number)) WITHOUT ROWID;
                    """)
            let order = Order()
            order.set(Order.lines, to: [Line(1, "a"), Line(2, "b"), Line(3, "c")])
            try order.save(db, with: Order.lines)
            order.set(Order.lines, to: try order[Order.lines].filter { $0.number != 2 } + [Line(4, "d")])
            try order.save(db, with: Order.lines, removed: .delete)
            let loaded = try #require(try Order.including(Order.lines).fetchOne(db))
            try #expect(loaded[Order.lines].map(\.text) == ["a", "c", "d"])
            // Replaced by another object of the same key.
            loaded.set(Order.lines, to: [Line(1, "A"), Line(3, "C")])
            try loaded.save(db, with: Order.lines, removed: .delete)
            try #expect(String.fetchAll(db, sql: "SELECT text FROM line ORDER BY number") == ["A", "C"])
            // A key cannot become NULL here: all is as it was.
            loaded.set(Order.lines, to: [])
            let error = #expect(throws: RelationError.self) {
                try loaded.save(db, with: Order.lines, removed: .nullify)
            }
            #expect(error?.description.contains("part of the primary key") == true)
            // Nor is a row moved to another record: there would be two.
            let line = try #require(try Order.including(Order.lines).fetchOne(db))[Order.lines][0]
            let other = Order()
            other.set(Order.lines, to: [line])
            let refusal = #expect(throws: RelationError.self) { try other.save(db, with: Order.lines) }
            #expect(refusal?.description.contains("cannot be moved") == true)
            #expect(line.orderID == order.id && other.id == nil)
            try line.delete(db)
            other.set(Order.lines, to: [try line.copy()])
            try other.save(db, with: Order.lines)
            try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM line WHERE orderID = 2") == 1)
            try #expect(Int.fetchOne(db, sql: "SELECT count(*) FROM line") == 2)
        }
    }

    // MARK: - Failures midway

    final class Touchy: Player {
        nonisolated(unsafe) static var refuses = ""
        override func willSave(_ db: Database) throws {
            try super.willSave(db)
            if name == Self.refuses { throw TestError(9) }
        }
    }

    final class TouchyTeam: Team {
        static let touchy = hasMany(Touchy.self)
    }

    @Test("that fails midway leaves rows, keys, lists and changes as they were", .behaviour(15, 66))
    func midway() throws {
        try Guild.database().write { db in
            for (index, refused) in ["one", "two", "three"].enumerated() {
                let team = TouchyTeam()
                team.name = "New"
                let players = ["one", "two", "three"].map { name in
                    let player = Touchy()
                    player.name = name
                    let weapon = Weapon()
                    weapon.name = name
                    player.set(Touchy.weapons, to: [weapon])
                    return player
                }
                team.set(TouchyTeam.touchy, to: players)
                Touchy.refuses = refused
                #expect(throws: TestError(9)) {
                    try team.save(db, with: TouchyTeam.touchy.including(Player.weapons))
                }
                Touchy.refuses = ""
                #expect(team.id == nil && team.hasDatabaseChanges)
                for player in players {
                    #expect(player.id == nil && player.teamID == nil && player.hasDatabaseChanges)
                    try #expect(player.weapons[0].id == nil && player.weapons[0].playerID == nil)
                }
                try #expect(team[TouchyTeam.touchy].map(\.name) == ["one", "two", "three"])
                // Again, and all is well.
                try team.save(db, with: TouchyTeam.touchy.including(Player.weapons), removed: .delete)
                #expect(players.allSatisfy { $0.teamID == team.id && !$0.hasDatabaseChanges })
                try #expect(names(db, team.id) == ["one", "three", "two"])
                team.set(TouchyTeam.touchy, to: [players[index]])
                try team.save(db, with: TouchyTeam.touchy.including(Player.weapons), removed: .delete)
                try #expect(names(db, team.id) == [refused])
            }
        }
    }

    @Test("keeps what a callback does to the list meanwhile", .behaviour(66, 101))
    func meddling() throws {
        final class Meddler: Player {
            nonisolated(unsafe) static var meddled: Team?
            override func didSave(_ saved: PersistenceSuccess) {
                super.didSave(saved)
                guard let team = Self.meddled, let players = try? team.players else { return }
                let extra = Player()
                extra.name = "extra"
                team.set(Team.players, to: players + [extra])
                Self.meddled = nil
            }
        }
        try Guild.database().write { db in
            let (team, meddler) = (Team(), Meddler())
            meddler.name = "Meddler"
            team.name = "Meddled"
            team.set(Team.players, to: [meddler])
            Meddler.meddled = team
            try team.save(db, with: Team.players)
            try #expect(team.players.map(\.name) == ["Meddler", "extra"])
            try team.save(db, with: Team.players, removed: .delete)
            try #expect(names(db, team.id) == ["Meddler", "extra"])
        }
    }

    @Test("is taken back by the transaction around it, and saved again after that", .behaviour(15, 66))
    func rolledBack() throws {
        let queue = try Guild.database()
        let (team, anna) = (Team(), player("Anna"))
        team.name = "Greens"
        team.set(Team.players, to: [anna])
        #expect(throws: TestError.self) {
            try queue.write { db in
                try team.save(db, with: Team.players)
                try db.inSavepoint {
                    team.set(Team.players, to: [])
                    try team.save(db, with: Team.players, removed: .nullify)
                    #expect(anna.teamID == nil)
                    return .rollback
                }
                #expect(anna.teamID == team.id)
                throw TestError()
            }
        }
        #expect(team.id == nil && anna.id == nil && anna.teamID == nil)
        try #expect(team.players.isEmpty)  // the owner has set it so
        team.set(Team.players, to: [anna])
        try queue.write { db in
            try team.save(db, with: Team.players, removed: .delete)
            try #expect(names(db, team.id) == ["Anna"])
            team.set(Team.players, to: [])
            try team.save(db, with: Team.players, removed: .delete)
            try #expect(names(db, team.id).isEmpty)
        }
    }

    // MARK: - Styles

    final class CodedTeam: Record, Codable {
        static let players = hasMany(CodedPlayer.self)
        var id: Int64?
        var name = ""
        override class var databaseTableName: String { "team" }
    }

    final class CodedPlayer: Record, Codable {
        static let team = belongsTo(CodedTeam.self)
        var id: Int64?
        var teamID: Int64?
        var name = ""
        override class var databaseTableName: String { "player" }
    }

    class PairTeam: Record {
        static let players = hasMany(PairPlayer.self)
        var id: Int64?
        var name = ""
        override class var databaseTableName: String { "team" }
        override func updateFromRow(_ row: Row) throws {
            id = try row["id"]
            name = try row["name"]
        }
        override func encode(to container: inout PersistenceContainer) {
            container["id"] = id
            container["name"] = name
        }
    }

    class PairPlayer: Record {
        static let team = belongsTo(PairTeam.self)
        var id: Int64?
        var teamID: Int64?
        var name = ""
        override class var databaseTableName: String { "player" }
        override func updateFromRow(_ row: Row) throws {
            id = try row["id"]
            teamID = try row["teamID"]
            name = try row["name"]
        }
        override func encode(to container: inout PersistenceContainer) {
            container["id"] = id
            container["teamID"] = teamID
            container["name"] = name
        }
    }

    @Test("of classes of each style", .behaviour(65, 66, 89))
    func styles() throws {
        func check<T: Record, P: Record>(
            _ players: HasMany<P>, _ team: BelongsTo<T>, make: () -> (T, [P]), key: (T) -> Int64?,
            reference: @escaping (P) -> Int64?, id: (P) -> Int64?
        ) throws {
            try Guild.database().write { db in
                let (new, list) = make()
                new.set(players, to: list)
                try new.save(db, with: players)
                #expect(key(new) == 4)
                #expect(list.map(reference) == [4, 4])
                #expect(list.allSatisfy { !$0.hasDatabaseChanges })
                expectError(#"near "nonsense": syntax error"#) {
                    try db.inSavepoint {
                        new.set(players, to: [list[0]])
                        try new.save(db, with: players, removed: .nullify)
                        #expect(list.map(reference) == [4, nil])
                        try db.execute(sql: "nonsense")
                        return .commit
                    }
                }
                #expect(list.map(reference) == [4, 4])
                try new.save(db, with: players, removed: .delete)
                try #expect(names(db, 4) == ["Anna"])
                let loaded = try T.all().including(players.including(team)).order(Column("id")).fetchAll(db)
                try #expect(loaded.map { try $0[players].count } == [3, 2, 0, 1])
                try #expect(loaded[3][players].map(id) == [id(list[0])])
                try #expect(loaded[0][players][0][team].flatMap(key) == 1)
                try db.load(loaded, players)
                for record in loaded { try record.load(players, db) }
                try #expect(loaded[1][players][1][team] === loaded[1])
            }
        }
        try check(
            CodedTeam.players, CodedPlayer.team,
            make: {
                let (team, anna, bert) = (CodedTeam(), CodedPlayer(), CodedPlayer())
                (team.name, anna.name, bert.name) = ("T", "Anna", "Bert")
                return (team, [anna, bert])
            }, key: \.id, reference: \.teamID, id: \.id)
        try check(
            PairTeam.players, PairPlayer.team,
            make: {
                let (team, anna, bert) = (PairTeam(), PairPlayer(), PairPlayer())
                (team.name, anna.name, bert.name) = ("T", "Anna", "Bert")
                return (team, [anna, bert])
            }, key: \.id, reference: \.teamID, id: \.id)
    }

    // MARK: - Requests

    @Test("of related records of another class is refused, also where there are no rows", .behaviour(63))
    func nestedOwner() throws {
        try Guild.database().write { db in
            for sql in ["SELECT 1", "DELETE FROM weapon; DELETE FROM player"] {
                try db.execute(sql: sql)
                let error = #expect(throws: RelationError.self) {
                    try Team.including(Team.players.including(Team.captain)).fetchAll(db)
                }
                #expect(error == .wrongOwner(relation: "Team.player", recordType: "Player"))
            }
        }
    }

    @Test("of a request keep their relations in what is derived from it, or throw", .behaviour(63))
    func derivedRequests() throws {
        try Guild.database().write { db in
            let request = Team.including(Team.players)
            try #expect(request.filter(key: 1).fetchOne(db)?.players.count == 3)
            try #expect(
                request.order { $0.id }.reversed().limit(2).fetchAll(db).map { try $0.players.count } == [
                    0, 2,
                ])
            try #expect(request.distinct().fetchAll(db).allSatisfy { try $0.players.count < 4 })
            try #expect(request.select(Column("id")).fetchAll(db).allSatisfy { try $0.players.count < 4 })
            try #expect(request.filter(key: 2).fetchAll(db)[0].players.count == 2)
            let rows = try request.asRequest(of: Row.self).fetchAll(db)
            #expect(rows.map { $0.prefetchedRows["players"]?.count } == [3, 2, 0])
            let both = try request.filter(key: 1).union(request.filter(key: 2)).fetchAll(db)
            try #expect(both.map { try $0.players.count } == [3, 2])
            let updated = try request.filter(key: 2).updateAndFetchAll(db, [Column("name").set(to: "Greens")])
            try #expect(updated.map { try $0.players.count } == [2])
            try #expect(request.fetchCount(db) == 3)
            try #expect(request.filter(key: 3).deleteAll(db) == 1)
        }
    }

    @Test("that is distinct is loaded so, and refused where it is limited, too", .behaviour(67))
    func distinctAndLimited() throws {
        try Guild.database().write { db in
            try db.execute(sql: "UPDATE player SET name = 'Same' WHERE id IN (1, 2, 4, 5)")
            let names = Team.players.select(Column("name")).order(Column("name").desc)
                .refined { $0.distinct() }
            let teams = try Team.including(names).order { $0.id }.fetchAll(db)
            try #expect(teams.map { try $0.players.map(\.name) } == [["Same", "Craig"], ["Same"], []])
            // Rows are numbered before those that are equal are left out.
            let error = #expect(throws: RelationError.self) {
                try Team.including(names.limitPerParent(2)).fetchAll(db)
            }
            #expect(error?.description.contains("distinct") == true)
        }
    }

    @Test("through others, of rows that are reached several times, equal a join", .behaviour(65, 67))
    func through() throws {
        try Guild.database().write { db in
            let weapons = Team.hasMany(Weapon.self, through: Team.players, using: Player.weapons)
            let owners = Weapon.hasMany(Team.self, through: Weapon.owner, using: Player.team)
            let mates = Player.hasMany(Player.self, through: Player.team, using: Team.players)
            let all = try Player.including(mates.order(Column("id"))).order { $0.id }.fetchAll(db)
            try #expect(all.map { try $0[mates].count } == [3, 3, 3, 2, 2, 0])
            try #expect(all[0][mates][1] === all[1][mates][1])
            let teams = try Team.including(weapons.order(Column("name").desc)).order { $0.id }.fetchAll(db)
            try #expect(teams.map { try $0[weapons].map(\.name) } == [["bow", "axe"], ["club"], []])
            let best = weapons.order(Column("name").desc).limitPerParent(1)
            try db.load(teams, best)
            try #expect(teams.map { try $0[weapons].map(\.name) } == [["bow"], ["club"], []])
            let found = try Weapon.including(owners).order(Column("id")).fetchAll(db)
            try #expect(found.map { try $0[owners].map(\.name) } == [["Reds"], ["Reds"], ["Blues"], []])
            let filtered = Team.hasMany(
                Weapon.self, through: Team.players.filter { $0.score > 10 }, using: Player.weapons)
            try db.load(teams, filtered)
            try #expect(teams.map { try $0[filtered].count } == [0, 1, 0])
            #expect(throws: RelationError.self) { try teams[0].save(db, with: weapons) }
        }
    }
}

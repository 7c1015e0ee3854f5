//: # Default filters and soft delete
//:
//: Rows that are left out unless a request asks for them, and rows that come back.

import Shellac

extension DefaultFilter.Name {
    static let archived: Self = "archived"
}

class Team: Record {
    static let players = hasMany(Player.self)

    var id: Int64?
    var name = ""
    var isArchived = false

    override class var databaseDefaultFilter: DefaultFilter {
        [.archived: Column("isArchived") == false]
    }
    override class var databaseSoftDelete: SoftDelete? {
        .column("deletedAt", cascading: Team.players)
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("isArchived", isArchived) { isArchived = $0 }
    }
}

class Player: Record {
    var id: Int64?
    var name = ""
    var teamID: Int64?

    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("teamID", teamID) { teamID = $0 }
    }
}

let dbQueue = try DatabaseQueue()
try dbQueue.write { db in
    try db.create(table: "team") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull()
        t.column("isArchived", .boolean).notNull().defaults(to: false)
        t.column("deletedAt", .datetime)
    }
    try db.create(table: "player") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull()
        t.belongsTo("team")
        t.column("deletedAt", .datetime)
    }
    try db.execute(
        sql: """
            INSERT INTO team (name, isArchived) VALUES ('Red', 0), ('Blue', 0), ('Old', 1);
            INSERT INTO player (name, teamId) VALUES ('Arthur', 1), ('Barbara', 1), ('Craig', 2);
            """)
}

//: Archived teams are left out of all that is read of the type, unless a request names the
//: condition.

try dbQueue.read { db in
    print("\(try Team.fetchCount(db)) teams")
    print("\(try Team.ignoringDefaultFilter(.archived).fetchCount(db)) with those that are archived")
    do {
        _ = try Team.ignoringDefaultFilter("archive").fetchCount(db)
    } catch {
        print(error)
    }
}

//: A team that is deleted takes its players along. Their rows stay in the tables.

try dbQueue.write { db in
    let barbara = try Player.find(db, key: 2)
    try barbara.delete(db)
}
let team = try dbQueue.write { db in
    let team = try Team.find(db, key: 1)
    try team.delete(db)
    print(
        "\(try Player.fetchCount(db)) player, \(try Player.ignoringDefaultFilter(.deleted).fetchCount(db)) rows"
    )
    return team.id
}

//: It comes back with the players that the deletion took along. Barbara had left before.

try dbQueue.write { db in
    try Team.filter(key: team).restoreAll(db)
    print(try Player.order(Column("name")).fetchAll(db).map(\.name))
}

//: `destroy` is for good.

try dbQueue.write { db in
    let count = try Player.ignoringDefaultFilter(.deleted).filter(Column("deletedAt") != nil).destroyAll(db)
    print("\(count) player is gone")
}

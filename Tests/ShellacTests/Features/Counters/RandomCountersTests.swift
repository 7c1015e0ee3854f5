import Shellac
import TestSupport
import Testing

/// Random histories of rows that are counted.
@Suite("Random histories of counted rows")
struct RandomCountersTests {
    /// A model of the rows: it repeats each operation that SQLite runs.
    private struct Model {
        var teams: Set<Int> = []
        private(set) var players: [Int: (code: Int, team: Int?)] = [:]
        /// The players by their codes.
        private(set) var owners: [Int: Int] = [:]

        func counts() -> [Int: Int] {
            var counts = Dictionary(uniqueKeysWithValues: teams.map { ($0, 0) })
            for case let team? in players.values.map(\.team) { counts[team, default: 0] += 1 }
            return counts
        }

        mutating func set(_ id: Int, _ code: Int, _ team: Int?) {
            // A player that has the code is in the way.
            if let owner = owners[code] { remove(owner) }
            remove(id)
            players[id] = (code, team)
            owners[code] = id
        }

        mutating func remove(_ id: Int) {
            if let code = players.removeValue(forKey: id)?.code { owners[code] = nil }
        }

        mutating func move(from team: Int, to other: Int?) {
            for (id, player) in players where player.team == team { players[id]?.team = other }
        }
    }

    @Test(
        "100,000 statements, in two histories, leave the counts that are counted by hand",
        arguments: [false, true])
    func longHistory(isRecursive: Bool) throws {
        let seed: UInt64 = isRecursive ? 2 : 1
        var generator = SeededGenerator(seed: seed)
        func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
        let queue = try DatabaseQueue()
        var model = Model()
        try queue.write { db in
            try db.create(table: "team") { t in
                t.autoIncrementedPrimaryKey("id")
                t.counter("n", of: "player")
            }
            try db.create(table: "player") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("code", .integer).unique()
                t.column("teamID", .integer).references("team", onDelete: .setNull, onUpdate: .cascade)
                    .indexed()
            }
        }
        try queue.inDatabase { try $0.execute(sql: "PRAGMA recursive_triggers = \(isRecursive)") }
        try queue.write { db in
            let replacement = try db.makeStatement(sql: "REPLACE INTO player VALUES (?, ?, ?)")
            let insertion = try db.makeStatement(sql: "INSERT OR IGNORE INTO player VALUES (?, ?, ?)")
            let update = try db.makeStatement(
                sql: "UPDATE OR REPLACE player SET code = ?, teamID = ? WHERE id = ?")
            let deletion = try db.makeStatement(sql: "DELETE FROM player WHERE id = ?")
            let teamInsertion = try db.makeStatement(sql: "INSERT OR IGNORE INTO team VALUES (?, 9)")
            let teamDeletion = try db.makeStatement(sql: "DELETE FROM team WHERE id = ?")
            let teamUpdate = try db.makeStatement(sql: "UPDATE OR IGNORE team SET id = ? WHERE id = ?")
            for step in 1...50_000 {
                let (id, code) = (number(0..<60), number(0..<60))
                let wanted = number(0..<12)
                let team = model.teams.contains(wanted) ? wanted : nil
                switch number(0..<20) {
                case 0..<6:
                    try replacement.execute(arguments: [id, code, team])
                    model.set(id, code, team)
                case 6..<9:
                    try insertion.execute(arguments: [id, code, team])
                    if model.players[id] == nil, model.owners[code] == nil { model.set(id, code, team) }
                case 9..<13:
                    try update.execute(arguments: [code, team, id])
                    if model.players[id] != nil { model.set(id, code, team) }
                case 13..<16:
                    try deletion.execute(arguments: [id])
                    model.remove(id)
                case 16..<18:
                    try teamInsertion.execute(arguments: [wanted])
                    model.teams.insert(wanted)
                case 18:
                    try teamDeletion.execute(arguments: [wanted])
                    model.teams.remove(wanted)
                    model.move(from: wanted, to: nil)
                default:
                    let new = number(0..<12)
                    try teamUpdate.execute(arguments: [new, wanted])
                    if team != nil, !model.teams.contains(new) {
                        model.teams.remove(wanted)
                        model.teams.insert(new)
                        model.move(from: wanted, to: new)
                    }
                }
                if step % 500 == 0 {
                    let rows = try Row.fetchAll(db, sql: "SELECT id, n FROM team")
                    let counts = try Dictionary(
                        uniqueKeysWithValues: rows.map { try ($0["id"] as Int, $0["n"] as Int) })
                    try #require(counts == model.counts(), "seed \(seed), step \(step)")
                }
            }
        }
    }

    @Test(
        "Keys that differ in their letters alone are one key, for counters, too",
        arguments: [1, 2, 3, 4] as [UInt64])
    func collatedKeys(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
        /// A word that means a number, in any letters.
        func word(_ number: Int) -> String {
            let text = "key\(number)"
            return Bool.random(using: &generator) ? text : text.uppercased()
        }
        let queue = try DatabaseQueue()
        var model = Model()
        model.teams = Set(0..<5)
        try queue.write { db in
            try db.create(table: "team") { t in
                t.primaryKey("id", .integer)
                t.counter("n", of: "player")
            }
            let hasRowID = seed % 2 == 0
            try db.create(table: "player", options: hasRowID ? [] : .withoutRowID) { t in
                t.primaryKey("name", .text).collate(.nocase)
                t.column("code", .text).unique().collate(.nocase)
                t.column("teamID", .integer).references("team").indexed()
            }
            try db.execute(sql: "PRAGMA recursive_triggers = \(seed > 2)")
            for team in model.teams {
                try db.execute(sql: "INSERT INTO team (id) VALUES (?)", arguments: [team])
            }
            for step in 1...3_000 {
                let (id, code, team) = (number(0..<20), number(0..<20), number(0..<5))
                let (name, codeWord) = (word(id), word(code))
                switch number(0..<8) {
                case 0..<4:
                    try db.execute(
                        sql: "REPLACE INTO player VALUES (?, ?, ?)", arguments: [name, codeWord, team])
                    model.set(id, code, team)
                case 4:
                    try db.execute(
                        sql: "INSERT OR IGNORE INTO player VALUES (?, ?, ?)",
                        arguments: [name, codeWord, team])
                    if model.players[id] == nil, model.owners[code] == nil { model.set(id, code, team) }
                case 5, 6:
                    try db.execute(
                        sql: "UPDATE OR REPLACE player SET name = ?, code = ?, teamID = ? WHERE name = ?",
                        arguments: [name, codeWord, team, word(id)])
                    if model.players[id] != nil { model.set(id, code, team) }
                default:
                    try db.execute(sql: "DELETE FROM player WHERE name = ?", arguments: [name])
                    model.remove(id)
                }
                if step % 50 == 0 {
                    let rows = try Row.fetchAll(db, sql: "SELECT id, n FROM team")
                    let counts = try Dictionary(
                        uniqueKeysWithValues: rows.map { try ($0["id"] as Int, $0["n"] as Int) })
                    try #require(counts == model.counts(), "seed \(seed), step \(step)")
                }
            }
        }
    }

    private static let shapes = ["rows", "keys", "tree"]

    @Test(
        "of all shapes, conflict policies, actions and transactions leave exact counts", arguments: shapes,
        0..<4)
    func policies(shape: String, number: Int) throws {
        let seed = UInt64(number)
        var generator = SeededGenerator(seed: seed)
        func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
        func one(_ texts: String...) -> String { texts[below(texts.count)] }
        func value(_ bound: Int) -> String { below(8) == 0 ? "NULL" : "\(below(bound))" }
        let queue = try DatabaseQueue()
        let actions: [Database.ForeignKeyAction?] = [.cascade, .setNull, nil]
        let (onDelete, onUpdate) = (actions[below(3)], actions[below(3)])
        let (isEnforced, isRecursive) = (number % 2 == 0, number / 2 == 0)
        try queue.write { db in
            switch shape {
            case "tree":
                try db.create(table: "parent") { t in
                    t.autoIncrementedPrimaryKey("a")
                    t.column("code", .integer).unique()
                    t.column("x", .integer).references(
                        "parent", onDelete: onDelete, onUpdate: onUpdate, deferred: true)
                    t.counter("n", of: "parent")
                }
            case "keys":
                try db.create(table: "parent", options: .withoutRowID) { t in
                    t.primaryKey {
                        t.column("a", .integer)
                        t.column("b", .integer)
                    }
                    t.counter("n", of: "child")
                }
                try db.create(table: "child", options: .withoutRowID) { t in
                    t.primaryKey {
                        t.column("k", .integer)
                        t.column("l", .integer)
                    }
                    t.column("code", .integer).unique()
                    t.column("x", .integer)
                    t.column("y", .integer)
                    t.foreignKey(
                        ["x", "y"], references: "parent", onDelete: onDelete, onUpdate: onUpdate,
                        deferred: true)
                }
            default:
                try db.create(table: "parent") { t in
                    t.autoIncrementedPrimaryKey("a")
                    t.counter("n", of: "child")
                }
                try db.create(table: "child") { t in
                    t.column("code", .integer).unique()
                    t.column("k", .integer)
                    t.column("x", .integer).references(
                        "parent", onDelete: onDelete, onUpdate: onUpdate, deferred: true)
                    t.column("y", .integer)
                    t.uniqueKey(["k", "y"])
                }
            }
        }
        try queue.inDatabase { db in
            try db.execute(
                sql: "PRAGMA foreign_keys = \(isEnforced); PRAGMA recursive_triggers = \(isRecursive)")
        }
        try queue.writeWithoutTransaction { db in
            var done = 0
            for step in 0..<600 {
                let policy = one("", "OR REPLACE", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ABORT")
                let upsert = one(
                    "", "", "", " ON CONFLICT DO NOTHING",
                    " ON CONFLICT (code) DO UPDATE SET code = excluded.code + 1")
                let sql: String
                switch (shape, below(9)) {
                case ("tree", 0..<3):
                    sql =
                        "INSERT \(policy) INTO parent VALUES (\(value(7)), \(value(7)), \(value(7)), \(below(7)))\(upsert)"
                case ("tree", 3): sql = "UPDATE \(policy) parent SET x = \(value(7)) WHERE a > \(below(7))"
                case ("tree", 4):
                    sql = "UPDATE \(policy) parent SET a = \(below(7)), x = \(value(7)) WHERE a = \(below(7))"
                case ("tree", 5): sql = "UPDATE \(policy) parent SET a = a + 1, code = \(value(7))"
                case ("tree", 6): sql = "UPDATE \(policy) parent SET x = a WHERE a = \(below(7))"
                case ("tree", 7): sql = "UPDATE \(policy) parent SET a = -a"
                case ("keys", 0..<3):
                    sql =
                        "INSERT \(policy) INTO child VALUES (\(below(4)), \(below(3)), \(value(9)), \(value(4)), \(value(3)))\(upsert)"
                case ("keys", 3):
                    sql =
                        "UPDATE \(policy) child SET k = \(below(4)), code = \(value(9)), y = \(value(3)) WHERE k = \(below(4))"
                case ("keys", 4):
                    sql = "INSERT \(policy) INTO parent VALUES (\(below(4)), \(below(3)), \(below(9)))"
                case ("keys", 5): sql = "UPDATE \(policy) parent SET a = \(below(4)) WHERE b = \(below(3))"
                case ("keys", 6): sql = "UPDATE \(policy) parent SET a = b, b = a"
                case ("keys", 7): sql = "DELETE FROM child WHERE k = \(below(4))"
                case (_, 0..<3):
                    sql =
                        "INSERT \(policy) INTO child (rowid, code, k, x, y) VALUES (\(value(9)), \(value(9)), \(value(3)), \(value(7)), \(value(3))), "
                        + "(NULL, \(value(9)), 1, \(value(7)), \(value(3)))\(upsert)"
                case ("rows", 3):
                    sql =
                        "UPDATE \(policy) child SET rowid = \(below(9)), x = \(value(7)) WHERE code = \(below(9))"
                case ("rows", 4):
                    sql =
                        "UPDATE \(policy) child SET code = code + 1, k = \(value(3)) WHERE rowid > \(below(9))"
                case ("rows", 5): sql = "INSERT \(policy) INTO parent VALUES (\(value(7)), \(below(9)))"
                case ("rows", 6): sql = "UPDATE \(policy) parent SET a = a + \(1 + below(2))"
                case ("rows", 7): sql = "DELETE FROM child WHERE rowid > \(4 + below(9))"
                default: sql = "DELETE FROM parent WHERE a = \(below(7))"
                }
                if below(10) == 0 { try? db.execute(sql: db.isInsideTransaction ? "COMMIT" : "BEGIN") }
                if (try? db.execute(sql: sql)) != nil { done += 1 }
                let wrong = try db.inaccurateCounters("parent", "n")
                try #require(wrong == 0, "seed \(seed), step \(step): \(sql)")
            }
            #expect(done > 120)
            if db.isInsideTransaction { try db.execute(sql: "ROLLBACK") }
        }
    }
}

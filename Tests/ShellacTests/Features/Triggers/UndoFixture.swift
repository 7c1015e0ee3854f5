import Foundation
import Shellac
import TestSupport

/// Tables of all shapes, with stamps by a clock that the tests move, and an undo that records them.
struct UndoFixture {
    let clock = StampClock()
    let queue: DatabaseQueue
    let undo: DatabaseUndo

    static let tables = ["team", "player", "tag", "loose", "pair", "total"]

    static let schema = """
        CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, createdAt, updatedAt);
        CREATE TABLE player (id INTEGER PRIMARY KEY AUTOINCREMENT,
            teamId INTEGER REFERENCES team ON DELETE CASCADE ON UPDATE CASCADE,
            name TEXT, score REAL, email TEXT UNIQUE, data, updatedAt,
            double AS (score * 2), upper TEXT AS (upper(name)) STORED);
        CREATE UNIQUE INDEX best ON player (lower(name) DESC /* the best */, (score > 95))
            WHERE player.score > 90;
        CREATE TABLE tag (weight, player INTEGER REFERENCES player ON DELETE CASCADE, label TEXT COLLATE NOCASE,
            PRIMARY KEY (label, player)) WITHOUT ROWID;
        CREATE TABLE loose (a, b, rowid TEXT);
        CREATE TABLE pair (code TEXT PRIMARY KEY, partner TEXT REFERENCES pair ON DELETE SET NULL ON UPDATE CASCADE,
            n INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 7 UNIQUE);
        CREATE TABLE total (id INTEGER PRIMARY KEY, count INTEGER);
        INSERT INTO total VALUES (1, 0);
        CREATE TRIGGER count1 AFTER INSERT ON player BEGIN UPDATE total SET count = count + 1; END;
        CREATE TRIGGER count2 AFTER DELETE ON player BEGIN UPDATE total SET count = count - 1; END;
        CREATE TRIGGER trim AFTER INSERT ON loose WHEN NEW.b = 'gone' BEGIN DELETE FROM loose WHERE b = 'gone'; END;
        """

    static let memos = """
        CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE memo (id INTEGER PRIMARY KEY, title TEXT COLLATE NOCASE, score INTEGER NOT NULL DEFAULT 0,
            createdAt TEXT, updatedAt TEXT, titleChangedAt TEXT, team REFERENCES team ON DELETE CASCADE);
        CREATE TABLE code (id INTEGER PRIMARY KEY, n UNIQUE);
        """

    init(
        path: String? = nil, schema: String = UndoFixture.schema, tables: [String] = UndoFixture.tables,
        recursiveTriggers: Bool = false, limit: Int? = nil
    ) throws {
        let configuration = clock.configuration()
        queue =
            try path.map { try DatabaseQueue(path: $0, configuration: configuration) }
            ?? DatabaseQueue(configuration: configuration)
        try queue.inDatabase { db in
            try db.execute(sql: schema)
            if recursiveTriggers { try db.execute(sql: "PRAGMA recursive_triggers = ON") }
            if tables == Self.tables {
                try db.register(DatabaseStamps(created: "createdAt", updated: "updatedAt"), on: "team")
                try db.register(DatabaseStamps(updated: "updatedAt"), on: "player")
            }
        }
        undo = try DatabaseUndo(queue, tables: tables, limit: limit)
    }

    /// Everything in the tables, to the byte and the storage class.
    func dump() throws -> [String] {
        try queue.inDatabase { db in
            var lines: [String] = []
            for table in undo.tables {
                let columns = try db.columns(in: table).map(\.name.quotedDatabaseIdentifier)
                let key = try db.primaryKey(table).tableHasRowID
                var values = columns.map { "typeof(\($0)) || ' ' || quote(\($0)) || hex(\($0))" }
                if key { values.insert("_rowid_", at: 0) }
                let rows = try Row.fetchAll(
                    db,
                    sql:
                        "SELECT \(values.joined(separator: ", ")) FROM main.\(table.quotedDatabaseIdentifier)"
                )
                lines += rows.map { row in
                    "\(table): " + row.databaseValues.map(\.description).joined(separator: " | ")
                }
            }
            return lines.sorted()
        }
    }

    /// Executes SQL in a transaction, a minute after the one before.
    func write(_ sql: String) throws {
        clock.advance()
        try queue.write { db in try db.execute(sql: sql) }
    }

    /// Executes SQL outside of transactions, a minute after what was before.
    func execute(_ sql: String) throws {
        clock.advance()
        try queue.inDatabase { db in try db.execute(sql: sql) }
    }
}

/// Random work on the tables of ``UndoFixture``.
struct UndoWorkload {
    var random: SeededGenerator
    /// The statements of the last access, for the message of a failing test.
    private(set) var log: [String] = []

    init(seed: Int) { random = SeededGenerator(seed: UInt64(seed)) }

    mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
    mutating func pick<T>(_ items: [T]) -> T { items[number(0...items.count - 1)] }

    mutating func name() -> String { pick(["a", "A", "b", "B", "é", "x' y"]).quotedLiteral }

    mutating func value() -> String {
        pick([
            "NULL", "1", "1.0", "'1'", "x'00ff'", "'a' || char(0) || 'b'", "''", "x''", "9e999", "-0.5",
            "9007199254740993", "'NaN'", "zeroblob(3)", "\(number(-5...5))",
        ])
    }

    /// A row id: mostly one that is there, or else one with a special meaning. If the greatest id
    /// is in use, SQLite takes ids by chance, except in a table with AUTOINCREMENT.
    mutating func id(upTo greatest: Int64) -> Int64 {
        switch number(0...9) {
        case 0: pick([-1, 0, .min, greatest])
        case 1: -1
        default: Int64(number(1...8))
        }
    }

    /// A statement, which may fail.
    mutating func statement() -> String {
        let conflict = pick(["", "", " OR REPLACE", " OR IGNORE", " OR FAIL", " OR ABORT"])
        let kind = number(0...27)
        let isPlayer = [5, 6, 7, 9, 10, 13, 14].contains(kind)
        let id = id(upTo: isPlayer ? 9 : .max)
        let other = self.id(upTo: isPlayer ? 9 : .max)
        switch kind {
        case 0: return "INSERT\(conflict) INTO team (name) VALUES (\(name()))"
        case 1: return "INSERT\(conflict) INTO team VALUES (\(id), \(name()), 'long ago', NULL)"
        case 2: return "UPDATE\(conflict) team SET id = \(other) WHERE id = \(id)"
        case 3: return "UPDATE\(conflict) team SET name = \(name()) WHERE id = \(id)"
        case 4: return "DELETE FROM team WHERE id = \(id)"
        case 5, 6:
            return
                "INSERT\(conflict) INTO player (teamId, name, score, email, data) VALUES (\(pick(["NULL", "\(id)"])), \(name()), \(number(88...99)), \(pick(["NULL", name()])), \(value()))"
        case 7:
            return
                "INSERT\(conflict) INTO player (id, name, score, data) VALUES (\(id), \(name()), \(number(88...99)), \(value())), (\(other), \(name()), 1, \(value()))"
        case 8:
            return
                "UPDATE\(conflict) player SET score = \(number(88...99)), data = \(value()) WHERE id % 2 = 0"
        case 9: return "UPDATE\(conflict) player SET email = \(name()) WHERE id = \(id)"
        case 10: return "UPDATE\(conflict) player SET rowid = \(other) WHERE id = \(id)"
        case 11: return "UPDATE\(conflict) player SET name = \(name())"
        case 12: return "DELETE FROM player WHERE score > \(number(88...99))"
        case 13:
            return
                "INSERT\(conflict) INTO tag (weight, player, label) SELECT \(value()), id, \(name()) FROM player"
        case 14: return "UPDATE\(conflict) tag SET label = \(name()) WHERE player = \(id)"
        case 15: return "UPDATE\(conflict) tag SET weight = \(value()), label = upper(label)"
        case 16:
            return pick(["DELETE FROM tag", "DELETE FROM loose", "DELETE FROM pair", "DELETE FROM player"])
        case 17: return "INSERT INTO loose VALUES (\(value()), \(value()), \(value()))"
        case 18: return "INSERT INTO loose VALUES (1, 'gone', 2)"
        case 19: return "UPDATE\(conflict) loose SET _rowid_ = _rowid_ + \(number(0...1)), a = \(value())"
        case 20: return "DELETE FROM loose WHERE _rowid_ = \(id)"
        case 21:
            return
                "INSERT\(conflict) INTO pair VALUES (\(name()), \(pick(["NULL", name()])), \(pick(["NULL", "\(id)"])))"
        case 22: return "UPDATE\(conflict) pair SET n = \(pick(["NULL", "\(id)"])) WHERE code = \(name())"
        case 23: return "UPDATE\(conflict) pair SET code = \(name()), n = n + 1 WHERE n > \(id)"
        case 24: return "INSERT\(conflict) INTO loose (_rowid_, a) VALUES (\(id), \(value()))"
        case 25: return "INSERT OR REPLACE INTO team (id, name) VALUES (\(id), \(name()))"
        case 26: return "UPDATE\(conflict) loose SET _rowid_ = \(other) WHERE _rowid_ = \(id)"
        default:
            return
                "INSERT INTO team (id, name) VALUES (\(id), \(name())) ON CONFLICT (id) DO UPDATE SET name = excluded.name || '!'"
        }
    }

    /// Works for the time of one access.
    mutating func work(_ fixture: UndoFixture) throws {
        fixture.clock.advance()
        let kind = number(0...6)
        var steps: [String] = []
        defer { log = ["kind \(kind)"] + steps }
        for _ in 0...number(0...4) { steps.append(statement()) }
        switch kind {
        case 0:
            // Transactions of one statement each.
            try fixture.queue.inDatabase { db in for sql in steps { try? db.execute(sql: sql) } }
        case 6:
            // Such ones beside a transaction.
            try fixture.queue.inDatabase { db in
                for sql in steps { try? db.execute(sql: sql) }
                try db.inTransaction {
                    for sql in steps { try? db.execute(sql: sql) }
                    return .commit
                }
                for sql in steps { try? db.execute(sql: sql) }
            }
        case 1:
            try fixture.queue.inTransaction { db in
                for sql in steps { try? db.execute(sql: sql) }
                return .rollback
            }
        default:
            let plan = steps.map { ($0, number(0...3)) }
            try? fixture.queue.write { db in
                for (sql, kind) in plan {
                    switch kind {
                    case 0: try? db.execute(sql: sql)
                    case 1:
                        try? db.inSavepoint {
                            try db.execute(sql: sql)
                            return .rollback
                        }
                    default:
                        try? db.inSavepoint {
                            try db.execute(sql: sql)
                            return .commit
                        }
                    }
                }
            }
        }
    }
}

extension String {
    fileprivate var quotedLiteral: String { "'" + replacingOccurrences(of: "'", with: "''") + "'" }
}

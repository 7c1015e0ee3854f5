import Shellac
import TestSupport

/// A random workload on the tables `a` and `b`, and `w`, which is WITHOUT ROWID.
struct ReplicaWorkload {
    static let schema = """
        CREATE TABLE a (id INTEGER PRIMARY KEY, v, u UNIQUE);
        CREATE TABLE b (id INTEGER PRIMARY KEY, a REFERENCES a ON DELETE CASCADE, v);
        CREATE TABLE w (k TEXT, g AS (v || 'g'), v INTEGER, u INTEGER UNIQUE, r REAL,
            b INTEGER REFERENCES b ON DELETE CASCADE, PRIMARY KEY (v, k)) WITHOUT ROWID;
        CREATE TRIGGER refuses BEFORE UPDATE ON a WHEN NEW.v < 0 BEGIN SELECT RAISE(ABORT, 'no'); END;
        CREATE TRIGGER adds AFTER DELETE ON b WHEN OLD.v = 7 BEGIN INSERT INTO b (v) VALUES (8); END;
        CREATE TRIGGER moves AFTER UPDATE ON w WHEN NEW.v = 7 BEGIN
            UPDATE w SET v = 8 WHERE v = 7 AND k = NEW.k; END;
        """

    var random: SeededGenerator
    /// The number of open savepoints.
    var depth = 0
    /// Whether there are changes that SQLite hides from observers.
    var hasHiddenChanges = false

    /// A queue with the tables, and functions that fail and nest.
    static func queue(seed: Int) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(sql: schema)
            try db.add(
                function: DatabaseFunction("fails", argumentCount: 2) { values in
                    if values[0] == 1.databaseValue { throw TestError(seed) }
                    return values[1]
                })
            try db.add(
                function: DatabaseFunction("nests", argumentCount: 1) { [unowned db] values in
                    try db.execute(sql: "INSERT INTO b (v) VALUES (?)", arguments: [values[0]])
                    if values[0] == 3.databaseValue { throw TestError(seed) }
                    return values[0]
                })
            try db.add(
                function: DatabaseFunction("stores", argumentCount: 1) { [unowned db] values in
                    try db.execute(sql: "INSERT INTO w (k, v) VALUES ('n', ?)", arguments: [values[0]])
                    if values[0] == 3.databaseValue { throw TestError(seed) }
                    return values[0]
                })
        }
        return queue
    }

    /// Runs a random transaction, or single statements. Returns the statements.
    mutating func transaction(_ db: Database) throws -> [String] {
        let kind = number(0...9)
        if kind > 1 { try db.execute(sql: kind > 7 ? "SAVEPOINT s" : "BEGIN") }
        var statements: [String] = []
        for _ in 0..<number(1...6) {
            let isSavepoint = kind > 4 && number(0...2) == 0
            let isHidden = hasHiddenChanges && number(0...1) == 0
            statements.append(isSavepoint ? savepoint() : isHidden ? hidingStatement() : statement())
            try? db.execute(sql: statements.last ?? "")
        }
        let isRolledBack = number(0...4) == 0
        if db.isInsideTransaction { try db.execute(sql: isRolledBack ? "ROLLBACK" : "COMMIT") }
        try? db.execute(sql: "ROLLBACK")
        return statements
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// A statement, which may fail.
    mutating func statement() -> String {
        let (id, v, u) = (number(1...12), number(0...99), number(1...12))
        let conflict = ["", "", "OR FAIL", "OR IGNORE", "OR ABORT"][number(0...4)]
        switch number(0...15) {
        case 0, 1:
            return "INSERT \(conflict) INTO a (v, u) VALUES (\(v), NULL), (\(v), \(u)), (\(v), NULL)"
        case 2: return "INSERT \(conflict) INTO a VALUES (\(id), \(v), NULL)"
        case 3: return "UPDATE \(conflict) a SET v = \(v), u = \(u) WHERE id BETWEEN \(id) AND \(id + 2)"
        case 4: return "UPDATE a SET v = v + 1"
        case 5: return "DELETE FROM a WHERE id = \(id)"
        case 6: return "DELETE FROM \(number(0...3) == 0 ? "a" : "b")"
        case 7: return "INSERT INTO b (a, v) VALUES (\(id), \(v)), (\(u), \(v))"
        case 8: return "REPLACE INTO b (id, a, v) VALUES (\(id), (SELECT min(id) FROM a), \(v))"
        case 9:
            return "INSERT INTO a VALUES (\(id), \(v), NULL), (\(u), \(v), NULL) "
                + "ON CONFLICT (id) DO UPDATE SET v = excluded.v"
        case 10: return "INSERT INTO b (a, v) SELECT id, fails(id % 3, v) FROM a"
        case 11: return "UPDATE b SET v = fails(id % 4, \(v))"
        case 12: return "INSERT INTO b (v) SELECT nests(v) FROM a WHERE id < 3"
        // The trigger refuses negative values.
        case 13: return "UPDATE a SET v = \(u - 9) - id WHERE id > 3"
        case 14:
            return "INSERT OR \(number(0...9) == 0 ? "ROLLBACK" : "FAIL") INTO a (v, u) VALUES (1, \(u))"
        default: return "UPDATE b SET v = \(v) WHERE a = \(id) RETURNING id"
        }
    }

    /// A statement whose changes SQLite hides, which may fail.
    mutating func hidingStatement() -> String {
        let (v, u, k) = (number(0...9), number(1...12), ["a", "b", "c"][number(0...2)])
        let conflict = ["", "", "OR FAIL", "OR IGNORE", "OR REPLACE", "OR REPLACE"][number(0...5)]
        switch number(0...15) {
        case 0, 1:
            return
                "INSERT \(conflict) INTO w (k, v, u, r) VALUES ('\(k)', \(v), \(u), \(v)), "
                + "('\(k)', \(u), \(v), 0.5)"
        case 2: return "UPDATE \(conflict) w SET v = \(v) WHERE k = '\(k)'"
        case 3: return "UPDATE \(conflict) w SET u = \(u), r = \(v) WHERE v < \(u)"
        case 4: return "UPDATE \(conflict) w SET r = v + 1"
        case 5: return "DELETE FROM w WHERE v = \(v)"
        case 6: return number(0...3) == 0 ? "DELETE FROM w" : "DELETE FROM w WHERE k = '\(k)'"
        case 7: return "INSERT INTO w (k, v, b) SELECT '\(k)', id, id FROM b WHERE id > \(v)"
        case 8:
            return
                "INSERT INTO w (k, v, u) VALUES ('\(k)', \(v), \(u)) "
                + "ON CONFLICT DO UPDATE SET r = \(u), v = excluded.v"
        case 9: return "INSERT INTO w (k, v) SELECT '\(k)', stores(v) FROM a WHERE id < 3"
        case 10: return "UPDATE w SET r = fails(v % 4, \(v))"
        case 13: return "UPDATE OR REPLACE b SET id = \(u) WHERE id = \(v)"
        case 14: return "UPDATE b SET rowid = \(u) WHERE id = \(v)"
        case 11: return "REPLACE INTO a VALUES (\(u), \(v), \(number(1...12)))"
        case 12: return "UPDATE OR REPLACE a SET u = \(u) WHERE id BETWEEN \(v) AND \(v + 3)"
        default: return "REPLACE INTO b (id, a, v) SELECT id % 4, min(id, 3), 7 FROM a"
        }
    }

    /// A statement that opens or ends a savepoint.
    mutating func savepoint() -> String {
        let name = ["s", "S", "t"][number(0...2)]
        return ["SAVEPOINT \(name)", "SAVEPOINT \(name)", "RELEASE \(name)", "ROLLBACK TO \(name)"][
            number(0...3)]
    }
}

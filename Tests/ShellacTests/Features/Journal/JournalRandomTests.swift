import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Random transactions, whose entries are compared with the records of SQLite's session
/// extension.
///
/// The session runs on another connection, without Shellac, on which the same statements run. The
/// variables `SHELLAC_JOURNAL_SEED`, `SHELLAC_JOURNAL_COUNT` and `SHELLAC_JOURNAL_TRANSACTIONS`
/// set the seeds, and the number of transactions of each.
@Suite("The journal beside SQLite's sessions", .behaviour(128))
struct JournalRandomTests {
    static let schema = """
        CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
        CREATE TABLE player (
            id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT REPLACE, score REAL CHECK (score IS NOT 7),
            teamID INTEGER REFERENCES team ON DELETE CASCADE ON UPDATE CASCADE,
            bossID INTEGER REFERENCES player ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED, note);
        CREATE TABLE entry (v, b TEXT NOT NULL, a INTEGER, n NUMERIC, PRIMARY KEY (b, a)) WITHOUT ROWID;
        CREATE TABLE item (code BLOB PRIMARY KEY NOT NULL, teamID INTEGER REFERENCES team ON DELETE RESTRICT, x);
        CREATE TABLE log (id INTEGER PRIMARY KEY AUTOINCREMENT, text);
        CREATE TABLE other (x);
        CREATE TRIGGER t1 AFTER UPDATE OF score ON player BEGIN INSERT INTO log (text) VALUES (NEW.name); END;
        CREATE TRIGGER t2 BEFORE DELETE ON team BEGIN
            UPDATE player SET note = OLD.name WHERE teamID = OLD.id;
            INSERT INTO log (text) VALUES ('team');
        END;
        CREATE TRIGGER t3 AFTER INSERT ON entry WHEN NEW.v > 2 BEGIN
            UPDATE OR REPLACE player SET name = NEW.b WHERE id = NEW.a;
            SELECT RAISE(FAIL, 'failed') WHERE NEW.v = 5;
            SELECT RAISE(ABORT, 'aborted') WHERE NEW.v = 6;
            SELECT RAISE(IGNORE) WHERE NEW.v = 7;
            DELETE FROM log WHERE id % 3 = 0;
        END;
        CREATE TRIGGER t4 BEFORE INSERT ON item BEGIN
            INSERT INTO log (text) VALUES ('item');
            UPDATE log SET text = text || 'x' WHERE id % 4 = 0;
        END;
        """
    /// The same tables without the rules that would act while changes are played back.
    private static let plainSchema = """
        CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score REAL, teamID INTEGER, bossID INTEGER, note);
        CREATE TABLE entry (v, b TEXT NOT NULL, a INTEGER, n NUMERIC, PRIMARY KEY (b, a)) WITHOUT ROWID;
        CREATE TABLE item (code BLOB PRIMARY KEY NOT NULL, teamID INTEGER, x);
        CREATE TABLE log (id INTEGER PRIMARY KEY, text);
        """
    private static let tables = ["team", "player", "entry", "item", "log"]

    /// A generator of statements.
    struct Statements {
        var generator: SeededGenerator

        mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
        private mutating func one(_ choices: String...) -> String { choices[number(0..<choices.count)] }
        private mutating func name() -> String {
            one("'a'", "'b'", "'c'", "'d'", "'D'", "'e'", "NULL", "'é'")
        }
        private mutating func id() -> String { "\(number(1..<8))" }
        private mutating func value() -> String {
            one(
                "NULL", "0", "1", "2.5", "7", "'text'", "x'00ff'", "'12'", "1e300", "-4", "3.0",
                "zeroblob(200)")
        }
        private mutating func policy() -> String {
            one(
                "", "", "", " OR REPLACE", " OR IGNORE", " OR FAIL", " OR ABORT",
                number(0..<6) == 0 ? " OR ROLLBACK" : "")
        }

        mutating func statement() -> String {
            switch number(0..<22) {
            case 0: "INSERT\(policy()) INTO team VALUES (\(id()), \(name())), (\(id()), \(name()))"
            case 1: "UPDATE\(policy()) team SET id = \(id()) WHERE id = \(id())"
            case 2: "DELETE FROM team WHERE id = \(id())"
            case 3, 4:
                "INSERT\(policy()) INTO player VALUES (\(id()), \(name()), \(value()), \(one("NULL", id())), \(one("NULL", "NULL", id())), \(value()))"
            case 5:
                "INSERT\(policy()) INTO player (name, score) VALUES (\(name()), 1), (\(name()), \(value())), (\(name()), 3)"
            case 6: "UPDATE\(policy()) player SET score = \(value()), note = \(value()) WHERE id < \(id())"
            case 7: "UPDATE\(policy()) player SET id = id + \(one("1", "2", "-1")) WHERE id > \(id())"
            case 8: "UPDATE\(policy()) player SET name = \(name()) WHERE id = \(id())"
            case 9: "DELETE FROM player WHERE \(one("id = \(id())", "id > \(id())", "score > 2", "1"))"
            case 10:
                "INSERT\(policy()) INTO entry VALUES (\(number(0..<9)), \(one("'a'", "'A'", "'b'")), \(id()), \(value()))"
            case 11:
                "UPDATE\(policy()) entry SET b = \(one("'a'", "'A'", "'b'")), n = \(value()) WHERE a = \(id())"
            case 12: "UPDATE\(policy()) entry SET v = \(value()), n = n WHERE a < \(id())"
            case 13: "DELETE FROM entry\(one("", " WHERE a = \(id())"))"
            case 14:
                "INSERT\(policy()) INTO item VALUES (x'0\(id())', \(one("NULL", id())), \(value())), (x'0\(id())', NULL, 1)"
            case 15:
                "UPDATE\(policy()) item SET x = \(value()), code = \(one("code", "x'0\(id())'")) WHERE code > x'0\(id())'"
            case 16: "DELETE FROM item WHERE teamID IS \(one("NULL", id()))"
            case 17: "DELETE FROM log\(one("", " WHERE id < \(number(0..<400))"))"
            case 18: "UPDATE player SET score = score, note = note"
            case 19:
                "INSERT INTO player (id, name) VALUES (\(id()), \(name())) ON CONFLICT (id) DO UPDATE SET name = excluded.name, score = ifnull(score, 0) + 1"
            case 20: "INSERT INTO other VALUES (1)"
            default:
                "UPDATE player SET teamID = \(one("NULL", id())), bossID = \(one("NULL", id())) WHERE id = \(id())"
            }
        }
    }

    /// A connection without Shellac.
    private final class Plain {
        let pointer: OpaquePointer

        init(schema: String = JournalRandomTests.schema) throws {
            var opened: OpaquePointer?
            sqlite3_open(":memory:", &opened)
            pointer = try #require(opened)
            _ = run("PRAGMA foreign_keys = ON")
            _ = run(schema)
        }

        deinit { sqlite3_close(pointer) }

        func run(_ sql: String) -> Int32 { sqlite3_exec(pointer, sql, nil, nil, nil) }
        var isInside: Bool { sqlite3_get_autocommit(pointer) == 0 }

        func contents() -> [[DatabaseValue]] { JournalRandomTests.contents(pointer) }
    }

    static func contents(_ pointer: OpaquePointer?) -> [[DatabaseValue]] {
        tables.flatMap { table in
            var rows: [[DatabaseValue]] = []
            var statement: OpaquePointer?
            sqlite3_prepare_v2(
                pointer, "SELECT '\(table)', * FROM \(table) ORDER BY 2, 3", -1, &statement, nil)
            defer { sqlite3_finalize(statement) }
            while sqlite3_step(statement) == SQLITE_ROW {
                rows.append(
                    (0..<sqlite3_column_count(statement)).map {
                        SQLiteValue(sqlite3_column_value(statement, $0)).databaseValue
                    })
            }
            return rows
        }
    }

    /// The changes without the mark of indirect ones.
    private static func unmarked(_ changes: [SQLiteSession.Change]) -> Set<SQLiteSession.Change> {
        Set(
            changes.map {
                var change = $0
                change.isIndirect = false
                return change
            })
    }

    @Test(
        "Entries have the changes that a session records", .enabled(if: SQLiteSession.isThere),
        arguments: SeededGenerator.seeds("JOURNAL", count: 4))
    func againstSessions(seed: UInt64) throws {
        var statements = Statements(generator: SeededGenerator(seed: seed))
        let plain = try Plain()
        let queue = try JournalCaptureTests.journaled(Self.schema, of: .all(except: ["other"]))
        let first = plain.contents()
        var all: [Changeset] = []
        let count = environmentNumber("SHELLAC_JOURNAL_TRANSACTIONS") ?? 250
        try queue.inDatabase { db in
            for round in 0..<count {
                var script: [String] = []
                var isUndone = false
                /// Runs a statement on both connections.
                func run(_ sql: String) -> Bool {
                    script.append(sql)
                    let code = plain.run(sql)
                    var result: ResultCode?
                    do { try db.execute(sql: sql) } catch {
                        result = (error as? DatabaseError)?.resultCode ?? .SQLITE_ERROR
                    }
                    #expect(
                        (code == SQLITE_OK) == (result == nil),
                        "\(seed) \(round): \(code) \(String(describing: result)) of \(sql)")
                    if code != SQLITE_OK { isUndone = true }
                    return code == SQLITE_OK
                }
                let last = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM shellac_journal") ?? 0
                let data = try SQLiteSession.record(plain.pointer, tables: Self.tables) {
                    if statements.number(0..<4) == 0 {
                        _ = run(statements.statement())
                        return
                    }
                    _ = run(statements.number(0..<5) == 0 ? "SAVEPOINT outer" : "BEGIN")
                    let isSavepoint = script.last == "SAVEPOINT outer"
                    var depth = 0
                    for _ in 0..<statements.number(1..<9) where plain.isInside {
                        switch statements.number(0..<10) {
                        case 0:
                            _ = run("SAVEPOINT s\(statements.number(0..<2))")
                            depth += 1
                        case 1 where depth > 0:
                            isUndone = true
                            _ = run("ROLLBACK TO s\(statements.number(0..<2))")
                        case 2 where depth > 0: _ = run("RELEASE s\(statements.number(0..<2))")
                        default: _ = run(statements.statement())
                        }
                    }
                    if !plain.isInside {
                        // OR ROLLBACK has ended the transaction.
                        try? db.rollback()
                    } else if statements.number(0..<8) == 0 {
                        _ = run("ROLLBACK")
                    } else if !run(isSavepoint ? "RELEASE outer" : "COMMIT") {
                        if statements.number(0..<2) == 0,
                            run("UPDATE player SET bossID = NULL, teamID = NULL"),
                            run("COMMIT")
                        {
                            return
                        }
                        _ = run("ROLLBACK")
                    }
                }
                #expect(!db.isInsideTransaction && !plain.isInside)
                let entries = try db.journalEntries(after: last)
                let changes = entries.flatMap { $0.changeset.asSQLiteReads }
                let expected = try SQLiteSession.changes(in: data)
                try #require(entries.count == (data.isEmpty ? 0 : 1), "\(seed) \(round): \(script)")
                try #require(
                    Self.unmarked(changes) == Self.unmarked(expected), "\(seed) \(round): \(script)")
                // A session marks a row as changed by a statement even if that was undone, or has
                // set the values that the row had.
                let direct = Set(changes.filter { !$0.isIndirect })
                let expectedDirect = Set(expected.filter { !$0.isIndirect })
                #expect(direct.isSubset(of: expectedDirect), "\(seed) \(round): \(script)")
                if !isUndone, !script.contains(where: { $0.contains("UPDATE") }) {
                    #expect(direct == expectedDirect, "\(seed) \(round): \(script)")
                }
                #expect(changes.count == expected.count, "\(seed) \(round): \(script)")
                #expect(entries.allSatisfy { !$0.followsGap })
                if let entry = entries.first, all.count < 2000 { all.append(entry.changeset) }
            }
            #expect(Self.contents(db.sqliteConnection) == plain.contents())
        }
        // Played back from the last to the first, the changes lead to the beginning.
        if all.count < 2000 {
            let copy = try Plain(schema: Self.plainSchema)
            for changeset in all { try SQLiteSession.apply(changeset.data, to: copy.pointer) }
            #expect(copy.contents() == plain.contents())
            for changeset in all.reversed() {
                try SQLiteSession.apply(changeset.inverted().data, to: copy.pointer)
            }
            #expect(copy.contents() == first)
        }
        #expect(!all.isEmpty)
    }
}

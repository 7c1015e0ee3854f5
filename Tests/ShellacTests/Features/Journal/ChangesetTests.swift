import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Changesets as values. SQLite's own functions are the judge, if the running SQLite has them.
@Suite("Changesets")
struct ChangesetTests {
    private static let schema = """
        CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score REAL, image BLOB, note);
        CREATE TABLE entry (b TEXT, value, a INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
        CREATE TABLE wide (k BLOB PRIMARY KEY NOT NULL, x INTEGER, y NUMERIC);
        """
    private static let tables = ["player", "entry", "wide"]

    /// Random writes, on their own connection.
    private final class Writer {
        var pointer: OpaquePointer?
        var generator: SeededGenerator

        init(seed: UInt64) throws {
            generator = SeededGenerator(seed: seed)
            sqlite3_open(":memory:", &pointer)
            try run(ChangesetTests.schema)
        }

        deinit { sqlite3_close(pointer) }

        func run(_ sql: String) throws {
            let code = sqlite3_exec(pointer, sql, nil, nil, nil)
            guard code == SQLITE_OK || code == SQLITE_CONSTRAINT else {
                throw DatabaseError(
                    resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(pointer)),
                    sql: sql)
            }
        }

        func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

        func value() -> String {
            switch number(0..<8) {
            case 0: "NULL"
            case 1: "\(number(-3..<4))"
            case 2: "\(number(-3..<4)).5"
            case 3: "'\(String(repeating: "é", count: number(0..<4)))'"
            case 4: "x'\(["", "00", "ff00", "0102030405"][number(0..<4)])'"
            case 5: "\(Int64.max - Int64(number(0..<2)))"
            case 6: "zeroblob(\([127, 128, 16383, 16384][number(0..<4)]))"
            default: "'\(String(repeating: "word", count: number(0..<50)))'"
            }
        }

        func write() throws {
            let id = number(0..<12)
            switch number(0..<9) {
            case 0, 1:
                try run(
                    "INSERT OR REPLACE INTO player VALUES (\(id), \(value()), \(value()), \(value()), \(value()))"
                )
            case 2:
                try run("UPDATE player SET name = \(value()), score = \(value()) WHERE id % 3 = \(id % 3)")
            case 3: try run("UPDATE OR IGNORE player SET id = \(number(0..<12)) WHERE id = \(id)")
            case 4: try run("DELETE FROM player WHERE id = \(id)")
            case 5: try run("INSERT OR REPLACE INTO entry VALUES ('\(id % 3)', \(value()), \(id % 2))")
            case 6: try run("UPDATE entry SET value = \(value()) WHERE a = \(id % 2)")
            case 7: try run("DELETE FROM entry WHERE b = '\(id % 3)'")
            default: try run("INSERT OR REPLACE INTO wide VALUES (x'0\(id % 8)', \(value()), \(value()))")
            }
        }

        func record(_ count: Int) throws -> Data {
            try SQLiteSession.record(pointer.unsafelyUnwrapped, tables: ChangesetTests.tables) {
                for _ in 0..<count { try write() }
            }
        }
    }

    private static func expectSame(_ changeset: Changeset, _ data: Data, _ comment: String) throws {
        let expected = try SQLiteSession.changes(in: data)
        #expect(Set(changeset.asSQLiteReads) == Set(expected), "\(comment)")
        #expect(changeset.count == expected.count, "\(comment)")
        // SQLite reads what was written here, too.
        #expect(try SQLiteSession.changes(in: changeset.data) == changeset.asSQLiteReads, "\(comment)")
    }

    @Test(
        "Changesets of SQLite are read, inverted and concatenated as SQLite does it",
        .enabled(if: SQLiteSession.isThere), arguments: SeededGenerator.seeds("CHANGESET", count: 40))
    func againstSQLite(seed: UInt64) throws {
        let writer = try Writer(seed: seed)
        _ = try writer.record(10)
        var all: (data: Data, changeset: Changeset)?
        for round in 0..<6 {
            let data = try writer.record(writer.number(1..<12))
            let changeset = try Changeset(data: data)
            #expect(try changeset.asSQLiteReads == SQLiteSession.changes(in: data))
            #expect(changeset.isEmpty == data.isEmpty)
            try Self.expectSame(changeset.inverted(), SQLiteSession.inverted(data), "invert \(seed) \(round)")
            #expect(Set(changeset.inverted().inverted()) == Set(changeset))
            // A changeset whose rows have one change each is written again byte by byte.
            #expect(try changeset.concatenated(with: Changeset()).data == data)
            if let earlier = all {
                let joined = try SQLiteSession.concatenated(earlier.data, data)
                let own = try earlier.changeset.concatenated(with: changeset)
                try Self.expectSame(own, joined, "concatenate \(seed) \(round)")
                all = (joined, own)
            } else {
                all = (data, changeset)
            }
        }
        let nothing = try #require(all?.changeset)
        #expect(try nothing.concatenated(with: nothing.inverted()).isEmpty)
    }

    @Test(
        "An inverted changeset takes SQLite back", .enabled(if: SQLiteSession.isThere),
        arguments: SeededGenerator.seeds("CHANGESET", count: 10))
    func roundTrip(seed: UInt64) throws {
        let writer = try Writer(seed: seed)
        _ = try writer.record(20)
        func contents() -> [[DatabaseValue]] {
            Self.tables.flatMap { table in
                var rows: [[DatabaseValue]] = []
                var statement: OpaquePointer?
                sqlite3_prepare_v2(
                    writer.pointer, "SELECT * FROM \(table) ORDER BY 1, 2", -1, &statement, nil)
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
        let before = contents()
        let changeset = try Changeset(data: writer.record(15))
        let after = contents()
        try SQLiteSession.apply(changeset.inverted().data, to: writer.pointer.unsafelyUnwrapped)
        #expect(contents() == before)
        try SQLiteSession.apply(changeset.data, to: writer.pointer.unsafelyUnwrapped)
        #expect(contents() == after)
    }

    /// A changeset of each operation, made by hand:
    /// `player (id INTEGER PRIMARY KEY, name TEXT)`.
    private static let bytes: [UInt8] =
        [0x54, 2, 1, 0] + Array("player".utf8) + [0]
        + [18, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 3, 6] + Array("Arthur".utf8)
        + [23, 1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 5, 0, 3, 1, 0x42]
        + [9, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 4, 2, 0, 1]

    @Test("Changes have their tables, keys and values, and are described")
    func values() throws {
        let changeset = try Changeset(data: Data(Self.bytes))
        let changes = Array(changeset)
        #expect(changeset.count == 3)
        #expect(changeset.tables == ["player"])
        #expect(changes.map(\.operation) == [.insert, .update, .delete])
        #expect(changes.map(\.isIndirect) == [false, true, false])
        #expect(changes.map(\.key) == [[1.databaseValue], [2.databaseValue], [3.databaseValue]])
        #expect(changes[0].initialValues.isEmpty && changes[2].finalValues.isEmpty)
        #expect(changes[0].finalValues == [1.databaseValue, "Arthur".databaseValue])
        #expect(changes[1].initialValues == [2.databaseValue, .null])
        #expect(changes[1].finalValues == [nil, "B".databaseValue])
        #expect(changes[1].changedColumns == [1])
        let queue = try DatabaseQueue.withPlayers()
        #expect(
            try queue.read { db in try changeset.described(db) } == """
                insert player 1: name "Arthur"
                update player 2: name NULL → "B"
                delete player 3: name \(Data([0, 1]).databaseValue)
                """)
        #expect(changeset.description.hasPrefix("insert player 1: 2 \"Arthur\"\n"))
        let other = try DatabaseQueue()
        #expect(try other.read { db in try changeset.described(db) } == changeset.description)
        // A slice of other bytes is the same changeset.
        #expect(try Changeset(data: Data([7] + Self.bytes).dropFirst()) == changeset)
        #expect(Changeset().isEmpty && Changeset().count == 0)
        #expect(try Changeset(data: Data()) == Changeset())
    }

    @Test(
        "Bytes that are no changeset are refused with the place",
        arguments: [
            ([0], 0), ([18, 0], 0), ([0x50, 1, 1, 97, 0], 0), ([0x54], 1), ([0x54, 0], 0),
            ([0x54, 1, 1, 97], 3), ([0x54, 1, 0, 97, 0], 2), ([0x54, 1, 1, 0], 3),
            ([0x54, 1, 1, 0xFF, 0], 3),
            ([0x54, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], 0), ([0x54, 0x84, 0x80, 0x01, 1, 97, 0], 0),
            ([0x54, 1, 1, 97, 0, 18], 5), ([0x54, 1, 1, 97, 0, 18, 2, 5], 6),
            ([0x54, 1, 1, 97, 0, 18, 0], 7),
            ([0x54, 1, 1, 97, 0, 18, 0, 5], 7), ([0x54, 1, 1, 97, 0, 18, 0, 0], 7),
            ([0x54, 1, 1, 97, 0, 18, 0, 1, 0, 0], 7), ([0x54, 1, 1, 97, 0, 18, 0, 3, 2, 97], 7),
            ([0x54, 1, 1, 97, 0, 18, 0, 4, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], 8),
            ([0x54, 1, 1, 97, 0, 18, 0, 6], 7), ([0x54, 2, 1, 0, 97, 0, 9, 0, 3, 0, 0], 10),
            ([0x54, 1, 1, 97, 0, 23, 0, 3, 0, 3, 0], 9),
        ] as [([UInt8], Int)])
    func refused(bytes: [UInt8], offset: Int) {
        #expect {
            try Changeset(data: Data(bytes))
        } throws: { error in
            guard case .malformed(offset, _) = error as? ChangesetError else { return false }
            return true
        }
    }

    @Test(
        "Damaged bytes are refused or read, and never a crash",
        arguments: SeededGenerator.seeds("HOSTILE", count: 20))
    func hostile(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
        var accepted = 0
        for _ in 0..<500 {
            var bytes = Self.bytes
            for _ in 0..<number(1..<4) {
                switch number(0..<4) {
                case 0: bytes[number(0..<bytes.count)] = UInt8(number(0..<256))
                case 1: bytes.remove(at: number(0..<bytes.count))
                case 2:
                    bytes.insert(
                        [0, 1, 3, 5, 9, 18, 23, 0x54, 0x80, 0xFF][number(0..<10)], at: number(0..<bytes.count)
                    )
                default: bytes.removeLast(number(0..<bytes.count / 4))
                }
                if bytes.isEmpty { bytes = [0] }
            }
            guard let changeset = try? Changeset(data: Data(bytes)) else { continue }
            accepted += 1
            _ = changeset.description
            let inverted = changeset.inverted()
            #expect(try Changeset(data: inverted.data) == inverted)
            #expect(inverted.inverted() == changeset)
            if let joined = try? changeset.concatenated(with: inverted) {
                #expect(try Changeset(data: joined.data) == joined)
            }
            if SQLiteSession.isThere {
                #expect(try SQLiteSession.changes(in: changeset.data).count == changeset.count, "\(bytes)")
            }
        }
        #expect(accepted > 0)
    }

    @Test("Changes of tables with other columns are not concatenated, whatever the case of the name")
    func differentColumns() throws {
        func changeset(_ heading: [UInt8]) throws -> Changeset {
            try Changeset(data: Data([0x54] + heading + [18, 0, 3, 0, 5]))
        }
        let first = try changeset([2, 1, 0, 97, 0])
        let second = try Changeset(data: Data([0x54, 2, 1, 0, 65, 0, 9, 0, 3, 0, 5]))
        #expect(try first.concatenated(with: second).isEmpty)
        for heading in [[2, 1, 2, 65, 0], [3, 1, 0, 0, 97, 0]] as [[UInt8]] {
            let other = try Changeset(
                data: Data([0x54] + heading + [18, 0, 3, 0, 3, 0] + (heading[0] == 3 ? [5] : [])))
            #expect(throws: ChangesetError.differentColumns(table: heading[0] == 3 ? "a" : "A")) {
                try first.concatenated(with: other)
            }
        }
        #expect("\(ChangesetError.differentColumns(table: "a"))".contains("table a"))
        #expect("\(ChangesetError.malformed(offset: 3, reason: "why"))".contains("byte 3: why"))
    }
}

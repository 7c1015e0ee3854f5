import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Files whose pages are damaged, and what `shellac recover` reads of them.
///
/// `SHELLAC_DAMAGES` says how many files are damaged.
@Suite("shellac recover")
struct RecoverTests {
    static let seeds = 1...(environmentNumber("SHELLAC_DAMAGES", as: UInt64.self) ?? 6)
    private static let count = 6_000

    /// Makes a database of 1,000 pages of 1,024 bytes. The IDs of `sparse` are far apart.
    private func makeFile(_ folder: TemporaryFolder) throws {
        var configuration = Configuration()
        configuration.pageSize = 1_024
        let queue = try DatabaseQueue(path: folder.path("old.sqlite"), configuration: configuration)
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA user_version = 7;
                    CREATE TABLE player (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, photo BLOB, score REAL,
                        double AS (score * 2));
                    CREATE TABLE sparse (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE bare (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE keyed (code TEXT PRIMARY KEY, number INTEGER) WITHOUT ROWID;
                    CREATE TABLE "odd table" (rowid TEXT, "a b" TEXT);
                    CREATE INDEX sparseName ON sparse (name);
                    CREATE VIEW best AS SELECT name FROM player WHERE score > 100;
                    CREATE TRIGGER insertion AFTER INSERT ON sparse BEGIN UPDATE player SET score = 0 WHERE 0; END;
                    WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.count))
                        INSERT INTO player (id, name, photo, score) SELECT i, 'player ' || i || char(10) || '''', x'00FF', i / 4.0 FROM n;
                    WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.count))
                        INSERT INTO sparse SELECT i * 1000000007, 'sparse ' || i FROM n;
                    INSERT INTO bare SELECT id - 3000000000000, name FROM sparse;
                    WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                        INSERT INTO keyed SELECT 'code ' || i, i FROM n;
                    INSERT INTO "odd table" VALUES ('x', NULL), ('y', 'z''' || char(769)), (NULL, 'text' || char(0) || 'more');
                    UPDATE player SET score = 9e999 WHERE id = 5;
                    DELETE FROM player WHERE id = \(Self.count);
                    """)
        }
        try queue.close()
    }

    private func rows(_ path: String, _ table: String, _ key: String) throws -> [String: Row] {
        let queue = try DatabaseQueue(path: path)
        let rows = try queue.inDatabase { db in try Row.fetchAll(db, sql: "SELECT * FROM \(table)") }
        return try Dictionary(
            rows.map { (try "\($0[key] as DatabaseValue)", $0) }, uniquingKeysWith: { a, _ in a })
    }

    @Test("saves all of a file that is whole, as SQL and in a new file")
    func whole() async throws {
        let folder = try TemporaryFolder()
        try makeFile(folder)
        let into = try await ShellacCommand.run("recover", "old.sqlite", "--into", "new.sqlite", in: folder)
        #expect(
            into.did(
                0,
                """
                player: 5999 rows saved
                sparse: 6000 rows saved
                bare: 6000 rows saved
                keyed: 1000 rows saved
                odd table: 3 rows saved

                """), "\(into.output)")
        let differences = try await ShellacCommand.run("diff", "old.sqlite", "new.sqlite", in: folder)
        #expect(differences.status == 0, "\(differences.output)")
        let sql = try await ShellacCommand.run("recover", "old.sqlite", in: folder)
        #expect(
            sql.status == 0
                && sql.output.hasSuffix(
                    "COMMIT;\n-- player: 5999 rows saved\n-- sparse: 6000 rows saved\n-- bare: 6000 rows saved\n-- keyed: 1000 rows saved\n-- odd table: 3 rows saved\n"
                ))
        let copy = try DatabaseQueue(path: folder.path("sql.sqlite"))
        try await copy.writeWithoutTransaction { db in try db.execute(sql: sql.output) }
        let version = try await copy.read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") }
        let next = try await copy.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('next')")
            return db.lastInsertedRowID
        }
        #expect(version == 7 && next == Int64(Self.count) + 1)
        try await copy.write { db in try db.execute(sql: "DELETE FROM player WHERE name = 'next'") }
        try await copy.close()
        let same = try await ShellacCommand.run("diff", "old.sqlite", "sql.sqlite", in: folder)
        #expect(same.status == 0, "\(same.output)")
    }

    /// The keys of the rows that SQLite finds in the damaged file, one by one.
    private func readable(_ keys: [String], _ table: String, _ folder: TemporaryFolder) throws -> [String] {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: folder.path("old.sqlite"), configuration: configuration)
        return try queue.inDatabase { db in
            keys.filter { key in
                (try? Row.fetchOne(db, sql: "SELECT * FROM \(table) NOT INDEXED WHERE id = \(key)")) != nil
            }
        }
    }

    @Test("saves the rows of the whole pages, reports the others, and changes nothing", arguments: seeds)
    func damaged(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        try makeFile(folder)
        let path = folder.path("old.sqlite")
        let tables = [("player", "id"), ("sparse", "id"), ("bare", "id"), ("keyed", "code")]
        let before = try tables.map { try rows(path, $0.0, $0.1) }
        var generator = SeededGenerator(seed: seed)
        var bytes = try Data(contentsOf: URL(filePath: path))
        let pages = bytes.count / 1_024
        let count = Int.random(in: 1...12, using: &generator)
        // The first page is the beginning of the schema.
        for _ in 0..<count {
            let start = Int.random(in: 1..<pages, using: &generator) * 1_024
            switch Int.random(in: 0...2, using: &generator) {
            case 0: bytes.replaceSubrange(start..<start + 1_024, with: Data(count: 1_024))
            case 1:
                bytes.replaceSubrange(
                    start..<start + 1_024,
                    with: Data((0..<1_024).map { _ in UInt8.random(in: 0...255, using: &generator) }))
            default: bytes.replaceSubrange(start..<start + 12, with: Data(repeating: 0xFF, count: 12))
            }
        }
        try bytes.write(to: URL(filePath: path))
        let run = try await ShellacCommand.run("recover", "old.sqlite", "--into", "new.sqlite", in: folder)
        #expect([0, 1].contains(run.status), "seed \(seed): \(run.output)")
        let after = try Data(contentsOf: URL(filePath: path))
        let names = try folder.fileNames()
        #expect(after == bytes && names == ["new.sqlite", "old.sqlite"])
        let ok = try DatabaseQueue(path: folder.path("new.sqlite")).inDatabase { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check")
        }
        #expect(ok == ["ok"])
        for ((table, key), old) in zip(tables, before) {
            let new = try rows(folder.path("new.sqlite"), table, key)
            #expect(new.allSatisfy { old[$0.key] == $0.value }, "seed \(seed): \(table)")
            let lost = old.keys.filter { new[$0] == nil }
            if table != "keyed" {
                let readable = try readable(lost, table, folder)
                #expect(readable == [], "seed \(seed): \(table)")
            }
            let isReported = run.output.contains("\(table): \(new.count) rows saved\n")
            #expect(isReported, "seed \(seed): \(table) \(new.count), \(run.output)")
            if !lost.isEmpty { #expect(run.status == 1 && run.output.contains("not read")) }
        }
    }

    // MARK: - Bad input

    @Test("reads the tables of a schema that is damaged behind them")
    func schema() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("old.sqlite")
        var configuration = Configuration()
        configuration.pageSize = 512
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let pages = try await queue.write { db in
            for number in 1...60 {
                try db.execute(
                    sql: "CREATE TABLE t\(number) (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x')")
                try db.execute(sql: "INSERT INTO t\(number) VALUES (1, 'a'), (2, 'b')")
            }
            return try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        }
        try await queue.close()
        // A leaf of the schema is a page with the SQL of some tables.
        var bytes = try Data(contentsOf: URL(filePath: path))
        let leaf = (1..<pages).last { page in
            bytes[page * 512] == 13
                && bytes[page * 512..<page * 512 + 512].range(of: Data("CREATE TABLE t3".utf8)) != nil
        }
        let start = try #require(leaf) * 512
        bytes.replaceSubrange(start..<start + 512, with: Data(count: 512))
        try bytes.write(to: URL(filePath: path))
        let run = try await ShellacCommand.run("recover", "old.sqlite", "--into", "new.sqlite", in: folder)
        #expect(run.status == 1, "\(run.output)")
        #expect(
            run.output.contains("sqlite_schema: ") && run.output.contains("row IDs not read: "),
            "\(run.output)")
        #expect(
            run.output.contains("\nt1: 2 rows saved\n") && run.output.contains("\nt20: 2 rows saved\n"),
            "\(run.output)")
    }

    @Test(
        "reads what there is of a file that was cut off, or of which nearly all is damaged",
        arguments: [true, false])
    func remains(isCut: Bool) async throws {
        let folder = try TemporaryFolder()
        try makeFile(folder)
        let path = folder.path("old.sqlite")
        var bytes = try Data(contentsOf: URL(filePath: path))
        if isCut {
            bytes = bytes.prefix(bytes.count / 2 + 100)
        } else {
            for page in 3..<bytes.count / 1_024 where page % 5 != 0 {
                bytes.replaceSubrange(page * 1_024..<page * 1_024 + 8, with: Data(count: 8))
            }
        }
        try bytes.write(to: URL(filePath: path))
        let run = try await ShellacCommand.run("recover", "old.sqlite", "--into", "new.sqlite", in: folder)
        #expect(run.status == 1, "\(run.output)")
        #expect(run.output.contains("not read"), "\(run.output)")
        let same = try Data(contentsOf: URL(filePath: path))
        #expect(same == bytes)
        // The first half of the file has all players, and a part of another table, by its index.
        if isCut { #expect(run.output.hasPrefix("player: 5999 rows saved\nsparse: "), "\(run.output)") }
    }

    @Test("writes into no file that exists, and reads none that is no database")
    func refused() async throws {
        let folder = try gameFolder()
        _ = try folder.write("text".utf8, to: "other.sqlite")
        let existing = try await ShellacCommand.run(
            "recover", "game.sqlite", "--into", "other.sqlite", in: folder)
        #expect(
            existing.did(3, "shellac: other.sqlite exists: recover writes into a new file\n"),
            "\(existing.output)")
        let text = try await ShellacCommand.run("recover", "other.sqlite", in: folder)
        #expect(
            text.did(4, "shellac: other.sqlite is not an SQLite database, or it is encrypted\n"),
            "\(text.output)")
        let place = try await ShellacCommand.run(
            "recover", "game.sqlite", "--into", "none/new.sqlite", in: folder)
        #expect(place.status == 3 && place.output.contains("none/new.sqlite"), "\(place.output)")
        let json = try await ShellacCommand.run("recover", "game.sqlite", "--as", "json", in: folder)
        #expect(
            json.status == 2 && json.output.contains("a report as JSON only with --into"), "\(json.output)")
        let content = try String(contentsOf: URL(filePath: folder.path("other.sqlite")), encoding: .utf8)
        #expect(content == "text")
    }

    @Test("reports to other programs as JSON")
    func json() async throws {
        struct Report: Decodable {
            struct Table: Decodable {
                let name: String
                let rows: Int
                let isWhole: Bool
                let losses: [String]
            }
            let isWhole: Bool
            let tables: [Table]
        }
        let folder = try TemporaryFolder()
        try makeFile(folder)
        let whole = try await ShellacCommand.run(
            "recover", "old.sqlite", "--into", "whole.sqlite", "--as", "json", in: folder)
        let report = try JSONDecoder().decode(Report.self, from: Data(whole.output.utf8))
        #expect(whole.status == 0 && report.isWhole)
        #expect(report.tables.map(\.rows) == [5_999, 6_000, 6_000, 1_000, 3])
        let path = folder.path("old.sqlite")
        var bytes = try Data(contentsOf: URL(filePath: path))
        for page in bytes.count / 2_048..<bytes.count / 2_048 + 40 {
            bytes.replaceSubrange(page * 1_024..<page * 1_024 + 1_024, with: Data(count: 1_024))
        }
        try bytes.write(to: URL(filePath: path))
        let damaged = try await ShellacCommand.run(
            "recover", "old.sqlite", "--into", "new.sqlite", "--as", "json", in: folder)
        let losses = try JSONDecoder().decode(Report.self, from: Data(damaged.output.utf8))
        #expect(damaged.status == 1 && !losses.isWhole)
        let lost = try #require(losses.tables.first { !$0.isWhole })
        #expect(lost.rows < 6_000 && lost.losses.contains { $0.contains("not read") }, "\(damaged.output)")
    }

    @Test("makes what can be made, and reports an index that cannot")
    func index() async throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("old.sqlite"))
        try await queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE UNIQUE INDEX tagName ON tag (name);
                    INSERT INTO tag VALUES (1, 'a'), (2, 'b');
                    CREATE VIRTUAL TABLE search USING fts5(body);
                    INSERT INTO search VALUES ('some words'), ('other words');
                    """)
            // The index is not unique for a moment.
            try db.execute(
                sql: """
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_schema SET sql = 'CREATE INDEX tagName ON tag (name)' WHERE name = 'tagName';
                    PRAGMA writable_schema = RESET;
                    INSERT INTO tag VALUES (3, 'b');
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_schema SET sql = 'CREATE UNIQUE INDEX tagName ON tag (name)' WHERE name = 'tagName';
                    PRAGMA writable_schema = RESET;
                    """)
        }
        try await queue.close()
        let run = try await ShellacCommand.run("recover", "old.sqlite", "--into", "new.sqlite", in: folder)
        #expect(
            run.did(
                1,
                """
                tag: 3 rows saved
                search: 2 rows saved
                index tagName: 0 rows saved
                    could not be made: UNIQUE constraint failed: tag.name

                """), "\(run.output)")
        let found = try await DatabaseQueue(path: folder.path("new.sqlite")).read { db in
            try String.fetchAll(db, sql: "SELECT body FROM search WHERE search MATCH 'words' ORDER BY rowid")
        }
        #expect(found == ["some words", "other words"])
    }
}

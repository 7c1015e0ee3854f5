// The statements that read the pages of `shellac browse`: their rows, and their plans.

import Foundation
import Shellac
import TestSupport
import Testing

@testable import ShellacCommand

/// The pages of `shellac browse`.
@Suite("The pages of shellac browse are read by keys")
struct RowPagesTests {
    private static let sql = """
        CREATE TABLE plain (a, b INTEGER, c TEXT COLLATE NOCASE);
        CREATE INDEX plainByA ON plain(a); CREATE INDEX plainByB ON plain(b); CREATE INDEX plainByC ON plain(c);
        CREATE TABLE pair (c TEXT, b INTEGER, a, PRIMARY KEY (c, b)) WITHOUT ROWID;
        CREATE INDEX pairByA ON pair(a);
        CREATE TABLE named (c TEXT PRIMARY KEY, a, b, rowid TEXT);
        CREATE INDEX namedByA ON named(a); CREATE INDEX namedByB ON named(b);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
        INSERT INTO plain SELECT
            CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN i % 3 WHEN 2 THEN -i / 2.0 WHEN 3 THEN x'00' WHEN 4 THEN ''
                ELSE 't' || i % 4 END,
            nullif(i % 5, 2), CASE i % 6 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'A' ELSE 'a' || i % 2 END FROM n;
        INSERT INTO pair SELECT 'k' || rowid % 4, rowid, a FROM plain;
        INSERT INTO named (c, a, b) SELECT nullif('k' || rowid, 'k9'), a, b FROM plain;
        """

    private func withFile<Result>(_ body: (BrowsedFile, Database) throws -> Result) throws -> Result {
        let folder = try TemporaryFolder()
        let path = folder.path("pages.sqlite")
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in try db.execute(sql: Self.sql) }
        try queue.close()
        let file = BrowsedFile(path, patience: Patience(hasKey: { false }, notice: {}))
        return try file.read { db in try body(file, db) }
    }

    private static let orders: [ColumnOrder?] =
        [nil] + (0..<3).flatMap { [ColumnOrder(column: $0), ColumnOrder(column: $0, isDescending: true)] }

    @Test(
        "pages of any size make up all rows, forward and backward, in each order",
        arguments: ["plain", "pair", "named"], orders)
    func wholes(_ name: String, _ order: ColumnOrder?) throws {
        try withFile { file, db in
            let source = BrowsedRows(table: try #require(file.table(name)), order: order)
            let columns = 0..<3
            let all = try file.page(db, source, from: .edge, columns: columns, limit: 1_000)
            #expect(all.count == 60)
            if let order {
                let column = source.table.columns[order.column].name
                let sorted = try DatabaseValue.fetchAll(
                    db,
                    sql:
                        "SELECT \(column) FROM \(name) ORDER BY \(column) \(order.isDescending ? "DESC" : "")"
                )
                // (Equal texts may differ in their case.)
                func folded(_ values: [DatabaseValue]) -> [String] { values.map { "\($0)".lowercased() } }
                let read = try all.map { row in
                    try #require(
                        try file.firstRow(db, BrowsedFile.source(source.table, at: row.position), [column])?
                            .first)
                }
                #expect(folded(read) == folded(sorted))
            }
            for size in [1, 7, 59] {
                for isBackward in [false, true] {
                    var rows: [BrowsedRow] = []
                    var start = BrowsedRows.Start.edge
                    while true {
                        let page = try file.page(
                            db, source, from: start, isBackward: isBackward, columns: columns, limit: size)
                        guard let last = page.last else { break }
                        rows += page
                        start = .behind(last.position)
                        // The same page begins at its first row.
                        let again = try file.page(
                            db, source, from: .at(page[0].position), isBackward: isBackward, columns: columns,
                            limit: size)
                        #expect(again == page)
                        try #require(rows.count <= 60)
                    }
                    #expect(rows == (isBackward ? all.reversed() : all))
                }
            }
        }
    }

    @Test(
        "each page is found by an index, and nothing is sorted", arguments: ["plain", "pair", "named"],
        orders)
    func plans(_ name: String, _ order: ColumnOrder?) throws {
        try withFile { file, db in
            let table = try #require(file.table(name))
            if let order, !table.hasIndex(beginningWith: [table.columns[order.column].name]) { return }
            let source = BrowsedRows(table: table, order: order)
            let rows = try file.page(db, source, from: .edge, columns: 0..<3, limit: 100)
            for (row, isBackward) in rows.flatMap({ [($0, false), ($0, true)] }) {
                for start in [BrowsedRows.Start.at(row.position), .behind(row.position)] {
                    for query in source.page(from: start, isBackward: isBackward, columns: 0..<3) {
                        let plan = try plan(db, query)
                        #expect(
                            plan.count == 1 && plan[0].contains(/^SEARCH (main\.)?\w+ USING/),
                            "\(query.sql): \(plan)")
                    }
                }
            }
            for isBackward in [false, true] {
                for query in source.page(from: .edge, isBackward: isBackward, columns: 0..<3) {
                    let plan = try plan(db, query)
                    #expect(plan.count == 1 && !plan[0].contains("TEMP B-TREE"), "\(query.sql): \(plan)")
                }
            }
        }
    }

    private func plan(_ db: Database, _ query: BrowsedRows.Query) throws -> [String] {
        try Row.fetchAll(
            db, sql: "EXPLAIN QUERY PLAN \(query.sql)", arguments: StatementArguments(query.arguments + [10])
        ).map { try $0["detail"] }
    }

    @Test("rows are counted up to a limit, and not at all if that reads the table")
    func counts() throws {
        try withFile { file, db in
            let plain = try #require(file.table("plain"))
            try #expect(file.count(db, BrowsedRows(table: plain), upTo: 50) == 50)
            try #expect(file.count(db, BrowsedRows(table: plain), upTo: 100) == 60)
            #expect(BrowsedRows(table: plain, search: "a").count(upTo: 100) == nil)
            let indexed = ColumnCondition(column: "b", value: 1)
            try #expect(file.count(db, BrowsedRows(table: plain, conditions: [indexed]), upTo: 100) == 12)
            let pair = try #require(file.table("pair"))
            #expect(BrowsedRows(table: pair, conditions: [indexed]).count(upTo: 100) == nil)
        }
    }

    @Test("a search takes the signs of LIKE as they are, with an accent, too")
    func searchedSigns() throws {
        try withFile { file, db in
            let plain = try #require(file.table("plain"))
            for search in ["%", "_", "%\u{301}", "_\u{301}", "\\\u{301}"] {
                let source = BrowsedRows(table: plain, search: search)
                try #expect(file.page(db, source, from: .edge, columns: 0..<3, limit: 10).isEmpty)
            }
        }
    }

    @Test("a key ends a statement that takes long, and the rows so far remain")
    func patience() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("long.sqlite")
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    CREATE VIEW endless AS
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 3
                    """)
        }
        try queue.close()
        let notices = Counter()
        let file = BrowsedFile(path, patience: Patience(hasKey: { true }, notice: { notices.count += 1 }))
        try file.read { db in
            let source = BrowsedRows(table: try #require(file.table("endless")))
            let rows = try file.page(db, source, from: .edge, columns: 0..<1, limit: 10)
            #expect(rows.map { $0.cells[0].text } == ["1", "2"])
            #expect(file.wasStopped && notices.count == 1)
        }
    }

    private final class Counter { var count = 0 }

    @Test(
        "keys are decoded from their bytes",
        arguments: [
            ("\u{1B}[A\u{1B}OB\u{1B}[1;5C", [Key.up, .down, .right]),
            ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]),
            ("\u{1B}[1~\u{1B}OF\u{1B}[H", [.home, .end, .home]),
            ("\u{1B}[15~\u{1B}[200~a", [.character("a")]),
            (
                "q\r\u{7F}\u{8}\t\u{3}\u{1A}\u{C}\u{1}",
                [
                    .character("q"), .enter, .backspace, .backspace, .tab, .interrupt, .suspend, .redraw,
                ]
            ), ("ü漢😀", [.character("ü"), .character("漢"), .character("😀")]), ("\u{1B}", [.escape]),
            ("\u{1B}\u{1B}[A", [.escape, .up]),
        ])
    func keys(_ text: String, _ keys: [Key]) {
        var bytes = Array(text.utf8)
        var found: [Key] = []
        while let key = Key.next(in: &bytes, isComplete: true) { found.append(key) }
        #expect(found == keys && bytes.isEmpty)
        // Byte by byte, as a slow line sends them.
        var (rest, slow): ([UInt8], [Key]) = ([], [])
        for byte in text.utf8 {
            rest.append(byte)
            while let key = Key.next(in: &rest, isComplete: false) { slow.append(key) }
        }
        while let key = Key.next(in: &rest, isComplete: true) { slow.append(key) }
        #expect(slow == keys)
    }
}

import Shellac
import TestSupport
import Testing

/// A table of an attached database, whose name a table of the main one takes.
private struct Item: Codable, FetchableRecord, PersistableRecord, Hashable {
    var x: String
}

private final class ClassItem: Record {
    var x = ""

    override class var databaseTableName: String { "item" }
    override func updateFromRow(_ row: Row) throws { x = try row["x"] }
    override func encode(to container: inout PersistenceContainer) throws { container["x"] = x }

    convenience init(_ x: String) {
        self.init()
        self.x = x
    }
}

@Suite("Names that change their meaning")
struct ShadowingTests {
    /// A way to take a name away from a table of an attached database.
    enum Shadow: String, CaseIterable {
        case table, tableInTransaction, view, rename, virtualTable, temporaryTable, execution, copy

        func make(_ db: Database) throws {
            switch self {
            case .table: try db.execute(sql: "CREATE TABLE item (x); INSERT INTO main.item VALUES ('main')")
            case .tableInTransaction:
                try db.inTransaction {
                    try db.execute(sql: "CREATE TABLE item (x); INSERT INTO main.item VALUES ('main')")
                    return .commit
                }
            case .view: try db.execute(sql: "CREATE VIEW item AS SELECT 'main' AS x")
            case .rename:
                try db.execute(
                    sql: """
                        CREATE TABLE other (x); INSERT INTO main.other VALUES ('main');
                        ALTER TABLE other RENAME TO item
                        """)
            case .virtualTable:
                try db.execute(
                    sql: "CREATE VIRTUAL TABLE item USING fts5(x); INSERT INTO main.item VALUES ('main')")
            case .temporaryTable:
                try db.execute(sql: "CREATE TEMP TABLE item (x); INSERT INTO temp.item VALUES ('main')")
            case .execution:
                try db.create(table: "item") { t in t.column("x") }
                try db.execute(sql: "INSERT INTO main.item VALUES ('main')")
            case .copy: try db.execute(sql: "CREATE TABLE item AS SELECT 'main' AS x")
            }
        }
    }

    /// Runs a function in a database that another one is attached to, with the table `item`.
    private func attached(_ body: (Database) throws -> Void) throws {
        let file = try TemporaryDatabase()
        try file.queue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE item (x); INSERT INTO item VALUES ('attached')")
        }
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "ATTACH ? AS att", arguments: [file.path])
            try body(db)
        }
    }

    @Test("A kept statement reads the table that its name means now", arguments: Shadow.allCases)
    func reading(_ shadow: Shadow) throws {
        try attached { db in
            let sql = "SELECT x FROM item"
            let own = try db.makeStatement(sql: sql)
            func read() throws -> [String] {
                [
                    try String.fetchOne(own) ?? "", try String.fetchOne(db, sql: sql) ?? "",
                    try Item.fetchOne(db)?.x ?? "",
                    try Item.filter(Column("x") != "").fetchOne(db)?.x ?? "",
                    try ClassItem.fetchOne(db)?.x ?? "", try Item.order(Column("x")).fetchAll(db)[0].x,
                ]
            }
            #expect(try read() == Array(repeating: "attached", count: 6))
            try shadow.make(db)
            #expect(try read() == Array(repeating: "main", count: 6))
            #expect(try String.fetchAll(db, sql: "SELECT x FROM att.item") == ["attached"])
        }
    }

    @Test("A kept statement writes to the table that its name means now", arguments: Shadow.allCases)
    func writing(_ shadow: Shadow) throws {
        if shadow == .view { return }  // it cannot be written to
        try attached { db in
            let insertion = try db.makeStatement(sql: "INSERT INTO item VALUES (?)")
            func write(_ name: String) throws {
                try insertion.execute(arguments: ["\(name) statement"])
                try db.cachedStatement(sql: "INSERT INTO item VALUES (?)").execute(arguments: [
                    "\(name) cached"
                ])
                try Item(x: "\(name) struct").insert(db)
                try ClassItem("\(name) class").insert(db)
                _ = try Item.updateAll(db, Column("x").set(to: Column("x")))
            }
            try write("first")
            let attached = try String.fetchAll(db, sql: "SELECT x FROM att.item")
            #expect(attached.count == 5)
            try shadow.make(db)
            try write("second")
            #expect(try String.fetchAll(db, sql: "SELECT x FROM att.item") == attached)
            #expect(
                try String.fetchAll(db, sql: "SELECT x FROM item") == [
                    "main", "second statement", "second cached", "second struct", "second class",
                ])
        }
    }

    @Test(
        "A table that another connection creates takes a name away when SQLite has looked at main, and prepares again"
    )
    func otherConnection() throws {
        let (file, archive) = (try TemporaryDatabase(), try TemporaryDatabase())
        defer { withExtendedLifetime((file, archive)) {} }
        try archive.queue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE item (x); INSERT INTO item VALUES ('attached')")
        }
        try file.queue().inDatabase { db in
            try db.execute(sql: "ATTACH ? AS att", arguments: [archive.path])
            let old = try db.makeStatement(sql: "SELECT x FROM item")
            func read() throws -> [String] {
                try String.fetchAll(db, sql: "SELECT x FROM item /* \(#line) */")
            }
            func readAgain() throws -> [String] { try String.fetchAll(db, sql: "SELECT x  FROM item") }
            #expect(try String.fetchAll(old) == ["attached"])
            try file.queue().inDatabase { other in
                try other.execute(sql: "CREATE TABLE item (x); INSERT INTO item VALUES ('main')")
            }
            #expect(try String.fetchAll(old) == ["attached"])
            #expect(try read() == ["attached"])
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM player")
            #expect(try String.fetchAll(old) == ["attached"])
            #expect(try readAgain() == ["main"])
        }
    }

    @Test("A table that is dropped or rolled back gives its name back", arguments: [true, false])
    func givingBack(isRolledBack: Bool) throws {
        try attached { db in
            let sql = "SELECT x FROM item"
            #expect(try String.fetchAll(db, sql: sql) == ["attached"])
            try db.inTransaction {
                try Shadow.table.make(db)
                #expect(try String.fetchAll(db, sql: sql) == ["main"])
                #expect(try Item.fetchAll(db).map(\.x) == ["main"])
                if !isRolledBack { try db.execute(sql: "DROP TABLE main.item") }
                return isRolledBack ? .rollback : .commit
            }
            #expect(try String.fetchAll(db, sql: sql) == ["attached"])
            #expect(try Item.fetchAll(db).map(\.x) == ["attached"])
        }
    }

    @Test("A statement that runs while a name changes goes on with its table")
    func running() throws {
        try attached { db in
            try db.execute(sql: "INSERT INTO item VALUES ('more')")
            let cursor = try String.fetchCursor(db, sql: "SELECT x FROM item")
            #expect(try cursor.next() == "attached")
            try db.execute(sql: "CREATE TABLE item (x)")
            #expect(try cursor.next() == "more")
            #expect(try cursor.next() == nil)
            #expect(try String.fetchAll(db, sql: "SELECT x FROM item") == [])
        }
    }
}

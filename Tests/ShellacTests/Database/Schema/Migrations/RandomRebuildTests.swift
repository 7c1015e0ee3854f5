import TestSupport
import Testing

@testable import Shellac

@Suite("Random rebuilds")
struct RandomRebuildTests {
    private static let tables = ["t1", "t2", "t3"]
    private static let actions: [Database.ForeignKeyAction?] = [
        .cascade, .restrict, .setNull, .setDefault, nil,
    ]

    @Test(
        "tables that refer to each other in circles lose nothing, whatever is rebuilt and rolled back",
        arguments: 1...8 as ClosedRange<UInt64>)
    func circles(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func chance(_ percent: Int) -> Bool { Int.random(in: 1...100, using: &generator) <= percent }
        func pick<Element>(_ elements: [Element]) throws -> Element {
            try #require(elements.randomElement(using: &generator))
        }
        /// A definition with the same columns in another order, another kind of key, and other
        /// actions.
        func definition() throws -> (TableDefinition) -> Void {
            let names = ["id", "a", "b", "parent"].shuffled(using: &generator)
            let (key, parent, action) = try (pick([0, 1, 2]), pick(Self.tables), pick(Self.actions))
            let isDeferred = chance(30)
            return { t in
                for name in names {
                    switch name {
                    case "id" where key == 0: t.autoIncrementedPrimaryKey(name)
                    case "id" where key == 1: t.primaryKey(name, .integer)
                    case "id": t.column(name, .integer).notNull().unique()
                    case "parent":
                        t.column(name, .integer).references(
                            parent, column: "id", onDelete: action, onUpdate: action, deferred: isDeferred)
                    default: t.column(name)
                    }
                }
            }
        }
        try inDatabase { db in
            for name in Self.tables { try db.create(table: name, body: definition()) }
            try db.inTransaction {
                try db.execute(sql: "PRAGMA defer_foreign_keys = 1")
                for name in Self.tables {
                    // All rows are there in each table, so that any table can be the parent.
                    for id in 1...9 {
                        try db.execute(
                            sql: "INSERT INTO \(name) (id, a, b, parent) VALUES (?, ?, randomblob(2), ?)",
                            arguments: [
                                id, Int.random(in: 0...99, using: &generator),
                                Int.random(in: 1...9, using: &generator),
                            ])
                    }
                    try db.execute(
                        sql: """
                            CREATE INDEX i\(name) ON \(name)(a, b) WHERE a > 50;
                            CREATE VIEW v\(name) AS SELECT \(name).a, other.b FROM \(name) JOIN \(Self.tables[0]) other USING (id);
                            CREATE TRIGGER d\(name) AFTER DELETE ON \(name) BEGIN SELECT RAISE(ABORT, 'deleted'); END;
                            CREATE TRIGGER n\(name) BEFORE INSERT ON \(name) BEGIN SELECT RAISE(ABORT, 'inserted'); END;
                            CREATE TEMP TRIGGER u\(name) AFTER UPDATE OF a ON \(name)
                                BEGIN UPDATE \(Self.tables[1]) SET b = new.b; END;
                            """)
                }
                return .commit
            }
            for step in 1...15 {
                let comment = Comment(rawValue: "seed \(seed), step \(step)")
                let name = try pick(Self.tables)
                let declared = try declaration(of: name, db)
                let before = try contents(db)
                let isUndone = chance(30)
                if chance(50) {
                    try db.inTransaction {
                        if chance(50) { try db.rebuild(table: try pick(Self.tables), body: definition()) }
                        try db.inSavepoint {
                            try db.rebuild(table: name, body: definition())
                            return chance(50) ? .rollback : .commit
                        }
                        return isUndone ? .rollback : .commit
                    }
                    if isUndone { #expect(try declaration(of: name, db) == declared, comment) }
                } else {
                    try db.rebuild(table: name, body: definition())
                }
                #expect(try contents(db) == before, comment)
                #expect(try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty, comment)
                #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok", comment)
                #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true, comment)
            }
        }
    }

    private func declaration(of table: String, _ db: Database) throws -> String? {
        try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = ?", arguments: [table])
    }

    /// Returns the rows of all tables and views, and the indexes and triggers of the tables.
    private func contents(_ db: Database) throws -> [[DatabaseValue]] {
        let queries =
            Self.tables.map { "SELECT id, a, b, parent FROM \($0) ORDER BY id" }
            + Self.tables.map { "SELECT * FROM v\($0) ORDER BY a, b" } + [
                "SELECT type, name, sql FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL ORDER BY name",
                "SELECT type, name, sql FROM sqlite_temp_master ORDER BY name",
            ]
        return try queries.flatMap { try Row.fetchAll(db, sql: $0).map { Array($0.databaseValues) } }
    }
}

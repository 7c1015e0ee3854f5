import Shellac
import TestSupport
import Testing

/// SQLite compares by the collation of the column that a foreign key refers to, and finds rows by
/// no index of another one.
@Suite("The drift check of foreign keys of two collations", .behaviour(109))
struct ForeignKeyCollationTests {
    struct Player: FetchableRecord, PersistableRecord {
        static let databaseTableName = "player"
        init(row: Row) throws {}
        func encode(to container: inout PersistenceContainer) { container["id"] = 1 }
    }

    private func faults(_ schema: String) throws -> [SchemaFault] {
        try DatabaseQueue().write { db in
            try db.add(collation: .caseInsensitiveCompare)
            try db.execute(sql: schema)
            do {
                try db.checkSchema(of: Player.self)
                return []
            } catch let error as SchemaDriftError {
                return error.faults
            }
        }
    }

    @Test(
        "names the column, and the collation that it is to have",
        arguments: ["NOCASE", "RTRIM", "swiftCaseInsensitiveCompare"])
    func fault(_ collation: String) throws {
        let faults = try faults(
            """
            CREATE TABLE team (code TEXT COLLATE \(collation) PRIMARY KEY);
            CREATE TABLE player (id INTEGER PRIMARY KEY, teamCode TEXT REFERENCES team);
            CREATE INDEX byTeam ON player (teamCode, id);
            """)
        #expect(
            faults.map(\.description) == [
                "The column teamCode of the table player refers to the table team, which compares with "
                    + "\(collation), and so no index of the foreign key is used. Declare the column COLLATE "
                    + "\(collation)."
            ])
        #expect(
            faults.map(\.kind) == [
                .foreignKeyOfOtherCollation(destinationTable: "team", collation: collation)
            ])
        #expect(faults.map(\.columns) == [["teamCode"]])
    }

    @Test("names the columns of a composite key that differ, and an index that is missing")
    func compositeKey() throws {
        let faults = try faults(
            """
            CREATE TABLE team (code TEXT COLLATE NOCASE, number INTEGER, city TEXT, PRIMARY KEY (code, number, city));
            CREATE TABLE player (
                id INTEGER PRIMARY KEY, a TEXT, b INTEGER, c TEXT COLLATE RTRIM,
                FOREIGN KEY (a, b, c) REFERENCES team (code, number, city));
            """)
        #expect(
            faults.map(\.description) == [
                "The column a of the table player refers to the table team, which compares with NOCASE, "
                    + "and so no index of the foreign key is used. Declare the column COLLATE NOCASE.",
                "The column c of the table player refers to the table team, which compares with BINARY, "
                    + "and so no index of the foreign key is used. Declare the column COLLATE BINARY.",
                "The foreign key (a, b, c) of the table player, which refers to the table team, has no index.",
            ])
    }

    @Test("finds an index that has the collation, if the column has another one, and no fault in row ids")
    func noFault() throws {
        for schema in [
            """
            CREATE TABLE team (code TEXT COLLATE NOCASE PRIMARY KEY);
            CREATE TABLE player (id INTEGER PRIMARY KEY, teamCode TEXT REFERENCES team);
            CREATE INDEX byTeam ON player (teamCode COLLATE nocase);
            """,
            """
            CREATE TABLE team (code TEXT COLLATE NOCASE PRIMARY KEY);
            CREATE TABLE player (id INTEGER PRIMARY KEY, teamCode TEXT COLLATE NOCASE REFERENCES team);
            CREATE INDEX byTeam ON player (teamCode) WHERE teamCode IS NOT NULL;
            """,
            """
            CREATE TABLE team (id INTEGER PRIMARY KEY);
            CREATE TABLE player (id INTEGER PRIMARY KEY, teamID TEXT COLLATE NOCASE REFERENCES team);
            CREATE INDEX byTeam ON player (teamID);
            """,
            """
            CREATE TABLE team (code TEXT COLLATE NOCASE PRIMARY KEY);
            CREATE TABLE player (id INTEGER PRIMARY KEY, teamCode TEXT REFERENCES team);
            CREATE INDEX byTeam ON player (teamCode COLLATE NOCASE) WHERE teamCode IS NOT NULL;
            """,
        ] {
            try #expect(faults(schema).map(\.description) == [])
        }
    }

    @Test("finds an index that has another collation than the column and the key that it refers to")
    func oddIndex() throws {
        let faults = try faults(
            """
            CREATE TABLE team (code TEXT PRIMARY KEY);
            CREATE TABLE player (id INTEGER PRIMARY KEY, teamCode TEXT REFERENCES team);
            CREATE INDEX byTeam ON player (teamCode COLLATE NOCASE);
            """)
        #expect(
            faults.map(\.description) == [
                "The foreign key (teamCode) of the table player, which refers to the table team, has no index."
            ])
    }
}

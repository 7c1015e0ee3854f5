import TestSupport
import Testing

@testable import Shellac

@Suite("Introspection")
struct IntrospectionTests {
    @Test("what exists is found without regard to case, by kind")
    func existence() throws {
        try inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE Player (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
                    CREATE VIEW Hero AS SELECT * FROM Player;
                    CREATE INDEX ByName ON Player(name);
                    CREATE TRIGGER Stamp AFTER INSERT ON Player BEGIN SELECT 1; END;
                    """)
            for name in ["Player", "player", "PLAYER"] {
                #expect(try db.tableExists(name))
                #expect(try !db.viewExists(name))
            }
            #expect(try db.viewExists("hero"))
            #expect(try !db.tableExists("hero"))
            #expect(try db.indexExists("byname"))
            #expect(try db.indexExists("sqlite_autoindex_Player_1"))
            #expect(try db.triggerExists("STAMP"))
            #expect(try !db.triggerExists("ByName"))
            #expect(try !db.tableExists("nothing"))
            #expect(try db.tableExists("sqlite_master"))
            #expect(try db.tableExists("SQLITE_SCHEMA"))
            #expect(try db.tableExists("sqlite_temp_master"))
            #expect(try db.tableNames() == ["Player"])
            #expect(try db.viewNames() == ["Hero"])
            #expect(try db.tableNames(in: "temp") == [])
            #expect(
                try db.columns(in: "sqlite_master").map(\.name) == [
                    "type", "name", "tbl_name", "rootpage", "sql",
                ])
            #expect(try db.primaryKey("sqlite_master").columns == ["rowid"])
        }
        // Only ASCII letters are the same in both cases.
        try inDatabase { db in
            try db.execute(sql: "CREATE TABLE é (a)")
            #expect(try db.tableExists("é"))
            #expect(try !db.tableExists("É"))
        }
    }

    @Test("an unknown table, and an unknown database, are named by the error")
    func unknown() throws {
        try inDatabase { db in
            let calls: [(Database) throws -> Void] = [
                { _ = try $0.columns(in: "x") }, { _ = try $0.primaryKey("x") },
                { _ = try $0.indexes(on: "x") },
                { _ = try $0.foreignKeys(on: "x") }, { _ = try $0.triggers(on: "x") },
                { _ = try $0.table("x", hasUniqueKey: ["a"]) },
            ]
            for call in calls {
                #expect(message { try call(db) } == "no such table: x")
            }
            #expect(message { _ = try db.columns(in: "x", in: "main") } == "no such table: main.x")
            let databaseCalls: [(Database) throws -> Void] = [
                { _ = try $0.tableExists("x", in: "aux") }, { _ = try $0.viewExists("x", in: "aux") },
                { _ = try $0.triggerExists("x", in: "aux") }, { _ = try $0.indexExists("x", in: "aux") },
                { _ = try $0.tableNames(in: "aux") }, { _ = try $0.viewNames(in: "aux") },
                { _ = try $0.columns(in: "x", in: "aux") }, { _ = try $0.primaryKey("x", in: "aux") },
                { _ = try $0.indexes(on: "x", in: "aux") }, { _ = try $0.foreignKeys(on: "x", in: "aux") },
                { _ = try $0.triggers(on: "x", in: "aux") },
                { _ = try $0.table("x", hasUniqueKey: ["a"], in: "aux") },
            ]
            for (index, call) in databaseCalls.enumerated() {
                #expect(message { try call(db) } == "unknown database aux", "call \(index)")
            }
            #expect(message { _ = try db.primaryKey("x", in: "") } == "unknown database ")
        }
    }

    @Test("columns have name, type, NOT NULL, default, place in the key and kind of generation")
    func columns() throws {
        try inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (
                        a INTEGER, B varchar(10) NOT NULL DEFAULT 'it''s', c, d DEFAULT (1 + 2), e DEFAULT CURRENT_TIMESTAMP,
                        f INTEGER GENERATED ALWAYS AS (a + 1) STORED, g AS (a + 2), h TEXT AS (B) VIRTUAL,
                        i DEFAULT NULL, PRIMARY KEY (c, a))
                    """)
            let columns = try db.columns(in: "T")
            #expect(columns.map(\.name) == ["a", "B", "c", "d", "e", "f", "g", "h", "i"])
            #expect(
                columns.map(\.type) == ["INTEGER", "varchar(10)", "", "", "", "INTEGER", "", "TEXT", ""])
            #expect(
                columns.map(\.isNotNull) == [false, true, false, false, false, false, false, false, false])
            #expect(
                columns.map(\.defaultValueSQL) == [
                    nil, "'it''s'", nil, "1 + 2", "CURRENT_TIMESTAMP", nil, nil, nil, "NULL",
                ])
            #expect(columns.map(\.primaryKeyIndex) == [2, 0, 1, 0, 0, 0, 0, 0, 0])
            #expect(columns.map(\.generation) == [nil, nil, nil, nil, nil, .stored, .virtual, .virtual, nil])
            #expect(columns.map(\.isGenerated).filter { $0 }.count == 3)
            #expect(try db.primaryKey("t").columns == ["c", "a"])
        }
    }

    /// The keys of all shapes of tables.
    struct KeyCase: Sendable {
        var sql: String
        var columns: [String]
        var rowIDColumn: String?
        var isRowID = false
        var tableHasRowID = true
    }
    static let keys = [
        KeyCase(sql: "(id INTEGER PRIMARY KEY, a)", columns: ["id"], rowIDColumn: "id", isRowID: true),
        KeyCase(
            sql: "(a, Id integer primary key autoincrement)", columns: ["Id"], rowIDColumn: "Id",
            isRowID: true),
        KeyCase(sql: "(id INTEGER, PRIMARY KEY (ID))", columns: ["id"], rowIDColumn: "id", isRowID: true),
        KeyCase(sql: "(id INTEGER PRIMARY KEY ASC)", columns: ["id"], rowIDColumn: "id", isRowID: true),
        KeyCase(
            sql: "(id INTEGER, PRIMARY KEY (id DESC))", columns: ["id"], rowIDColumn: "id", isRowID: true),
        KeyCase(sql: "(id INTEGER PRIMARY KEY DESC)", columns: ["id"]),
        KeyCase(sql: "(id INT PRIMARY KEY)", columns: ["id"]),
        KeyCase(sql: "(id BIGINT PRIMARY KEY)", columns: ["id"]),
        KeyCase(sql: "(code TEXT PRIMARY KEY)", columns: ["code"]),
        KeyCase(sql: "(a, b, c, PRIMARY KEY (c, a))", columns: ["c", "a"]),
        KeyCase(sql: "(a INTEGER, b INTEGER, PRIMARY KEY (a, b))", columns: ["a", "b"]),
        KeyCase(sql: "(a INTEGER PRIMARY KEY) WITHOUT ROWID", columns: ["a"], tableHasRowID: false),
        KeyCase(sql: "(a, b, PRIMARY KEY (b, a)) WITHOUT ROWID", columns: ["b", "a"], tableHasRowID: false),
        KeyCase(sql: "(a, b UNIQUE)", columns: ["rowid"], isRowID: true),
        KeyCase(sql: "(a, RowID)", columns: ["_rowid_"], isRowID: true),
        KeyCase(sql: "(_rowid_, rowid)", columns: ["oid"], isRowID: true),
        KeyCase(sql: "(_rowid_, rowid, OID)", columns: []),
        KeyCase(sql: "(rowid TEXT PRIMARY KEY)", columns: ["rowid"]),
        KeyCase(sql: "(id INTEGER PRIMARY KEY) STRICT", columns: ["id"], rowIDColumn: "id", isRowID: true),
        KeyCase(sql: "(id INT PRIMARY KEY) STRICT", columns: ["id"]),
    ]

    @Test("primary keys of all shapes", arguments: keys)
    func primaryKeys(_ key: KeyCase) throws {
        if key.sql.hasSuffix("STRICT"), Features.versionNumber < 3_037_000 { return }
        try inDatabase { db in
            try db.execute(sql: "CREATE TABLE t \(key.sql)")
            let info = try db.primaryKey("T")
            #expect(info.columns == key.columns)
            #expect(info.rowIDColumn == key.rowIDColumn)
            #expect(info.isRowID == key.isRowID)
            #expect(info.tableHasRowID == key.tableHasRowID)
            #expect(info.isHiddenRowID == (key.isRowID && key.rowIDColumn == nil))
            if !key.columns.isEmpty { #expect(try db.table("t", hasUniqueKey: key.columns.reversed())) }

            // SQLite agrees: only another name of the row id is the row id.
            if let column = key.columns.first, key.columns.count == 1, key.tableHasRowID {
                let columns = try db.columns(in: "t").map(\.name)
                let values = columns.map { $0 == column ? "7" : "NULL" }.joined(separator: ", ")
                try db.execute(sql: "INSERT INTO t VALUES (\(values))")
                #expect((db.lastInsertedRowID == 7) == (key.rowIDColumn != nil))
                if info.isHiddenRowID {
                    #expect(try Int.fetchOne(db, sql: "SELECT \(column) FROM t") == 1)
                }
            }
        }
    }

    @Test("a view has columns, and no key")
    func views() throws {
        try inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR);
                    CREATE VIEW v AS SELECT id, name AS n, id + 1 AS next FROM t;
                    CREATE TRIGGER vt INSTEAD OF INSERT ON v BEGIN SELECT 1; END;
                    CREATE VIEW broken AS SELECT * FROM absent;
                    """)
            #expect(try db.columns(in: "v").map(\.name) == ["id", "n", "next"])
            #expect(try db.columns(in: "v").map(\.type).prefix(2) == ["INTEGER", "VARCHAR"])
            let key = try db.primaryKey("v")
            #expect(key.columns == [] && key.rowIDColumn == nil && !key.isRowID && !key.tableHasRowID)
            #expect(try db.indexes(on: "v") == [])
            #expect(try db.foreignKeys(on: "v") == [])
            #expect(try db.triggers(on: "V").map(\.name) == ["vt"])
            #expect(try !db.table("v", hasUniqueKey: ["id"]))
            #expect(try db.viewExists("broken"))
            #expect(message { _ = try db.columns(in: "broken") } == "no such table: main.absent")
        }
    }

    @Test("virtual tables and table-valued functions have columns, hidden ones too")
    func virtualTables() throws {
        try inDatabase { db in
            try db.execute(
                sql: """
                    CREATE VIRTUAL TABLE document USING fts5(title, body);
                    CREATE VIRTUAL TABLE place USING rtree(id, minX, maxX);
                    """)
            #expect(try db.tableExists("document"))
            #expect(try db.columns(in: "document").map(\.name) == ["title", "body"])
            #expect(
                try db.columns(in: "document", includingHidden: true).filter(\.isHidden).map(\.name)
                    == ["document", "rank"])
            #expect(try db.primaryKey("document").columns == ["rowid"])
            #expect(try db.primaryKey("place").columns == ["rowid"])
            #expect(try db.columns(in: "place").map(\.affinity) == [.integer, .real, .real])
            #expect(try db.indexes(on: "document") == [])
            #expect(try db.columns(in: "json_each").map(\.name).contains("value"))
            #expect(try db.columns(in: "JSON_EACH").isEmpty == false)
            #expect(try db.columns(in: "pragma_table_info").isEmpty == false)
            #expect(try !db.tableExists("json_each"))
            #expect(try db.primaryKey("json_each").rowIDColumn == nil)
            #expect(try db.indexes(on: "json_each") == [])
            #expect(try db.foreignKeys(on: "json_each") == [])
            #expect(try db.triggers(on: "json_each") == [])
        }
    }

    @Test("indexes have keys, order, collation, origin, and tell whether they are partial")
    func indexes() throws {
        try inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (a TEXT PRIMARY KEY, b UNIQUE, c COLLATE NOCASE);
                    CREATE INDEX i1 ON t(c, a DESC);
                    CREATE UNIQUE INDEX i2 ON t(c) WHERE c > 1;
                    CREATE INDEX i3 ON t(lower(c), b);
                    """)
            let indexes = try db.indexes(on: "t")
            #expect(
                indexes.map(\.origin) == [
                    .primaryKeyConstraint, .uniqueConstraint, .createIndex, .createIndex, .createIndex,
                ])
            #expect(indexes.map(\.isUnique) == [true, true, false, true, false])
            #expect(indexes.map(\.isPartial) == [false, false, false, true, false])
            #expect(indexes.map(\.hasExpressions) == [false, false, false, false, true])
            #expect(indexes.map(\.columns) == [["a"], ["b"], ["c", "a"], ["c"], ["b"]])
            #expect(indexes.suffix(3).map(\.name) == ["i1", "i2", "i3"])
            #expect(indexes[2].keys.map(\.isDescending) == [false, true])
            #expect(indexes[2].keys.map(\.collation) == ["NOCASE", "BINARY"])
            #expect(indexes[4].keys.map(\.column) == [nil, "b"])
        }
    }

    @Test(
        "A unique key is the primary key, the row id, or a whole unique index, in any order and case",
        .behaviour(27))
    func uniqueKeys() throws {
        try inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, b, c, d, e, UNIQUE (c, b));
                    CREATE UNIQUE INDEX i1 ON t(d) WHERE d > 0;
                    CREATE UNIQUE INDEX i2 ON t(lower(e));
                    CREATE UNIQUE INDEX i3 ON t(e, lower(e));
                    CREATE INDEX i4 ON t(b);
                    """)
            for yes in [
                ["id"], ["ID"], ["a"], ["B", "c"], ["c", "b"], ["c", "b", "C"], ["rowid"], ["oid"],
                ["_ROWID_"],
            ] {
                #expect(try db.table("t", hasUniqueKey: yes), "\(yes)")
            }
            for no in [
                [], ["b"], ["c"], ["d"], ["e"], ["id", "a"], ["a", "b", "c"], ["x"], ["rowid", "oid"],
            ] {
                #expect(try !db.table("t", hasUniqueKey: no), "\(no)")
            }
            #expect(try db.tableSchema("t").uniqueKey(of: ["B", "C"]) == ["c", "b"])
            try db.execute(
                sql: "CREATE TABLE w (rowid PRIMARY KEY, oid) WITHOUT ROWID; CREATE TABLE r (rowid)")
            #expect(try !db.table("w", hasUniqueKey: ["_rowid_"]))
            #expect(try db.table("w", hasUniqueKey: Set(["rowid"])))
            #expect(try !db.table("r", hasUniqueKey: ["rowid"]))
            #expect(try db.table("r", hasUniqueKey: ["oid"]))
        }
    }

    @Test("foreign keys have their columns, actions and destination, in the order of declaration")
    func foreignKeys() throws {
        try inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE team (id INTEGER PRIMARY KEY, code UNIQUE);
                    CREATE TABLE passport (country, number, PRIMARY KEY (number, country));
                    CREATE TABLE player (
                        id INTEGER PRIMARY KEY,
                        teamId REFERENCES team ON DELETE CASCADE,
                        code REFERENCES Team(code) ON UPDATE SET NULL ON DELETE NO ACTION,
                        n, c, friend REFERENCES player ON DELETE RESTRICT ON UPDATE SET DEFAULT,
                        lost REFERENCES absent, wrong REFERENCES passport,
                        FOREIGN KEY (n, c) REFERENCES passport);
                    """)
            let keys = try db.foreignKeys(on: "Player")
            #expect(
                keys.map(\.destinationTable) == ["team", "Team", "player", "absent", "passport", "passport"])
            #expect(
                keys.map(\.originColumns) == [
                    ["teamId"], ["code"], ["friend"], ["lost"], ["wrong"], ["n", "c"],
                ])
            #expect(
                keys.map(\.destinationColumns) == [["id"], ["code"], ["id"], [], [], ["number", "country"]])
            #expect(keys.map(\.onDelete) == [.cascade, nil, .restrict, nil, nil, nil])
            #expect(keys.map(\.onUpdate) == [nil, .setNull, .setDefault, nil, nil, nil])
            #expect(keys.allSatisfy { $0.originTable == "player" })
            #expect(keys[5].mapping.map { "\($0.origin)>\($0.destination)" } == ["n>number", "c>country"])
            #expect(keys[3].mapping.isEmpty)
        }
    }

    @Test("temporary tables hide those of main, and attached databases are found by name and last")
    func databases() throws {
        try inDatabase { db in
            try db.execute(
                sql: #"""
                    ATTACH ':memory:' AS "Aux ""1""";
                    CREATE TABLE t (main);
                    CREATE TABLE "Aux ""1""".t (aux);
                    CREATE TABLE "Aux ""1""".u (aux PRIMARY KEY REFERENCES t);
                    """#)
            #expect(try db.columns(in: "t").map(\.name) == ["main"])
            #expect(try db.columns(in: "u").map(\.name) == ["aux"])
            #expect(try db.columns(in: "t", in: "aux \"1\"").map(\.name) == ["aux"])
            #expect(try db.tableExists("u"))
            #expect(try !db.tableExists("u", in: "main"))
            #expect(try db.foreignKeys(on: "u").map(\.destinationTable) == ["t"])
            try db.execute(
                sql:
                    "CREATE TEMP TABLE t (temp); CREATE TEMP TRIGGER tr AFTER INSERT ON t BEGIN SELECT 1; END"
            )
            #expect(try db.columns(in: "t").map(\.name) == ["temp"])
            #expect(try db.columns(in: "t", in: "MAIN").map(\.name) == ["main"])
            #expect(try db.columns(in: "t", in: "Temp").map(\.name) == ["temp"])
            #expect(try db.triggers(on: "t").map(\.isTemporary) == [true])
            #expect(try db.tableNames(in: "temp") == ["t"])
            try db.execute(sql: "DROP TABLE temp.t")
            #expect(try db.columns(in: "t").map(\.name) == ["main"])
            try db.execute(sql: "DETACH \"Aux \"\"1\"\"\"")
            #expect(try !db.tableExists("u"))
            try db.execute(
                sql: "ATTACH ':memory:' AS \"Aux \"\"1\"\"\"; CREATE TABLE \"Aux \"\"1\"\"\".v (a)")
            #expect(try db.tableExists("v"))
            #expect(try !db.tableExists("u"))
        }
    }

    @Test("tables and columns with any name are found", arguments: hostileNames)
    func names(_ name: String) throws {
        try inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE \(name.quotedDatabaseIdentifier) (\(name.quotedDatabaseIdentifier) UNIQUE)"
            )
            #expect(try db.tableExists(name))
            #expect(try db.columns(in: name).map(\.name) == [name])
            #expect(try db.indexes(on: name).map(\.columns) == [[name]])
            #expect(try db.table(name, hasUniqueKey: [name]))
            #expect(try db.foreignKeys(on: name) == [])
            #expect(try db.triggers(on: name) == [])
        }
    }

    @Test("introspection works where nothing may be written, and in a read-only database")
    func readOnly() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: "CREATE TABLE t (a PRIMARY KEY REFERENCES t)") }
        try queue.read { (db) throws in
            #expect(try db.tableExists("t"))
            #expect(try db.primaryKey("t").columns == ["a"])
            #expect(try db.foreignKeys(on: "t").count == 1)
        }
        try queue.close()
        expectError("the database :memory: is closed") { try queue.inDatabase { try $0.tableExists("t") } }
        #expect(databaseError { try queue.read { _ in } }?.isDatabaseClosed == true)
    }
}

@Suite("Column affinity")
struct ColumnAffinityTests {
    @Test("the table of types of \"Datatypes In SQLite\" holds, and its odd cases")
    func types() {
        let types: [ColumnAffinity: [String]] = [
            .integer: [
                "INT", "INTEGER", "TINYINT", "SMALLINT", "MEDIUMINT", "BIGINT", "UNSIGNED BIG INT", "INT2",
                "INT8",
                "CHARINT", "FLOATING POINT", "point", "BLOBINT",
            ],
            .text: [
                "CHARACTER(20)", "VARCHAR(255)", "VARYING CHARACTER(255)", "NCHAR(55)",
                "NATIVE CHARACTER(70)",
                "NVARCHAR(100)", "TEXT", "CLOB", "text", "BLOBTEXT",
            ],
            .blob: ["BLOB", "", "blob", "REALBLOB"],
            .real: ["REAL", "DOUBLE", "DOUBLE PRECISION", "FLOAT", "float"],
            .numeric: [
                "NUMERIC", "DECIMAL(10,5)", "BOOLEAN", "DATE", "DATETIME", "STRING", "ANY", "NUM", "é",
            ],
        ]
        for (affinity, types) in types {
            for type in types { #expect(ColumnAffinity(declaredType: type) == affinity, "\(type)") }
        }
        #expect(ColumnAffinity(declaredType: "Any", isStrict: true) == .blob)
        #expect(ColumnAffinity(declaredType: "INT", isStrict: true) == .integer)
    }

    @Test("SQLite stores values as the affinity says")
    func storage() throws {
        try inDatabase { db in
            let types = [
                "INT", "CHAR", "", "FLOA", "DATE", "ANY", "FLOATING POINT", "STRING", "DECIMAL(1,2)",
                "xBLOBx",
            ]
            for type in types {
                try db.execute(
                    sql:
                        "DROP TABLE IF EXISTS t; CREATE TABLE t (a \(type)); INSERT INTO t VALUES ('1'), (2), (1.5)"
                )
                let stored = try String.fetchAll(db, sql: "SELECT typeof(a) FROM t")
                let affinity = try db.columns(in: "t")[0].affinity
                let expected: [String] =
                    switch affinity {
                    case .integer, .numeric: ["integer", "integer", "real"]
                    case .text: ["text", "text", "text"]
                    case .blob: ["text", "integer", "real"]
                    case .real: ["real", "real", "real"]
                    }
                #expect(stored == expected, "\(type)")
            }
        }
    }

    @Test(
        "ANY stores values as they are in STRICT tables alone",
        .enabled(if: Features.versionNumber >= 3_037_000))
    func strict() throws {
        try inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE s (a any, b INT) STRICT; CREATE TABLE t (a ANY, b INT, c AS (a))")
            #expect(try db.columns(in: "s").map(\.affinity) == [.blob, .integer])
            #expect(try db.columns(in: "t").map(\.affinity) == [.numeric, .integer, .blob])
            try db.execute(sql: "INSERT INTO s VALUES ('1', 1); INSERT INTO t VALUES ('1', 1)")
            #expect(try String.fetchOne(db, sql: "SELECT typeof(a) FROM s") == "text")
            #expect(try String.fetchOne(db, sql: "SELECT typeof(a) FROM t") == "integer")
        }
    }
}

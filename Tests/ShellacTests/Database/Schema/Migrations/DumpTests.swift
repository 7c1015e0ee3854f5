import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Dumps")
struct DumpTests {
    private static let values = """
        CREATE TABLE "odd ""name" (id INTEGER PRIMARY KEY, "the value" ANY);
        INSERT INTO "odd ""name" VALUES
            (3, 'O''Brien, "Pat"'), (1, NULL), (2, 1.5), (4, x'00FF'), (5, 'two' || char(10) || 'lines'), (6, ''),
            (7, x'6162'), (8, -9e999);
        """

    private func dump(
        _ sql: String, _ body: (Database, inout String) throws -> Void
    ) throws -> String {
        var text = ""
        try inDatabase { db in
            try db.execute(sql: sql)
            try body(db, &text)
        }
        return text
    }

    @Test(
        "rows are written in each format",
        arguments: [
            (
                DumpFormat.list,
                "1|\n2|1.5\n3|O'Brien, \"Pat\"\n4|x'00FF'\n5|two\nlines\n6|\n7|ab\n8|-9e999\n"
            ),
            (
                .quote,
                "1,NULL\n2,1.5\n3,'O''Brien, \"Pat\"'\n4,x'00FF'\n5,'two\nlines'\n6,''\n7,x'6162'\n8,-9e999\n"
            ),
            (
                .csv,
                "id,the value\r\n1,\r\n2,1.5\r\n3,\"O'Brien, \"\"Pat\"\"\"\r\n4,x'00FF'\r\n5,\"two\nlines\"\r\n6,\r\n"
                    + "7,ab\r\n8,-9e999\r\n"
            ),
            (
                .line,
                """
                       id = 1
                the value = \("")

                       id = 2
                the value = 1.5

                       id = 3
                the value = O'Brien, "Pat"

                       id = 4
                the value = x'00FF'

                       id = 5
                the value = two
                lines

                       id = 6
                the value = \("")

                       id = 7
                the value = ab

                       id = 8
                the value = -9e999

                """
            ),
        ])
    func formats(format: DumpFormat, expected: String) throws {
        let sql = try dump(Self.values) { db, text in
            try db.dumpSQL("SELECT * FROM \"odd \"\"name\" ORDER BY id", format: format, to: &text)
        }
        #expect(sql == expected)
        let table = try dump(Self.values) { db, text in
            try db.dumpTables(["ODD \"name"], format: format, to: &text)
        }
        #expect(table == expected)
    }

    @Test("a query without rows and columns, several statements, and bound values")
    func statements() throws {
        #expect(
            try dump("CREATE TABLE t (a)") { db, text in
                for format in DumpFormat.allCases {
                    try db.dumpSQL("SELECT a AS b FROM t", format: format, to: &text)
                }
            } == "b\r\n")
        let name = "it's"
        #expect(
            try dump("CREATE TABLE t (a)") { db, text in
                try db.dumpSQL(
                    "INSERT INTO t VALUES (\(name)); SELECT a, \(1) FROM t; -- done\n SELECT 2",
                    format: .quote,
                    to: &text)
            } == "'it''s',1\n2\n")
        try inDatabase { db throws in
            var text = ""
            #expect(
                message { try db.dumpSQL("SELECT * FROM nowhere", to: &text) } == "no such table: nowhere")
            #expect(message { try db.dumpTables(["nowhere"], to: &text) } == "no such table: nowhere")
            expectError("no such table: nowhere.sqlite_master") {
                try db.dumpSchema(in: "nowhere", to: &text)
            }
            #expect(text == "")
        }
    }

    private static let schema = """
        CREATE TABLE player (id INTEGER PRIMARY KEY AUTOINCREMENT);
        CREATE TRIGGER t AFTER INSERT ON player BEGIN SELECT 1; END;
        CREATE TABLE team (code TEXT PRIMARY KEY, name UNIQUE) WITHOUT ROWID;
        CREATE INDEX i ON team(name);
        CREATE VIEW v AS SELECT name FROM team ORDER BY name;
        CREATE TEMP TABLE passing (a);
        INSERT INTO team VALUES ('r', 'Reds'), ('b', 'Blues');
        INSERT INTO player VALUES (1);
        INSERT INTO passing VALUES (7);
        """
    private static let declarations = """
        CREATE TABLE player (id INTEGER PRIMARY KEY AUTOINCREMENT);
        CREATE TRIGGER t AFTER INSERT ON player BEGIN SELECT 1; END;
        CREATE TABLE team (code TEXT PRIMARY KEY, name UNIQUE) WITHOUT ROWID;
        CREATE INDEX i ON team(name);
        CREATE VIEW v AS SELECT name FROM team ORDER BY name;

        """

    @Test("the schema is what was declared, by the names of tables, and makes the same database again")
    func schema() throws {
        let text = try dump(Self.schema) { db, text in try db.dumpSchema(to: &text) }
        #expect(text == Self.declarations)
        #expect(try dump(text) { db, text in try db.dumpSchema(to: &text) } == text)
        #expect(
            try dump(Self.schema) { db, text in try db.dumpSchema(in: "temp", to: &text) }
                == "CREATE TABLE passing (a);\n")
    }

    @Test("tables are sorted by their key, and named where there are several")
    func tables() throws {
        #expect(
            try dump(Self.schema) { db, text in try db.dumpTables(["team"], to: &text) }
                == "b|Blues\nr|Reds\n")
        #expect(
            try dump(Self.schema) { db, text in
                try db.dumpTables(["TEAM", "v", "player", "passing", "json_each"], format: .quote, to: &text)
            }
                == "team\n'b','Blues'\n'r','Reds'\n\nv\n'Blues'\n'Reds'\n\nplayer\n1\n\npassing\n7\n\njson_each\n"
        )
        #expect(
            try dump(Self.schema) { db, text in
                try db.dumpTables(["passing"], in: "temp", to: &text)
            } == "7\n")
    }

    @Test("the content is the schema and all rows")
    func content() throws {
        #expect(
            try dump(Self.schema) { db, text in try db.dumpContent(to: &text) }
                == "sqlite_master\n" + Self.declarations + "\nplayer\n1\n\nteam\nb|Blues\nr|Reds\n")
        #expect(
            try dump(Self.schema) { db, text in try db.dumpContent(in: "temp", format: .csv, to: &text) }
                == "sqlite_master\nCREATE TABLE passing (a);\n\npassing\na\r\n7\r\n")
        #expect(try dump("") { db, text in try db.dumpContent(to: &text) } == "sqlite_master\n")
    }

    @Test("without a stream, all goes to the standard output")
    func standardOutput() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            try inDatabase { db in
                try db.execute(sql: "CREATE TABLE dumped (a); INSERT INTO dumped VALUES ('x')")
                try db.dumpSQL("SELECT 'one', \(2)")
                try db.dumpSchema()
                try db.dumpTables(["dumped"], format: .quote)
                try db.dumpContent(format: .line)
            }
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(
            output.contains(
                "one|2\nCREATE TABLE dumped (a);\n'x'\nsqlite_master\nCREATE TABLE dumped (a);\n\ndumped\na = x\n"
            ))
    }
}

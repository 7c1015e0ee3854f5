import Testing

@testable import Shellac

@Suite("SQLite's messages")
struct SQLiteMessageTests {
    @Test(
        "A missing column is told in the same words by each version",
        arguments: [
            (
                #"no such column: "nmae" - should this be a string literal in single-quotes?"#,
                "no such column: nmae"
            ),
            (
                #"error in view v: no such column: "a b" - should this be a string literal in single-quotes?"#,
                "error in view v: no such column: a b"
            ),
            (
                #"no such column: "a"b" - should this be a string literal in single-quotes?"#,
                #"no such column: a"b"#
            ),
            ("no such column: nmae", "no such column: nmae"),
            ("no such column: t.nmae", "no such column: t.nmae"),
            (#"" - should this be a string literal in single-quotes?"#, nil),
            (#"no such column: "" - should this be a string literal in single-quotes?"#, "no such column: "),
            ("", ""),
        ] as [(String, String?)])
    func missingColumn(_ message: String, _ plain: String?) {
        #expect(SQLiteMessage.plain(message) == plain ?? message)
    }

    @Test("A request that names a column which is not there asks for the near one, whichever version runs")
    func guess() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
            let error = #expect(throws: DatabaseError.self) {
                try Table<Row>("player").filter(Column("nmae") == "Arthur").fetchAll(db)
            }
            #expect(error?.message == "no such column: nmae, in the table player: did you mean name?")
            let plain = #expect(throws: DatabaseError.self) {
                try db.execute(sql: #"SELECT id FROM player WHERE "nmae" = 1"#)
            }
            #expect(plain?.message == "no such column: nmae")
        }
    }
}

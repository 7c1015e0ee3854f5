import Foundation
import Shellac
import ShellacTesting
import TestSupport
import Testing

private let template = DatabaseTemplate { dbQueue in
    try dbQueue.inDatabase { db in
        try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
    }
}

@Suite("SQL literals that are prepared in a test", .database(template))
struct SQLCheckTests {
    /// Checks a package with one file. Returns the result, or the errors without the folder.
    private func check(_ lines: String...) throws -> (check: SQLCheck?, errors: [String]) {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path("Sources/App"), withIntermediateDirectories: true)
        _ = try folder.write("".utf8, to: "Package.swift")
        _ = try folder.write(lines.joined(separator: "\n").utf8, to: "Sources/App/App.swift")
        return try testDatabase.inDatabase { db in
            do {
                return (try db.checkSQL(in: "Sources", file: folder.path("Tests/AppTests/Tests.swift")), [])
            } catch let failure as SQLCheckFailure {
                let start = try #require(failure.errors.first?.range(of: "App.swift:")?.lowerBound)
                let prefix = failure.errors.first?[..<start] ?? ""
                return (nil, failure.errors.map { $0.replacing(prefix, with: "") })
            }
        }
    }

    @Test("that are right are counted")
    func right() throws {
        let (check, errors) = try check(
            #"try db.execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: [name])"#,
            #"try db.execute(literal: "UPDATE player SET name = \(name) WHERE id = \(ids["a)"] ?? 1)")"#,
            #"let request: SQLRequest<Player> = "SELECT * FROM player""#,
            "let sql: SQL = \"\"\"\n    SELECT *\n    FROM player \\\n    WHERE id = 1\n    \"\"\"",
            ##"try db.execute(sql: #"SELECT '\(' || \#(name) FROM player"#)"##,
            #"try db.execute(sql: "SELECT id, " + "name " + "FROM player")"#,
            #"try db.execute(sql: "CREATE TABLE team (a); INSERT INTO team VALUES (1)")"#,
            #"try db.execute(sql: "CREATE TABLE player (id)")"#,
            #"try db.execute(sql: "\u{53}ELECT 'it''s' -- nothing")"#)
        #expect(errors == [])
        #expect(check?.checkedCount == 9)
        #expect(check?.unchecked == [])
        #expect(try testDatabase.read { db in try !db.tableExists("team") })
    }

    @Test(
        "that are wrong are errors of their line",
        arguments: [
            (#"(sql: "INSERT INTO playr (name) VALUES (?)")"#, "no such table: playr"),
            (#"(literal: "UPDATE player SET nam = \(name)")"#, "no such column: nam"),
            (#": SQLRequest<Player> = "SELECT nam FROM player""#, "no such column: nam"),
            (#"(sql: "SELEC id FROM player")"#, "near \"SELEC\": syntax error"),
            (#"(sql: "SHOW TABLES")"#, "near \"SHOW\": syntax error"),
            (#"(sql: "SELECT shout(name) FROM player")"#, "no such function: shout"),
            (#"(sql: "CREATE TABLE team (a); SELECT b FROM team")"#, "no such column: b"),
        ])
    func wrong(_ code: String, _ message: String) throws {
        let (_, errors) = try check("// first", "", "let value\(code)", #"(sql: "SELECT 1")"#)
        #expect(errors == ["App.swift:3: error: \(message)"])
    }

    @Test("that only a running program knows are listed")
    func unknown() throws {
        let (check, errors) = try check(
            #"try db.execute(sql: "SELECT * FROM \(table)")"#,
            ##"try db.execute(sql: #"SELECT "\#(name)" FROM player"#)"##,
            #"try db.execute(sql: "SELECT id, " + columns)"#)
        #expect(errors == [])
        #expect(check?.checkedCount == 0)
        #expect(check?.unchecked.map { $0.suffix(11) } == (1...3).map { "App.swift:\($0)" })
    }

    @Test("are not looked for in comments and in other texts")
    func others() throws {
        let (check, errors) = try check(
            #"// (sql: "SELECT nothing FROM nowhere")"#, #"/* a: SQL = "x" /* (sql: "x") */ (sql: "x") */"#,
            #"let text: String = "SELECT whatever""#, #"print("(sql: \"bad\")")"#, #"print("\(f(sql("x")))")"#
        )
        #expect(errors == [])
        #expect(check?.checkedCount == 0)
    }

    @Test("are missed in a folder without Swift files")
    func noFiles() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("".utf8, to: "Package.swift")
        try testDatabase.inDatabase { db in
            let failure = #expect(throws: SQLCheckFailure.self) {
                try db.checkSQL(in: "Sorces", file: folder.path("Tests.swift"))
            }
            #expect(failure?.description.hasSuffix("/Sorces: error: there are no Swift files") == true)
        }
    }
}

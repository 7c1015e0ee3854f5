import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("shellac class") struct ClassTests {
    /// Composite keys, two foreign keys to one table, a tree, words of Swift, names that are none,
    /// and columns that hold what they please.
    private static let odd = #"""
        CREATE TABLE "order items" ("order" INTEGER NOT NULL, line INTEGER NOT NULL, "class" TEXT, PRIMARY KEY ("order", line)) WITHOUT ROWID;
        CREATE TABLE matches (id INTEGER PRIMARY KEY, home_team_id INTEGER NOT NULL REFERENCES team, guestTeamID INTEGER NOT NULL REFERENCES team,
            team TEXT, "order" INT, line INT, score REAL NOT NULL DEFAULT 1.5, total INT AS (home_team_id * 2), done BOOLEAN NOT NULL DEFAULT TRUE,
            FOREIGN KEY ("order", line) REFERENCES "order items");
        CREATE TABLE comment (id INTEGER PRIMARY KEY, parentId INTEGER REFERENCES comment, "self" TEXT, "init" INT, "column" TEXT, "save" TEXT,
            "say ""hi"" \(1)" TEXT NOT NULL DEFAULT 'a\b"c', "1st" INT, "" INT, "été" TEXT, "a-b" INT, "a b" INT, URLText TEXT);
        CREATE TABLE "string" (anything, amount DECIMAL(10, 2) NOT NULL, mixed INTEGER, dated TIMESTAMP NOT NULL, raw BLOB NOT NULL,
            described TEXT UNIQUE REFERENCES team(name), description TEXT);
        INSERT INTO "string" VALUES (1, 2.5, 'text', '2026-01-01', x'00', NULL, NULL), ('a', 3, 7, '2026-01-01', x'', NULL, NULL);
        CREATE TABLE member (id INTEGER PRIMARY KEY, role TEXT NOT NULL DEFAULT 'guest' CHECK (role IN ('host', 'guest', 'co-host', 'class', '')),
            type TEXT CHECK ("type" IN ('a', 'A')), level INTEGER CHECK (level IN (1, 2)), state TEXT CHECK (state IN (lower('x'), 'y')),
            "comment" TEXT CHECK ("comment" IN ('x')), matchesCount INTEGER CONSTRAINT "counts matches" NOT NULL DEFAULT 0,
            created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, updatedAt TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
            deletedAt TIMESTAMP, createdBy TEXT NOT NULL DEFAULT 'me', matchId INTEGER REFERENCES matches);
        CREATE TABLE "123" (a INTEGER PRIMARY KEY); CREATE TABLE "!" (a); CREATE TABLE "Team" (a);
        """#.replacing(
            "CREATE TABLE \"Team\" (a);", with: "CREATE TABLE \"te am\" (a REFERENCES team(id), A2 INT);")

    @Test("a class is printed with its relations, in a pipe and in a terminal")
    func text() async throws {
        let folder = try gameFolder()
        let printed = try await ShellacCommand.run("class", "game.sqlite", "player", in: folder)
        #expect(
            printed.did(
                0,
                """
                import Foundation
                import Shellac

                class Player: Record {
                    static let team = belongsTo(Team.self)

                    var id: Int64?
                    var teamId: Int64?
                    var name = "O'Brien"
                    var score = 0
                    var photo: Data?

                    override func columns(_ column: borrowing RecordColumns) throws {
                        try column("id", id) { id = $0 }
                        try column("teamId", teamId) { teamId = $0 }
                        try column("name", name) { name = $0 }
                        try column("score", score) { score = $0 }
                        try column("photo", photo) { photo = $0 }
                    }

                    var team: Team? { get throws { try self[Player.team] } }
                }

                class Team: Record {
                    static let players = hasMany(Player.self)

                    var id: Int64?
                    var name = ""
                    var founded: Date?

                    override func columns(_ column: borrowing RecordColumns) throws {
                        try column("id", id) { id = $0 }
                        try column("name", name) { name = $0 }
                        try column("founded", founded) { founded = $0 }
                    }

                    var players: [Player] { get throws { try self[Team.players] } }
                }

                """), "\(printed.output)")
        let terminal = try await ShellacCommand.terminal("class game.sqlite player", in: folder)
        #expect(terminal.output == printed.output)
        let alone = try await ShellacCommand.run(
            "class", "game.sqlite", "team", "--style", "struct", "--alone", in: folder)
        #expect(
            alone.did(
                0,
                """
                import Foundation
                import Shellac

                struct Team: Codable, FetchableRecord, MutablePersistableRecord {
                    var id: Int64?
                    var name = ""
                    var founded: Date?

                    mutating func didInsert(_ inserted: InsertionSuccess) {
                        id = inserted.rowID
                    }
                }

                """), "\(alone.output)")
        let codable = try await ShellacCommand.run(
            "class", "game.sqlite", "team", "--style", "codable", "--alone", in: folder)
        #expect(codable.output.contains("class Team: Record, Codable {\n    var id: Int64?\n"))
    }

    @Test(
        "what is printed compiles, for each table and each style",
        arguments: ["columns", "codable", "struct"])
    func compiles(_ style: String) async throws {
        let folder = try gameFolder(Self.odd)
        let tables = ["matches", "string", "123", "!"]
        for table in tables {
            let printed = try await ShellacCommand.run(
                "class", "game.sqlite", table, "--style", style, in: folder)
            #expect(printed.status == 0)
            let script = folder.url.appending(path: "script.swift")
            try Data(printed.output.utf8).write(to: script)
            let compiled = try await SwiftScript.compile(script, warningsAreErrors: true)
            #expect(compiled.succeeded, "\(compiled.output)\n\(printed.output)")
        }
        for table in ["comment", "te am", "member"] {
            let printed = try await ShellacCommand.run(
                "class", "game.sqlite", table, "--style", style, "--alone", in: folder)
            let script = folder.url.appending(path: "script.swift")
            try Data(printed.output.utf8).write(to: script)
            let compiled = try await SwiftScript.compile(script, warningsAreErrors: true)
            #expect(compiled.succeeded, "\(compiled.output)\n\(printed.output)")
        }
    }

    @Test("stamps, soft deletion, lists of values and counters are recognized")
    func recognized() async throws {
        let folder = try gameFolder(
            """
            CREATE TABLE member (id INTEGER PRIMARY KEY, role TEXT NOT NULL DEFAULT 'guest' CHECK (role IN ('host', 'guest', 'co-host')),
                type TEXT CHECK ("type" IN ('a', NULL)), level INTEGER CHECK (level IN (1, 2)), giftsCount INTEGER CONSTRAINT "counts gift"
                NOT NULL DEFAULT 0, createdAt DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, updated DATE NOT NULL DEFAULT CURRENT_TIMESTAMP,
                deletedAt DATETIME);
            CREATE TABLE gift (memberId INTEGER REFERENCES member);
            """)
        let printed = try await ShellacCommand.run("class", "game.sqlite", "member", "--alone", in: folder)
        #expect(
            printed.did(
                0,
                """
                import Foundation
                import Shellac

                class Member: Record {
                    enum Role: String, CaseIterable, Codable, DatabaseValueConvertible {
                        case host
                        case guest
                        case coHost = "co-host"
                    }

                    enum TypeValue: String, CaseIterable, Codable, DatabaseValueConvertible {
                        case a
                    }

                    var id: Int64?
                    var role: Role = .guest
                    var type: TypeValue?
                    var level: Int?
                    /// The number of rows of gift, which the database counts.
                    var giftsCount = 0
                    var createdAt: Date?
                    var updatedValue = Date()
                    var deletedAt: Date?

                    override class var databaseStamps: DatabaseStamps {
                        DatabaseStamps(created: "createdAt")
                    }

                    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }

                    override func columns(_ column: borrowing RecordColumns) throws {
                        try column("id", id) { id = $0 }
                        try column("role", role) { role = $0 }
                        try column("type", type) { type = $0 }
                        try column("level", level) { level = $0 }
                        try column("giftsCount", giftsCount) { giftsCount = $0 }
                        try column("createdAt", createdAt) { createdAt = $0 }
                        try column("updated", updatedValue) { updatedValue = $0 }
                        try column("deletedAt", deletedAt) { deletedAt = $0 }
                    }
                }

                """), "\(printed.output)")
        let structure = try await ShellacCommand.run(
            "class", "game.sqlite", "member", "--alone", "--style", "struct", in: folder)
        #expect(
            structure.output.contains("    static var databaseSoftDelete: SoftDelete? { \"deletedAt\" }\n"),
            "\(structure.output)")
    }

    @Test("odd names, two foreign keys to one table, and columns that hold what they please")
    func odd() async throws {
        let folder = try gameFolder(Self.odd)
        let printed = try await ShellacCommand.run("class", "game.sqlite", "matches", in: folder)
        for line in [
            "class Match: Record {", "class OrderItem: Record {",
            "static let homeTeam = belongsTo(Team.self, using: \"home_team_id\")",
            "static let guestTeam = belongsTo(Team.self, using: \"guestTeamID\")",
            "static let orderItem = belongsTo(OrderItem.self)",
            "static let matchesAsGuestTeam = hasMany(Match.self, using: \"guestTeamID\")",
            "override class var databaseTableName: String { \"order items\" }",
            "try column.reading(\"total\") { total = $0 }",
            "var score = 1.5", "var done = true", "try column(\"class\", `class`) { `class` = $0 }",
            "override class var databaseTableName: String { \"matches\" }", "var orderValue: Int64?",
        ] {
            #expect(
                printed.output.contains("    \(line)\n") || printed.output.contains("\n\(line)\n"),
                "\(line)\n\(printed.output)")
        }
        let strings = try await ShellacCommand.run("class", "game.sqlite", "string", in: folder)
        for line in [
            "class StringRecord: Record {", "var anything: DatabaseValue?", "var amount: Double = 0",
            "var mixed: DatabaseValue?",
            "var dated = Date()", "var raw = Data()", "static let team = belongsTo(Team.self)",
            "var descriptionValue: String?",
            "static let string = hasOne(StringRecord.self)",
        ] {
            #expect(
                strings.output.contains("    \(line)\n") || strings.output.contains("\n\(line)\n"),
                "\(line)\n\(strings.output)")
        }
        let comments = try await ShellacCommand.run(
            "class", "game.sqlite", "comment", "--style", "codable", in: folder)
        for line in [
            "static let parent = belongsTo(Comment.self, using: \"parentId\")",
            "static let comments = hasMany(Comment.self, using: \"parentId\")",
            "var selfValue: String?", "var columnValue: String?", "var _1st: Int?", "var aB: Int?",
            "var aB2: Int?", "var été: String?",
            "var urlText: String?", "    case sayHi1 = \"say \\\"hi\\\" \\\\(1)\"",
            "var sayHi1 = \"a\\\\b\\\"c\"",
        ] { #expect(comments.output.contains("    \(line)\n"), "\(line)\n\(comments.output)") }
    }
}

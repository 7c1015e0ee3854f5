import Foundation
import Shellac
import TestSupport
import Testing

@Suite("The drift check finds")
struct SchemaDriftTests {
    // MARK: - Tables and columns

    @Test("a missing table")
    func missingTable() throws {
        try expect(
            ["Player is stored in the table player, which does not exist."], of: Player.self,
            in: "CREATE TABLE team (id INTEGER PRIMARY KEY)")
    }

    @Test("a column that is encoded, and missing")
    func missingEncodedColumn() throws {
        struct Player: Drifting {
            init(row: Row) throws {}
            func encode(to container: inout PersistenceContainer) {
                container["id"] = 1
                container["nickname"] = "Art"
            }
        }
        try expect(
            ["Player encodes the column nickname, which the table player lacks."], of: Player.self,
            in: "CREATE TABLE player (id INTEGER PRIMARY KEY)")
    }

    @Test("a column that is read and encoded, and missing", arguments: [true, false])
    func missingColumn(hasRow: Bool) throws {
        try expect(
            ["Player reads and encodes the column name, which the table player lacks."], of: Player.self,
            in: "CREATE TABLE player (id INTEGER PRIMARY KEY)"
                + (hasRow ? "; INSERT INTO player VALUES (1)" : ""))
    }

    @Test("a missing column that is read as an optional, as a value, or asked for")
    func missingReadColumns() throws {
        struct Player: Drifting {
            init(row: Row) throws {
                let _: Int? = try row["score"]
                let _: String = try row["team"]
                if row.hasColumn("color") {}
                _ = row.databaseValue(named: "size")
                let _: Int? = try row["SCORE"]
            }
            func encode(to container: inout PersistenceContainer) { container["id"] = 1 }
        }
        try expect(
            ["score", "team", "color", "size"].map {
                "Player reads the column \($0), which the table player lacks."
            }, of: Player.self, in: "CREATE TABLE player (id INTEGER PRIMARY KEY)")
    }

    @Test("a missing column of a class, which asks for it", arguments: RecordStyle.allCases)
    func missingColumnOfAClass(style: RecordStyle) throws {
        try expect(
            ["\(style.classPlayer) reads and encodes the column name, which the table player lacks."],
            of: style.classPlayer, in: "CREATE TABLE player (id INTEGER PRIMARY KEY)")
    }

    @Test("a missing column among more than are searched from left to right", arguments: RecordStyle.allCases)
    func missingColumnAmongMany(style: RecordStyle) throws {
        let others = (1...20).map { "c\($0)" }.joined(separator: ", ")
        try expect(
            ["\(style.classPlayer) reads and encodes the column name, which the table player lacks."],
            of: style.classPlayer, in: "CREATE TABLE player (id INTEGER PRIMARY KEY, \(others))")
    }

    @Test("a column that is read, and not selected")
    func notSelected() throws {
        struct Player: Drifting {
            static var databaseSelection: [any SQLSelectable] { [Column("id")] }
            init(row: Row) throws {
                let _: String? = try row["name"]
                let _: Int? = try row["rowid"]
            }
            func encode(to container: inout PersistenceContainer) {
                container["id"] = 1
                container["name"] = "Arthur"
            }
        }
        try expect(
            [
                "Player reads the column name of the table player, which its databaseSelection lacks.",
                "Player reads the column rowid of the table player, which its databaseSelection lacks.",
            ], of: Player.self, in: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
    }

    @Test("a selection that the table does not have")
    func invalidSelection() throws {
        struct Player: Drifting {
            static var databaseSelection: [any SQLSelectable] { [Column("id"), Column("nickname")] }
            init(row: Row) throws { let _: Int = try row["id"] }
            func encode(to container: inout PersistenceContainer) { container["id"] = 1 }
        }
        try expect(
            [
                "Player has a databaseSelection that does not work with the table player: no such column: "
                    + "nickname."
            ], of: Player.self, in: "CREATE TABLE player (id INTEGER PRIMARY KEY)")
    }

    @Test("a generated column that is encoded", arguments: ["VIRTUAL", "STORED"])
    func generatedColumn(_ kind: String) throws {
        try expect(
            ["Player encodes the column name of the table player, which is generated and cannot be written."],
            of: Player.self,
            in: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL AS ('x') \(kind))")
    }

    @Test("a NOT NULL column without a default that is never encoded")
    func columnNeverEncoded() throws {
        try expect(
            [
                "Player never encodes the column email of the table player, which is NOT NULL and has no default.",
                "Player never encodes the column city of the table player, which is NOT NULL and has no default.",
            ], of: Player.self,
            in: """
                CREATE TABLE player (
                    id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL,
                    city TEXT NOT NULL DEFAULT NULL, score INTEGER NOT NULL DEFAULT 0, note TEXT)
                """)
    }

    @Test("a primary key that is not encoded, as a whole")
    func primaryKeyNotEncoded() throws {
        let tail = "of the table player, by which it is updated and deleted."
        for (sql, key) in [
            ("number INTEGER PRIMARY KEY, id INTEGER, name TEXT", "number"),
            ("id INTEGER, number INTEGER NOT NULL, name TEXT, PRIMARY KEY (id, number)", "id, number"),
        ] {
            try expect(
                ["Player does not encode the primary key (\(key)) \(tail)"], of: Player.self,
                in: "CREATE TABLE player (\(sql))")
        }
    }

    @Test("a default that the record overwrites with NULL", arguments: [true, false])
    func overwrittenDefault(hasRow: Bool) throws {
        struct Player: Drifting {
            var id: Int?
            var score: Int?
            var level: Int
            var team: String
            init(row: Row) throws {
                id = try row["id"]
                score = try row["score"]
                level = try row["level"]
                team = try row["team"] ?? "none"
            }
            func encode(to container: inout PersistenceContainer) {
                container["id"] = id
                container["score"] = score
                container["level"] = level
                container["team"] = team
            }
        }
        try expect(
            [
                "Player stores NULL in the column score of the table player if it has no value, instead of "
                    + "the default 10."
            ], of: Player.self,
            in: """
                CREATE TABLE player (
                    id INTEGER PRIMARY KEY DEFAULT 7, score INTEGER DEFAULT 10, level INTEGER DEFAULT 1,
                    team TEXT DEFAULT 'red');
                """ + (hasRow ? "INSERT INTO player VALUES (1, 2, 3, 'blue')" : ""))
    }

    // MARK: - Foreign keys

    @Test(
        "a foreign key without an index, and tells it once for all types of the table",
        arguments: RecordStyle.allCases)
    func foreignKey(style: RecordStyle) throws {
        try expect(
            [
                "The foreign key (teamID) of the table player, which refers to the table team, has no index.",
                "The foreign key (a, b) of the table player, which refers to the table pair, has no index.",
            ], of: Player.self, style.classPlayer,
            in: """
                CREATE TABLE team (id INTEGER PRIMARY KEY);
                CREATE TABLE pair (a, b, PRIMARY KEY (a, b));
                CREATE TABLE player (
                    id INTEGER PRIMARY KEY, name TEXT, a, b, teamID REFERENCES team,
                    FOREIGN KEY (a, b) REFERENCES pair);
                CREATE INDEX byName ON player (name, teamID);
                CREATE INDEX byA ON player (a);
                CREATE INDEX byOther ON player (teamID) WHERE name > 'a';
                CREATE INDEX byExpression ON player (a, (b + 1));
                """)
    }

    @Test("no fault in foreign keys with an index of any kind")
    func indexedForeignKeys() throws {
        try expect(
            [], of: Player.self,
            in: """
                CREATE TABLE team (id INTEGER PRIMARY KEY);
                CREATE TABLE pair (a, b, PRIMARY KEY (a, b));
                CREATE TABLE player (
                    id INTEGER PRIMARY KEY REFERENCES team, name TEXT, a, b, c UNIQUE REFERENCES team,
                    d REFERENCES team, FOREIGN KEY (a, b) REFERENCES pair);
                CREATE INDEX byPair ON player (B, A, name);
                CREATE INDEX "by d" ON player (d) WHERE d IS NOT NULL;
                """)
        struct Link: Drifting {
            init(row: Row) throws {}
            func encode(to container: inout PersistenceContainer) {
                container["a"] = 1
                container["b"] = 1
            }
        }
        try expect(
            [], of: Link.self,
            in: """
                CREATE TABLE team (id INTEGER PRIMARY KEY);
                CREATE TABLE link (a INTEGER REFERENCES team, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
                """)
    }

    // MARK: - Affinities

    @Test("a value that its column is not made for", arguments: [true, false])
    func affinities(hasRow: Bool) throws {
        try expect(
            [
                "an integer in the column a of the table values, whose type is TEXT: it is stored as a text.",
                "a real number in the column b of the table values, whose type is VARCHAR(9): it is stored as a text.",
                "a text in the column c of the table values, whose type is INTEGER: texts that look like numbers "
                    + "are stored as numbers.",
                "a text in the column d of the table values, whose type is REAL: texts that look like numbers are "
                    + "stored as numbers.",
                "a text in the column e of the table values, whose type is NUMERIC: texts that look like numbers "
                    + "are stored as numbers.",
                "a real number in the column f of the table values, whose type is INTEGER: numbers without a "
                    + "fraction are stored as integers.",
                "a blob in the column g of the table values, whose type is TEXT: declare it BLOB.",
                "a blob in the column h of the table values, whose type is INTEGER: declare it BLOB.",
                "a text in the column i of the table values, whose type is DECIMAL: texts that look like numbers "
                    + "are stored as numbers.",
            ].map { "Values encodes \($0)" }, of: Values.self,
            in: """
                CREATE TABLE "values" (
                    id INTEGER PRIMARY KEY, a TEXT, b VARCHAR(9), c INTEGER, d REAL, e NUMERIC, f INTEGER, g TEXT,
                    h INTEGER, i DECIMAL);
                """ + (hasRow ? "INSERT INTO \"values\" (id, d) VALUES (1, 1.5)" : ""))
    }

    // MARK: - Records that cannot be made

    @Test("that no record can be made, and what is wrong all the same")
    func recordNotMade() throws {
        struct Player: Drifting {
            init(row: Row) throws {
                let _: Int? = try row["score"]
                throw TestError(7)
            }
            func encode(to container: inout PersistenceContainer) { container["id"] = 1 }
        }
        try expect(
            [
                "Player reads the column score, which the table player lacks.",
                "No Player could be made from a row of the table player, to see what it encodes: call "
                    + "checkSchema(_:) on an instance. (TestError(number: 7))",
                "The foreign key (teamID) of the table player, which refers to the table team, has no index.",
            ], of: Player.self, in: "CREATE TABLE player (id INTEGER PRIMARY KEY, teamID REFERENCES team)")
    }

    @Test("that no record can be made from invented values, and not when the table has a row")
    func rowsHelp() throws {
        struct Player: Codable, Drifting {
            enum Color: String, Codable { case red, blue }
            var id: Int64
            var color: Color
        }
        struct Guest: Drifting {
            let name: String?
            init(row: Row) throws {
                name = try row["name"]
                if name != nil { throw TestError(7) }
            }
            func encode(to container: inout PersistenceContainer) { container["name"] = name }
        }
        let dbQueue = try DatabaseQueue()
        try dbQueue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, color TEXT NOT NULL);
                    CREATE TABLE guest (name TEXT PRIMARY KEY);
                    """)
            let error = thrownError { try db.checkSchema(of: Player.self, Guest.self) }
            let faults = try #require(error as? SchemaDriftError).faults
            #expect(faults.map(\.recordType) == ["Player", "Guest"])
            let reason = "(could not read Color from column \"color\": it holds the text '1' - in the row "
            #expect("\(try #require(faults.first))".contains(reason))
            try db.execute(
                sql: "INSERT INTO player VALUES (1, 'blue'); INSERT INTO guest VALUES ('Arthur')")
            try db.checkSchema(of: Player.self)
            let refused = thrownError { try db.checkSchema(of: Guest.self) }
            #expect("\(try #require(refused))".hasSuffix(" (TestError(number: 7))"))
            try db.execute(sql: "UPDATE guest SET name = NULL")
            try db.checkSchema(of: Guest.self)
        }
    }

    @Test("that a record cannot be encoded")
    func recordNotEncoded() throws {
        struct Player: Drifting {
            init(row: Row) throws {}
            func encode(to container: inout PersistenceContainer) throws { throw TestError(7) }
        }
        try expect(
            [
                "The Player that was made from a row of the table player could not be encoded: call "
                    + "checkSchema(_:) on an instance. (TestError(number: 7))"
            ], of: Player.self, in: "CREATE TABLE player (id INTEGER PRIMARY KEY)")
    }

    @Test("throwing what an instance throws when it is encoded")
    func instanceNotEncoded() throws {
        struct Player: Drifting {
            init() {}
            init(row: Row) throws {}
            func encode(to container: inout PersistenceContainer) throws { throw TestError(7) }
        }
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY)")
            #expect(throws: TestError(7)) { try Player().checkSchema(db) }
        }
    }

    // MARK: - Instances and several types

    @Test("what an instance encodes, class or struct", arguments: RecordStyle.allCases)
    func instances(style: RecordStyle) throws { try instances(style.classPlayer) }

    private func instances<ClassPlayer: NamedPlayer>(_: ClassPlayer.Type) throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.inDatabase { db in
            try db.execute(
                sql:
                    "CREATE TABLE player (id INTEGER PRIMARY KEY, name INTEGER DEFAULT 1, team TEXT NOT NULL)"
            )
            func sentences(_ type: String, _ others: String...) -> String {
                (others + [
                    "\(type) never encodes the column team of the table player, which is NOT NULL and has no default."
                ]).joined(separator: "\n")
            }
            let text =
                "encodes a text in the column name of the table player, whose type is INTEGER: texts that look like "
                + "numbers are stored as numbers."
            let player = Player(id: 1, name: "Arthur")
            #expect(
                "\(try #require(thrownError { try player.checkSchema(db) }))"
                    == sentences("Player", "Player \(text)"))
            let other = ClassPlayer()
            #expect(
                "\(try #require(thrownError { try other.checkSchema(db) }))"
                    == sentences("\(ClassPlayer.self)", "\(ClassPlayer.self) \(text)"))
            let empty = Player(id: nil, name: nil)
            let null =
                "Player stores NULL in the column name of the table player if it has no value, instead of "
                + "the default 1."
            #expect("\(try #require(thrownError { try empty.checkSchema(db) }))" == sentences("Player", null))

            try db.execute(sql: "DROP TABLE player")
            #expect(
                "\(try #require(thrownError { try other.checkSchema(db) }))"
                    == "\(ClassPlayer.self) is stored in the table player, which does not exist.")
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
            try player.checkSchema(db)
            try other.checkSchema(db)
        }
    }

    @Test(
        "the faults of several types, each with its type, table and columns", arguments: RecordStyle.allCases)
    func severalTypes(style: RecordStyle) throws {
        let dbQueue = try DatabaseQueue()
        try dbQueue.inDatabase { db in
            try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, b UNIQUE)")
            try db.checkSchema(of: Player.self, style.classPlayer)
            try db.checkSchema()
            let error = thrownError { try db.checkSchema(of: Player.self, Values.self, style.classPlayer) }
            let faults = try #require(error as? SchemaDriftError).faults
            #expect(faults.map(\.kind) == [.tableMissing])
            #expect(faults.map(\.recordType) == ["Values"])
            #expect(faults.map(\.tableName) == ["values"])
            #expect(faults.map(\.column) == [nil])

            try db.execute(sql: "DROP TABLE player; CREATE TABLE player (id INTEGER PRIMARY KEY)")
            let missing = thrownError { try db.checkSchema(of: Player.self, style.classPlayer) }
            let others = try #require(missing as? SchemaDriftError).faults
            #expect(
                others.map(\.kind) == [
                    .columnMissing(isRead: true, isEncoded: true),
                    .columnMissing(isRead: true, isEncoded: true),
                ])
            #expect(others.map(\.columns) == [["name"], ["name"]])
            #expect(others.map(\.recordType) == ["Player", "\(style.classPlayer)"])
        }
    }
}

// MARK: - Records

typealias Drifting = EncodableRecord & FetchableRecord & TableRecord

/// Expects some sentences of the check of a type, whose tables are made by SQL. The database stays
/// as it is.
func expect(
    _ sentences: [String], of types: any (FetchableRecord & EncodableRecord & TableRecord).Type...,
    in sql: String,
    _ location: SourceLocation = #_sourceLocation
) throws {
    let dbQueue = try DatabaseQueue()
    try dbQueue.inDatabase { db in
        try db.execute(sql: sql)
        let changes = try Int.fetchOne(db, sql: "SELECT total_changes()")
        var said: [String] = []
        do {
            // Each as its own method, and all at once.
            if types.count == 1, let type = types.first { try type.checkSchema(db) }
            for type in types { try db.checkSchema(of: type) }
        } catch let error as SchemaDriftError {
            let all = thrownError {
                try types.count == 1
                    ? db.checkSchema(of: types[0]) : db.checkSchema(of: types[0], types[1])
            }
            said = "\(all ?? error)".split(separator: "\n").map(String.init)
            #expect((all as? SchemaDriftError)?.faults.count == said.count, sourceLocation: location)
        }
        #expect(said == sentences, sourceLocation: location)
        #expect(try Int.fetchOne(db, sql: "SELECT total_changes()") == changes, sourceLocation: location)
    }
}

private struct Player: Drifting {
    var id: Int64?
    var name: String?

    init(id: Int64?, name: String?) { (self.id, self.name) = (id, name) }

    init(row: Row) throws {
        id = try row["id"]
        name = try row["name"]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
    }
}

private protocol NamedPlayer: Record {
    init()
}

private class ClassPlayer: Record {
    override class var databaseTableName: String { "player" }
}

private final class PairClassPlayer: ClassPlayer, NamedPlayer {
    var id: Int64?
    var name = "Arthur"

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("name") { name = try row["name"] }
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
    }
}

private final class ListedClassPlayer: ClassPlayer, NamedPlayer {
    var id: Int64?
    var name = "Arthur"

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }
}

private final class CodedClassPlayer: ClassPlayer, NamedPlayer, Codable {
    var id: Int64?
    var name = "Arthur"
}

extension RecordStyle {
    fileprivate var classPlayer: any NamedPlayer.Type {
        choose(PairClassPlayer.self, ListedClassPlayer.self, CodedClassPlayer.self)
    }
}

private struct Values: Drifting {
    var id: Int?
    var a: Int
    var b: Double?
    var c: String?
    var d: String
    var e: String
    var f: Double
    var g: Data
    var h: UUID?
    var i: Decimal?

    init(row: Row) throws {
        id = try row["id"]
        a = try row["a"]
        b = try row["b"]
        c = try row["c"]
        d = try row["d"]
        e = try row["e"]
        f = try row["f"]
        g = try row["g"]
        h = try row["h"]
        i = try row["i"]
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["a"] = a
        container["b"] = b
        container["c"] = c
        container["d"] = d
        container["e"] = e
        container["f"] = f
        container["g"] = g
        container["h"] = h
        container["i"] = i
    }
}

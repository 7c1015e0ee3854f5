import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Names of schemas, files and dumps")
struct SchemaNamesTests {
    private final class Stream: TextOutputStream {
        var text = ""
        func write(_ string: String) { text += string }
    }

    // MARK: - Dumps

    @Test(
        "Formats take options",
        arguments: [
            (DumpFormat.list(header: true, separator: ",", nullValue: "-"), "id,v\n1,x\n2,-\n"),
            (.list(), "1|x\n2|\n"),
            (.debug(), "1|x\n2|\n"),
            (.debug(header: true), "id|v\n1|x\n2|\n"),
            (.quote(header: true, separator: ";"), "'id';'v'\n1;'x'\n2;NULL\n"),
            (.quote(), "1,'x'\n2,NULL\n"),
            (.line(nullValue: "?"), "id = 1\n v = x\n\nid = 2\n v = ?\n"),
            (.json(), #"[{"id":1,"v":"x"},"# + "\n" + #"{"id":2,"v":null}]"# + "\n"),
        ])
    func formats(format: DumpFormat, expected: String) throws {
        let stream = Stream()
        try DatabaseQueue().inDatabase { db in
            try db.dumpSQL("SELECT 1 AS id, 'x' AS v UNION ALL SELECT 2, NULL", format: format, to: stream)
        }
        #expect(stream.text == expected)
    }

    @Test("JSON escapes what it must, and nothing else; no row is an empty array")
    func json() throws {
        var text = ""
        try DatabaseQueue().inDatabase { db in
            try db.dumpSQL(
                #"SELECT 'a"\' || char(10) || char(1) || 'é' AS t, x'00FF' AS b, 1.5 AS r, 9e999 AS i"#,
                format: .json(), to: &text)
            try db.dumpSQL("SELECT 1 WHERE 0", format: .json(), to: &text)
        }
        #expect(text == #"[{"t":"a\"\\\n\u0001é","b":"AP8=","r":1.5,"i":"inf"}]"# + "\n[]\n")
        let object =
            try JSONSerialization.jsonObject(with: Data(text.split(separator: "\n")[0].utf8))
            as? [[String: Any]]
        #expect(object?.first?["t"] as? String == "a\"\\\n\u{1}é")
    }

    @Test("Sixteen bytes are a UUID for who looks for a fault, unless they are a text")
    func identifiers() throws {
        let id = UUID()
        var text = ""
        try DatabaseQueue().inDatabase { db in
            try db.dumpSQL("SELECT \(id), \(Data("0123456789abcdef".utf8))", format: .debug(), to: &text)
        }
        #expect(text == "\(id.uuidString)|0123456789abcdef\n")
    }

    @Test("Queues dump, to objects and to any stream, what they may read")
    func readers() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: "CREATE TABLE a (x); INSERT INTO a VALUES (1)") }
        let stream = Stream()
        let output: any TextOutputStream = stream
        try queue.dumpSQL("SELECT x FROM a", to: output)
        try queue.dumpTables(["a"], to: stream)
        try queue.dumpSchema(to: stream)
        try queue.dumpContent(to: stream)
        try queue.dumpRequest(Table("a"), format: .quote(), to: stream)
        #expect(stream.text == "1\n1\nCREATE TABLE a (x);\nsqlite_master\nCREATE TABLE a (x);\n\na\n1\n1\n")
        expectError("attempt to write in a read-only access") {
            try queue.dumpSQL("DELETE FROM a", to: stream)
        }
        expectError("no such table: nope") { try queue.dumpTables(["nope"]) }
        try queue.inDatabase { db in try db.dumpSQL("SELECT x FROM a WHERE 0", to: nil) }
    }

    @Test("A String that is passed as a value stops the program, with a sentence: its text would be lost")
    func lostText() async {
        await #expect(processExitsWith: .failure) {
            let text: any TextOutputStream = ""
            try? DatabaseQueue().inDatabase { db in try db.dumpSQL("SELECT 1", to: text) }
        }
    }

    // MARK: - Keys of views

    private struct Keys: DatabaseSchemaSource {
        var keys: [String: [String]]
        func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
            #expect(view.schemaName == "main")
            if view.name == "broken" { throw Boom() }
            return keys[view.name]
        }
    }

    private struct Best: Codable, FetchableRecord, TableRecord {
        var id: Int64
        var name: String
        enum CodingKeys: String, CodingKey {
            case id = "ID"
            case name
        }
    }

    @Test("A schema source tells the keys of views, by which rows are found")
    func schemaSource() throws {
        var configuration = Configuration()
        configuration.schemaSource = Keys(keys: [:]).then(Keys(keys: ["best": ["id"], "wrong": ["nope"]]))
        try DatabaseQueue(configuration: configuration).inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (id INTEGER, name); INSERT INTO t VALUES (1, 'a'), (2, 'b');
                    CREATE VIEW best AS SELECT id AS ID, name FROM t; CREATE VIEW wrong AS SELECT * FROM t;
                    CREATE VIEW other AS SELECT * FROM t; CREATE VIEW broken AS SELECT * FROM t;
                    """)
            try #expect(db.primaryKey("best").columns == ["ID"])
            try #expect(db.primaryKey("best").rowIDColumn == nil)
            try #expect(Best.find(db, key: 2).name == "b")
            try #expect(Best.orderByPrimaryKey().reversed().fetchAll(db).map(\.id) == [2, 1])
            try #expect(db.primaryKey("other").columns.isEmpty)
            try #expect(db.primaryKey("t").columns == ["rowid"])
            let error = #expect(throws: DatabaseError.self) { try db.primaryKey("wrong") }
            #expect(error?.message?.contains("which the view lacks") == true)
            #expect(throws: Boom()) { try db.primaryKey("broken") }
        }
    }

    @Test("A hidden row id has no declared columns")
    func columnInfos() throws {
        try withMovers { db in
            try db.execute(sql: "CREATE TABLE bare (x)")
            try #expect(db.primaryKey("mover").columnInfos?.map(\.name) == ["id"])
            try #expect(db.primaryKey("bare").columnInfos == nil)
            try #expect(db.columns(in: "mover")[1].columnType == .text)
            try #expect(db.columns(in: "bare")[0].columnType == Database.ColumnType(sql: ""))
        }
    }

    // MARK: - Foreign keys

    @Test("Violations of foreign keys are told of, one by one")
    func violations() throws {
        try withMovers { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = OFF; UPDATE mover SET teamId = 9 WHERE id < 3;
                    CREATE TABLE other (x PRIMARY KEY REFERENCES team) WITHOUT ROWID; INSERT INTO other VALUES (8);
                    """)
            let all = try Array(db.foreignKeyViolations())
            #expect(Set(all.map(\.originTable)) == ["mover", "other"])
            let movers = try Array(db.foreignKeyViolations(in: "MOVER", in: "main"))
            #expect(movers.map(\.originRowID) == [1, 2])
            #expect(movers.map(\.destinationTable) == ["team", "team"])
            try #expect(
                movers[0].failureDescription(db)
                    == "FOREIGN KEY constraint violation - the row 1 of table mover refers to a row of "
                    + "table team that does not exist, by teamId, in [id: 1, name: 'Arthur', score: 10, "
                    + "teamId: 9]"
            )
            let other = try #require(try db.foreignKeyViolations(in: "other").next())
            #expect(other.originRowID == nil)
            try #expect(other.failureDescription(db).hasSuffix("by x"))
            try db.checkForeignKeys(in: "team")
            let error = #expect(throws: DatabaseError.self) { try db.checkForeignKeys() }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
            expectError("no such table: nope") { try db.checkForeignKeys(in: "nope") }
            expectError("unknown database nowhere") {
                try db.foreignKeyViolations(in: "mover", in: "nowhere")
            }
        }
    }

    @Test("A migrator may leave foreign keys unchecked")
    func uncheckedMigrations() throws {
        let queue = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("tables") { db in
            try db.execute(sql: "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p)")
        }
        var checking = migrator
        checking.registerMigration("break") { db in try db.execute(sql: "INSERT INTO c VALUES (7)") }
        #expect(throws: DatabaseError.self) { try checking.migrate(queue) }
        var trusting = migrator.disablingDeferredForeignKeyChecks()
        trusting.registerMigration("immediate", foreignKeyChecks: .immediate) { db in
            expectError("FOREIGN KEY constraint failed") { try db.execute(sql: "INSERT INTO c VALUES (7)") }
        }
        trusting.registerMigration("break") { db in try db.execute(sql: "INSERT INTO c VALUES (7)") }
        try trusting.migrate(queue)
        try queue.inDatabase { db in
            try #expect(db.foreignKeyViolations().next()?.originTable == "c")
            try #expect(Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true)
        }
    }

    // MARK: - Definitions

    @Test("Tables and indexes are defined by flags, expressions and conditions")
    func definitions() throws {
        try DatabaseQueue().inDatabase { db in
            try db.create(table: "t", temporary: false, ifNotExists: true, withoutRowID: true) { t in
                t.primaryKey("a", .integer)
                t.column("b", .integer).check { $0 > 1 }
                t.column("c", .integer).generatedAs(Column("a") + Column("b") * 2, .stored)
                t.check(Column("b") != Column("a") && Column("b") != "it's")
            }
            try db.create(table: "t", ifNotExists: true) { t in t.column("x") }
            try db.create(table: "u", temporary: true) { t in t.column("x") }
            try #expect(db.tableExists("u", in: "temp"))
            try db.execute(sql: "INSERT INTO t (a, b) VALUES (1, 2)")
            try #expect(Int.fetchOne(db, sql: "SELECT c FROM t") == 5)
            expectError(containing: "CHECK constraint failed") {
                try db.execute(sql: "INSERT INTO t (a, b) VALUES (3, 1)")
            }
            expectError(containing: "CHECK constraint failed") {
                try db.execute(sql: "INSERT INTO t (a, b) VALUES (3, 3)")
            }
            try db.create(index: "i", on: "t", columns: ["b"], unique: true)
            try db.create(index: "i", on: "t", columns: ["b"], ifNotExists: true)
            try db.create(
                index: "j", on: "t", columns: ["b"], options: .unique, condition: Column("b") > 1000)
            try db.create(index: "k", on: "t", expressions: [Column("b") + 1, Column("a")])
            try #expect(db.indexes(on: "t").count == 4)
            let sql = try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 'j'")
            #expect(sql?.hasSuffix(#"WHERE "b" > 1000"#) == true)
            try db.reindex(collation: .nocase)
            expectError("unable to identify the object to be reindexed") {
                try db.reindex(collation: DatabaseCollation.unicodeCompare)
            }
            try db.add(collation: .unicodeCompare)
            try db.reindex(collation: DatabaseCollation.unicodeCompare)
            try db.reindex(table: "t")
            try db.reindex(index: "i")
            expectError("unable to identify the object to be reindexed") { try db.reindex(table: "nope") }
            expectError(#"table "t" already exists"#) {
                try db.create(table: "t", temporary: false) { t in t.column("x") }
            }
            #expect(db.maximumStatementArgumentCount >= 999)
        }
    }

    @Test("What a statement reads is known without a connection at hand")
    func region() throws {
        try withMovers { db in
            let region = try db.makeStatement(sql: "SELECT name FROM mover").databaseRegion
            try #expect(region == Mover.select(Column("name")).databaseRegion(db))
            #expect(!region.isEmpty)
        }
    }

    // MARK: - Names

    @Test("Rules for plurals are added, and later ones win")
    func inflections() {
        #expect("team".pluralized == "teams")
        #expect("formerCountries".singularized == "formerCountry")
        Inflections.default.irregularSuffix("goldfinchling", "goldfinchlinga")
        #expect("oldGoldfinchling".pluralized == "oldGoldfinchlinga")
        #expect("goldfinchlinga".pluralized == "goldfinchlinga")
        #expect("goldfinchlinga".singularized == "goldfinchling")
        #expect("goldfinchling".singularized == "goldfinchling")
        Inflections.default.irregularSuffix("goldfinchling", "goldfinchlingen")
        #expect("goldfinchling".pluralized == "goldfinchlingen")
        Inflections.default.uncountableWords(["Goldfinchus"])
        #expect(Inflections.default.pluralize("goldfinchus") == "goldfinchus")
        #expect(Inflections.default.singularize("goldfinchus") == "goldfinchus")
    }

    @Test("Types have their names inside of Database, too")
    func nestedNames() throws {
        var configuration = Configuration()
        let callback: Database.BusyCallback = { $0 < 2 }
        configuration.busyMode = .callback(callback)
        let completion: Database.TransactionCompletion = .rollback
        let extent: Database.TransactionObservationExtent = .nextTransaction
        let queue = try DatabaseQueue(configuration: configuration)
        queue.add(transactionObserver: ObserverSpy(), extent: extent)
        try queue.inTransaction { db in
            try db.execute(sql: "CREATE TABLE t (x)")
            return completion
        }
        try #expect(queue.read { db in try !db.tableExists("t") })
    }

    @Test("Traced statements show their values when they are asked")
    func trace() throws {
        let texts = Recorder<String>()
        try DatabaseQueue().inDatabase { db in
            db.trace { texts.record($0.expandedDescription) }
            _ = try Int.fetchOne(db, sql: "SELECT ?", arguments: [7])
        }
        #expect(texts.elements == ["SELECT 7"])
    }

    @Test("Functions and collations of texts know Unicode")
    func texts() throws {
        try DatabaseQueue().inDatabase { db in
            try db.add(function: .capitalize)
            try db.add(function: .lowercase)
            try db.add(function: .uppercase)
            try db.add(collation: .unicodeCompare)
            try db.add(collation: .caseInsensitiveCompare)
            let row = try Row.fetchOne(
                db,
                sql:
                    "SELECT swiftCapitalizedString('élan VITAL'), swiftLowercaseString('ÉA'), swiftUppercaseString('éa'), "
                    + "swiftUppercaseString(NULL), 'É' = 'é' COLLATE swiftCaseInsensitiveCompare, 'É' = 'é' COLLATE swiftCompare"
            )
            #expect(row?.databaseValues == ["Élan Vital", "éa", "ÉA", .null, 1, 0])
        }
    }

    @Test("A decoder decodes records from rows")
    func decoder() throws {
        let row: Row = ["id": 1, "name": "Arthur", "score": 10]
        let mover = try FetchableRecordDecoder().decode(Mover.self, from: row)
        #expect(mover == Mover(id: 1, name: "Arthur", score: 10))
        let error = #expect(throws: RowDecodingError.self) {
            try FetchableRecordDecoder().decode(Mover.self, from: ["id": 1])
        }
        #expect(error?.columnName == "name")
    }

    // MARK: - Files

    @Test("A file is copied into memory, and into a temporary file, and left alone")
    func copies() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("source.sqlite")
        let source = try DatabaseQueue(path: path)
        try source.write { db in try db.execute(sql: "CREATE TABLE t (x); INSERT INTO t VALUES (1)") }
        for copy in [
            try DatabaseQueue.inMemoryCopy(fromPath: path), try DatabaseQueue.temporaryCopy(fromPath: path),
        ] {
            try copy.write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
            try #expect(copy.read { db in try Int.fetchAll(db, sql: "SELECT x FROM t") } == [1, 2])
        }
        try #expect(source.read { db in try Int.fetchAll(db, sql: "SELECT x FROM t") } == [1])
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue.inMemoryCopy(fromPath: folder.path("none"))
        }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        try Data("no database, but long enough to be looked at: ".utf8).write(
            to: URL(fileURLWithPath: folder.path("text")))
        expectError(containing: "file is not a database") {
            try DatabaseQueue.temporaryCopy(fromPath: folder.path("text"))
        }
    }

    @Test("A copy whose configuration is readonly cannot be written to", arguments: [false, true])
    func readonlyCopies(isInMemory: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("source.sqlite")
        try DatabaseQueue(path: path).write { db in
            try db.execute(sql: "CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        }
        var configuration = Configuration()
        configuration.readonly = true
        let copy =
            isInMemory
            ? try DatabaseQueue.inMemoryCopy(fromPath: path, configuration: configuration)
            : try DatabaseQueue.temporaryCopy(fromPath: path, configuration: configuration)
        #expect(copy.configuration.readonly)
        for sql in [
            "DROP TABLE t", "INSERT INTO t VALUES (2)", "PRAGMA user_version = 7", "CREATE TABLE u (x)",
            "PRAGMA query_only = 0; DELETE FROM t", "VACUUM",
        ] {
            let error = databaseError { try copy.writeWithoutTransaction { db in try db.execute(sql: sql) } }
            #expect(error?.resultCode == .SQLITE_READONLY, "\(sql)")
        }
        expectError("attempt to write in a read-only access") {
            try copy.write { db in try db.execute(sql: "DELETE FROM t") }
        }
        // (SQLite itself lets a backup replace it.)
        let other = try DatabaseQueue()
        #expect(databaseError { try other.backup(to: copy) }?.resultCode == .SQLITE_READONLY)
        let reading = databaseError {
            try other.inDatabase { source in try copy.read { db in try source.backup(to: db) } }
        }
        #expect(reading?.message?.contains("is read-only here") == true)
        let numbers = try copy.write { db in try Int.fetchAll(db, sql: "SELECT x FROM t") }
        #expect(numbers == [1])
        try copy.close()
    }

    @Test("A database is erased, as a whole")
    func erasing() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p); INSERT INTO p VALUES (1); INSERT INTO c VALUES (1); CREATE VIEW v AS SELECT * FROM c"
            )
        }
        try queue.erase()
        try queue.read { db in
            try #expect(Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") == 0)
            try #expect(Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true)
        }
        var configuration = Configuration()
        configuration.readonly = true
        let folder = try TemporaryFolder()
        try DatabaseQueue(path: folder.path("a")).write { db in try db.execute(sql: "CREATE TABLE t (x)") }
        expectError("attempt to write a readonly database") {
            try DatabaseQueue(path: folder.path("a"), configuration: configuration).erase()
        }
    }

    @Test("A reader and a writer of any type do what theirs do")
    func anyReaders() throws {
        let queue = try DatabaseQueue()
        let writer = AnyDatabaseWriter(queue)
        let reader = AnyDatabaseReader(writer)
        try writer.write { db in try db.execute(sql: "CREATE TABLE t (x); INSERT INTO t VALUES (1)") }
        try writer.writeWithoutTransaction { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
        try writer.barrierWriteWithoutTransaction { db in try db.execute(sql: "INSERT INTO t VALUES (3)") }
        let count = try reader.unsafeReentrantRead { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t")
        }
        #expect(count == 3)
        #expect(reader.path == queue.path)
        let error = #expect(throws: DatabaseError.self) {
            try reader.read { db in try db.execute(sql: "DELETE FROM t") }
        }
        #expect(error?.message?.contains("read-only") == true)
        try reader.close()
        expectError("the database :memory: is closed") {
            try queue.read { db in try Int.fetchOne(db, sql: "SELECT 1") }
        }
    }

    @Test("They do so in asynchronous functions, too")
    func anyReadersAsync() async throws {
        let writer = try AnyDatabaseWriter(DatabaseQueue())
        try await writer.write { db in try db.execute(sql: "CREATE TABLE t (x); INSERT INTO t VALUES (1)") }
        try await writer.writeWithoutTransaction { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
        try await writer.barrierWriteWithoutTransaction { db in
            try db.execute(sql: "INSERT INTO t VALUES (3)")
        }
        let reader = AnyDatabaseReader(writer)
        let count = try await reader.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
        #expect(count == 3)
        let unsafe = try await reader.unsafeRead { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") }
        #expect(unsafe == 3)
    }

    @Test("A pool that a writer of any type stands for is observed as a pool")
    func anyPool() async throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.path("pool.sqlite"))
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (x)") }
        let writer = AnyDatabaseWriter(pool)
        let values = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM t") ?? 0
        }
        .values(in: writer)
        var seen: [Int] = []
        for try await value in values {
            seen.append(value)
            if value == 2 { break }
            try await writer.write { db in try db.execute(sql: "INSERT INTO t VALUES (1)") }
        }
        #expect(seen == [0, 1, 2])
    }
}

import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Names of definitions, observations and snapshots")
struct DefinitionNamesTests {
    private final class Stream: TextOutputStream, @unchecked Sendable {
        private let lines = Shared("")
        var text: String { lines.withLock { $0 } }
        func write(_ string: String) { lines.withLock { $0 += string } }
    }

    @Test("A view is a request, an index has a condition, and parts of definitions are literals")
    func definitions() throws {
        try withMovers { db in
            try db.create(view: "best", as: Mover.filter { $0.score > 15 })
            try db.create(
                view: "names",
                as: SQLRequest<String>(sql: "SELECT name FROM mover WHERE score > ?", arguments: [20]))
            try db.create(view: "plain", as: "SELECT \(1) AS one")
            try #expect(Table("best").fetchCount(db) == 2)
            try #expect(String.fetchAll(db, sql: "SELECT * FROM names") == ["Barbara"])
            try db.create(
                indexOn: "mover", columns: ["score"], options: .unique, condition: Column("score") > 25)
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "UPDATE mover SET score = 30 WHERE id = 1")
            }
            try db.create(table: "note") { t in
                t.column("id", .integer)
                t.column(literal: "text TEXT DEFAULT \("it's")")
                t.check(literal: "id > \(5)")
                t.constraint(literal: "CONSTRAINT notEmpty CHECK (text <> \(""))")
            }
            try db.alter(table: "note") { t in t.addColumn(literal: "size INTEGER DEFAULT \(-7)") }
            try db.execute(sql: "INSERT INTO note (id) VALUES (6)")
            let row = try Row.fetchOne(db, sql: "SELECT * FROM note")
            #expect(row == ["id": 6, "text": "it's", "size": -7])
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO note (id) VALUES (5)") }
            let statements = try db.allStatements(literal: "SELECT \("a"); SELECT \(2)")
            var values: [DatabaseValue] = []
            while let statement = try statements.next() {
                values += try DatabaseValue.fetchAll(statement)
            }
            #expect(values == ["a".databaseValue, 2.databaseValue])
        }
    }

    private final class ClassMover: Record {
        var id: Int64?
        var name = ""
        var score = 0

        override class var databaseTableName: String { "mover" }

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
            try column("score", score) { score = $0 }
        }
    }

    private struct ConstantMover: Codable, PersistableRecord {
        static let databaseTableName = "mover"
        let name: String
        let score: Int
    }

    @Test("Constant records and class records fetch a selection of what they have saved")
    func selectionsOfConstants() throws {
        try withMovers { db in
            let constant = ConstantMover(name: "David", score: 5)
            let score = try constant.insertAndFetch(db) {
                try Int.fetchOne($0)
            } select: {
                [$0.score]
            }
            #expect(score == 5)
            let record = ClassMover()
            (record.name, record.score) = ("Eve", 6)
            let name = try record.insertAndFetch(db) {
                try String.fetchOne($0)
            } select: {
                [$0.name]
            }
            #expect(name == "Eve" && record.id != nil && !record.hasDatabaseChanges)
            record.score = 7
            let saved = try record.saveAndFetch(db, selection: { [$0.score, $0.name] }) {
                try Row.fetchOne($0)
            }
            #expect(saved == ["score": 7, "name": "Eve"])
            let error = databaseError { _ = try record.saveAndFetch(db, selection: { _ in [] }) { _ in } }
            #expect(error?.resultCode == .SQLITE_MISUSE, "\(error as Any)")
        }
    }

    @Test("Saves fetch a selection that follows the function that fetches it")
    func selections() throws {
        try withMovers { db in
            var mover = Mover(name: "David", score: 5)
            let score = try mover.insertAndFetch(db) {
                try Int.fetchOne($0)
            } select: {
                [$0.score]
            }
            #expect(score == 5 && mover.id == 4)
            mover.score = 6
            let saved = try mover.saveAndFetch(db) {
                try Int.fetchOne($0)
            } select: {
                $0.score
            }
            #expect(saved == 6)
            mover.name = "Dave"
            let name = try mover.updateAndFetch(db, columns: [Column("name")]) {
                try String.fetchOne($0)
            } select: {
                [$0.name]
            }
            #expect(name == "Dave")
            let whole = try mover.updateAndFetch(db) {
                try Row.fetchOne($0)
            } select: {
                [$0.id, $0.name]
            }
            #expect(whole == ["id": 4, "name": "Dave"])
            let updated = try Mover.filter { $0.score < 10 }.updateAndFetchStatement(db) {
                $0.score += 1
            } select: {
                [$0.score]
            }
            try #expect(Int.fetchAll(updated) == [7])
            let deleted = try Mover.filter { $0.score < 10 }.deleteAndFetchStatement(
                db, select: { [$0.name] })
            try #expect(String.fetchAll(deleted) == ["Dave"])
            try #expect(Table<Mover>("mover").deleteAll(db, ids: [1, 2]) == 2)
            try #expect(
                Table<Mover>("mover").deleteAll(db, keys: [["name": "Craig"], ["name": "None"]]) == 1)
            var again = Mover(name: "Eve", score: 1)
            try again.insert(db)
            var upserted = Mover(name: "Eve", score: 2)
            try #expect(upserted.upsertAndFetch(db).id == again.id)
            #expect(upserted.id == again.id)
        }
    }

    @Test("Arguments are joined, bits are, and any expression stands in a literal")
    func expressions() throws {
        func text(_ expression: some SQLExpressible) -> SQL { "SELECT \(expression)" }
        try withMovers { db in
            var arguments: StatementArguments = ["a": 1]
            let replaced = arguments.append(contentsOf: ["a": 2, "b": 3])
            #expect(replaced == ["a": 1.databaseValue])
            try #expect(Int.fetchOne(db, sql: "SELECT :a + :b", arguments: arguments) == 5)
            try #expect(Int.fetchOne(db, sql: "SELECT ? + ?", arguments: [1] &+ [2]) == 3)
            let bits = [Column("id"), Column("score")]
            let request = Mover.filter(key: 2)
            try #expect(Int.fetchOne(db, request.select(bits.joined(operator: .bitwiseAnd))) == 2 & 30)
            try #expect(Int.fetchOne(db, request.select(bits.joined(operator: .bitwiseOr))) == 2 | 30)
            let none: [Column] = []
            try #expect(Int.fetchOne(db, request.select(none.joined(operator: .bitwiseAnd))) == -1)
            try #expect(SQLRequest<Int>(literal: text(17)).fetchOne(db) == 17)
            try #expect(
                SQLRequest<Int>(literal: "\(text(max(1.sqlExpression, 2.sqlExpression)))").fetchOne(db) == 2)
            let values: [any SQLExpressible] = [DatabaseValue.null, Column("name"), "none"]
            try #expect(String.fetchOne(db, request.select(coalesce(values))) == "Barbara")
            let elements: [String: any SQLExpressible] = ["name": Column("name")]
            try #expect(
                String.fetchOne(db, request.select(Database.jsonObject(elements))) == #"{"name":"Barbara"}"#)
            let prepared = try request.makePreparedRequest(db, forSingleResult: true)
            #expect(prepared.adapter == nil && prepared.statement.sql.hasPrefix("SELECT"))
            let adapted = try request.adapted { _ in SuffixRowAdapter(fromIndex: 1) }
                .makePreparedRequest(db, forSingleResult: false)
            #expect(adapted.adapter is SuffixRowAdapter)
            #expect(Database.sqliteLibVersionNumber >= 3_035_000)
            let row = try #require(try Row.fetchOne(db, request))
            let name = try row[Column("name")]
            #expect(name as? String == "Barbara")
            let size = try row.withUnsafeData(at: Column("name")) { $0?.count }
            #expect(size == 7)
        }
    }

    @Test("A custom request has an adapter of its own")
    func customRequests() throws {
        struct Best: FetchRequest {
            typealias RowDecoder = Row
            func makePreparedRequest(_ db: Database, forSingleResult isOne: Bool) throws -> PreparedRequest {
                let statement = try db.makeStatement(sql: "SELECT id, name FROM mover WHERE score > ?")
                statement.arguments = [15]
                return PreparedRequest(statement: statement, adapter: SuffixRowAdapter(fromIndex: 1))
            }
            func fetchCount(_ db: Database) throws -> Int { try fetchAll(db).count }
        }
        try withMovers { db in
            try #expect(Best().fetchAll(db) == [["name": "Barbara"], ["name": "Craig"]])
            try #expect(Best().fetchOne(db)?.unadapted == ["id": 2, "name": "Barbara"])
        }
    }

    @Test("Migrations run later, and call back with the database or the error")
    func laterMigrations() async throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("a") { db in try db.execute(sql: "CREATE TABLE a (id INTEGER PRIMARY KEY)")
        }
        let queue = try DatabaseQueue()
        func migrate(_ migrator: DatabaseMigrator) async throws {
            try await withCheckedThrowingContinuation { continuation in
                migrator.asyncMigrate(queue) { result in
                    continuation.resume(with: Result { _ = try result.get().tableExists("a") })
                }
            }
        }
        try await migrate(migrator)
        try await #expect(queue.read { db in try db.tableExists("a") })
        migrator.registerMigration("b") { db in try db.execute(sql: "CREATE TABLE a (id)") }
        let other = try DatabaseQueue(path: ":memory:")
        var outer = DatabaseMigrator()
        outer.registerMigration("outer") { [migrator] _ in
            try other.write { db in try db.execute(sql: "CREATE TABLE a (id)") }
            try migrator.migrate(other)
        }
        let inner = await #expect(throws: DatabaseError.self) { try await migrate(outer) }
        #expect(inner?.migration == "a")
        let failing = migrator
        let error = await #expect(throws: DatabaseError.self) { try await migrate(failing) }
        #expect(error?.migration == "b" && error?.resultCode == .SQLITE_ERROR)
        #expect(
            "\(try #require(error))".hasPrefix(
                #"the migration "b" failed: SQLite error 1: table a already exists"#))
    }

    @Test("What a migration throws is caught by its type")
    func migrationErrors() throws {
        let queue = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("a") { db in
            try db.execute(sql: "CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES a(id))")
            try db.execute(sql: "INSERT INTO a VALUES (1, 2)")
        }
        do {
            try migrator.migrate(queue)
            Issue.record("the migration breaks a foreign key")
        } catch DatabaseError.SQLITE_CONSTRAINT_FOREIGNKEY {
            try #expect(queue.read { db in try db.tableExists("a") } == false)
        }
    }

    @Test("A schema may use the collations that GRDB adds to each connection")
    func collations() throws {
        let folder = try TemporaryFolder()
        try DatabaseQueue(path: folder.path("a.sqlite")).write { db in
            try db.execute(
                sql: """
                    CREATE TABLE a (name TEXT COLLATE swiftCaseInsensitiveCompare UNIQUE, text TEXT);
                    CREATE INDEX b ON a(text COLLATE swiftCompare);
                    INSERT INTO a VALUES ('É', 'É'), ('f', 'é');
                    """)
        }
        let pool = try DatabasePool(path: folder.path("a.sqlite"))
        try pool.read { db in
            try #expect(String.fetchAll(db, sql: "SELECT text FROM a WHERE name = 'é'") == ["É"])
            try #expect(
                String.fetchAll(db, sql: "SELECT name FROM a ORDER BY text COLLATE swiftcompare") == [
                    "É", "f",
                ])
            let text = thrownText { _ = try Int.fetchOne(db, sql: "SELECT 'a' = 'b' COLLATE elsewhere") }
            #expect(text.contains("no such collation sequence: elsewhere"), "\(text)")
            let literal: SQL = "SELECT name FROM a ORDER BY name COLLATE \(DatabaseCollation.unicodeCompare)"
            try #expect(SQLRequest<String>(literal: literal).fetchAll(db) == ["f", "É"])
        }
        try pool.write { db in
            #expect(throws: DatabaseError.self) { try db.execute(sql: "INSERT INTO a VALUES ('F', 'x')") }
        }
    }

    @Test("An asynchronous access takes a function by its name, and blocks no thread")
    func namedFunctions() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE mover (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER, teamId INTEGER)"
            )
        }
        var mover = Mover(name: "Arthur", score: 1)
        try await queue.write(mover.upsertedCopy)
        mover = try #require(try await queue.read(Mover.fetchOne))
        #expect(mover.id == 1)
        try await #expect(queue.unsafeRead(Mover.fetchCount) == 1)
        try await #expect(queue.writeWithoutTransaction(mover.delete))
        let count = try await queue.read(Mover.fetchCount)
        #expect(count == 0)
    }

    // MARK: - Readers

    @Test("A snapshot is observed: one value, and none after it")
    func snapshots() async throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.path("a.sqlite"))
        try await pool.write { db in try db.execute(sql: "CREATE TABLE t (v); INSERT INTO t VALUES (1)") }
        let snapshot = try pool.makeSnapshot()
        try await pool.write { db in try db.execute(sql: "INSERT INTO t VALUES (2)") }
        let observation = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM t") ?? 0
        }
        // Nothing keeps the wrapper, and so the database behind it counts.
        for try await count in observation.values(in: AnyDatabaseReader(AnyDatabaseReader(snapshot))) {
            #expect(count == 1)
            break
        }
        for reader in [snapshot, AnyDatabaseReader(snapshot)] as [any DatabaseReader] {
            for try await count in observation.values(in: reader) {
                #expect(count == 1)
                break
            }
        }
        let shared = observation.shared(in: snapshot, scheduling: .task)
        for try await count in shared.values() {
            #expect(count == 1)
            break
        }
        // The writer behind a reader is observed as itself.
        let reader: any DatabaseReader = AnyDatabaseReader(pool)
        var counts: [Int] = []
        for try await count in observation.values(in: reader) {
            counts.append(count)
            if counts.count == 2 { break }
            try await pool.write { db in try db.execute(sql: "INSERT INTO t VALUES (3)") }
        }
        #expect(counts == [2, 3])
        let failing = ValueObservation.tracking { db in
            try Int.fetchOne(db, sql: "SELECT v FROM nothing") ?? 0
        }
        await #expect(throws: DatabaseError.self) { for try await _ in failing.values(in: snapshot) {} }
    }

    @Test("Any reader is backed up")
    func backups() async throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.path("a.sqlite"))
        let queue = try DatabaseQueue()
        for writer in [pool, queue] as [any DatabaseWriter] {
            try await writer.write { db in try db.execute(sql: "CREATE TABLE t (v); INSERT INTO t VALUES (1)")
            }
        }
        let snapshot = try pool.makeSnapshot()
        let readers: [any DatabaseReader] = [
            pool, queue, snapshot, AnyDatabaseReader(queue), AnyDatabaseWriter(pool),
        ]
        // The wrapper of a database is that database.
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            let queue = try DatabaseQueue()
            try queue.backup(to: AnyDatabaseWriter(queue))
        }
        let error = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(error.contains("a database cannot be copied over itself"))
        for (number, reader) in readers.enumerated() {
            let copy = try DatabaseQueue(path: folder.path("copy\(number).sqlite"))
            if number.isMultiple(of: 2) {
                try await reader.backup(to: copy)
            } else {
                let back: () throws -> Void = { try reader.backup(to: copy) }
                try back()
            }
            try await #expect(copy.read { db in try Int.fetchOne(db, sql: "SELECT v FROM t") } == 1)
        }
    }

    @Test("An observation prints to a stream")
    func printing() async throws {
        let stream = Stream()
        let queue = try DatabaseQueue()
        let observation = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT 7") ?? 0 }
            .print("seven", to: stream)
        for try await _ in observation.values(in: queue) { break }
        #expect(
            stream.text.hasPrefix("seven: start\nseven: fetch\n") && stream.text.contains("seven: value: 7\n")
        )
    }

    // MARK: - Dumps

    @Test("A dump has the tables by name, without those that the libraries maintain")
    func dumps() throws {
        let queue = try DatabaseQueue()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("a") { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE Country (code TEXT PRIMARY KEY);
                    CREATE INDEX onName ON player(name);
                    INSERT INTO player VALUES (1, 'Arthur');
                    """)
        }
        try migrator.migrate(queue)
        var text = ""
        try queue.read { db in try db.dumpContent(to: &text) }
        #expect(
            text == """
                sqlite_master
                CREATE TABLE Country (code TEXT PRIMARY KEY);
                CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT);
                CREATE INDEX onName ON player(name);

                Country

                player
                1|Arthur

                """)
        var rows = ""
        try queue.read { db in
            try db.dumpSQL("SELECT 1, NULL", format: .debug(separator: ";", nullValue: "-"), to: &rows)
        }
        #expect(rows == "1;-\n")
    }
}

extension Mover {
    fileprivate func upsertedCopy(_ db: Database) throws {
        var copy = self
        try copy.upsert(db)
    }
}

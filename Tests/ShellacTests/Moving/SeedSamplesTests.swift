import TestSupport
import Testing

/// What users of the family's eras have written: it compiles as it stands, or after the fix-its that the compiler proposes.
@Suite("Samples of older eras", .serialized)
struct SeedSamplesTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let code: String
        /// Texts that the source has when the fix-its were applied. Without any, the sample compiles as it stands.
        var becomes: [String] = []

        var testDescription: String { name }
    }

    private static let person = """
        import Foundation
        import Shellac
        class Person: Record {
            var id: Int64?
            var name: String?
            override class var databaseTableName: String { "persons" }
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
                try column("name", name) { name = $0 }
            }
        }

        """

    static let samples = [
        // 001: the era of Swift 2
        Sample(
            name: "001: execute, with arguments by position and by name, and the end of a transaction",
            code: """
                func f(_ dbQueue: DatabaseQueue) throws {
                    try dbQueue.inTransaction { db in
                        try db.execute("INSERT INTO persons (name, age) VALUES (?, ?)", arguments: ["Arthur", 36])
                        try db.execute("INSERT INTO persons (name) VALUES (:name)", arguments: ["name": "Barbara"])
                        return .Commit
                    }
                }
                """,
            becomes: ["sql: \"INSERT INTO persons (name, age) VALUES (?, ?)\"", "return .commit"]),
        Sample(
            name: "001: rows, values and records are fetched",
            code: """
                func f(_ db: Database) throws {
                    let rows = Row.fetchAll(db, "SELECT * FROM persons WHERE name = ?", arguments: ["Arthur"])
                    let count = Int.fetchOne(db, "SELECT COUNT(*) FROM persons")!
                    let persons = Person.fetchAll(db, "SELECT * FROM persons")
                    let person = Person.fetchOne(db, primaryKey: 12)
                    let other = Person.fetchOne(db, key: ["name": "Arthur"])
                    print(rows, count, persons, person as Any, other as Any)
                }
                """,
            becomes: ["try Row.fetchAll(db, sql: \"SELECT", "try Int.fetchOne(db, sql:", "key: 12"]),
        Sample(
            name: "001: conflicts are resolved by the table, and a class validates itself",
            code: """
                class Validated: Record {
                    var name: String?
                    override func update(_ db: Database) throws {
                        try validate()
                        try super.update(db)
                    }
                    override func insert(_ db: Database) throws {
                        try validate()
                        try super.insert(db)
                    }
                    func validate() throws {}
                }
                """),
        // 003: the era of Swift 4
        Sample(
            name: "003: a closure after the commit",
            code: """
                func f(_ dbQueue: DatabaseQueue) throws {
                    try dbQueue.inTransaction { db in
                        db.afterNextTransactionCommit { db in
                            print("success")
                        }
                        return .commit
                    }
                }
                func startMonitoring(_ db: Database) throws {
                    try db.inSavepoint {
                        db.afterNextTransactionCommit { _ in }
                        return .commit
                    }
                }
                """,
            becomes: ["db.afterNextTransaction { db in", "db.afterNextTransaction { _ in }"]),
        Sample(
            name: "003: observers filter what they observe",
            code: """
                class PlayerScoreObserver: TransactionObserver {
                    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
                        switch eventKind {
                        case .insert(let tableName):
                            return tableName == "players"
                        case .delete(let tableName):
                            return tableName == "players"
                        case .update(let tableName, let columnNames):
                            return tableName == "players" && columnNames.contains("score")
                        }
                    }
                    func databaseDidChange(with event: DatabaseEvent) {}
                    func databaseWillCommit() throws {}
                    func databaseDidRollback(_ db: Database) {}
                    func databaseDidCommit(_ db: Database) {}
                }
                func f(_ dbQueue: DatabaseQueue, _ observer: PlayerScoreObserver) throws {
                    dbQueue.add(transactionObserver: observer)
                    dbQueue.add(transactionObserver: observer, extent: .observerLifetime)
                    dbQueue.add(transactionObserver: observer, extent: .nextTransaction)
                    dbQueue.add(transactionObserver: observer, extent: .databaseLifetime)
                    dbQueue.remove(transactionObserver: observer)
                    try dbQueue.inDatabase { db in
                        db.remove(transactionObserver: observer)
                    }
                }
                """),
        Sample(
            name: "003: savepoints hold events back",
            code: """
                func f(_ dbQueue: DatabaseQueue) throws {
                    try dbQueue.inTransaction { db in
                        try db.execute("INSERT INTO t VALUES (1)")
                        try db.execute("SAVEPOINT foo")
                        try db.execute("RELEASE SAVEPOINT foo")
                        return .commit
                    }
                }
                """,
            becomes: ["try db.execute(sql: \"SAVEPOINT foo\")"]),
        Sample(
            name: "003: a protocol of a name that it no longer has",
            code: "class Watcher: TransactionObserverType { func databaseDidCommit(_ db: Database) {} }",
            becomes: ["class Watcher: TransactionObserver {"]),
        // 004: the reference of Record
        Sample(
            name: "004: names of tables, selections and encodings",
            code: """
                class Player: Record {
                    var id: Int64?
                    var name: String?
                    override class var databaseTableName: String {
                        return "player"
                    }
                    override func encode(to container: inout PersistenceContainer) {
                        container["id"] = id
                        container["name"] = name
                    }
                }
                class RestrictedPlayer: Player {
                    override static var databaseSelection: [SQLSelectable] {
                        return [Column("id"), Column("name")]
                    }
                }
                class ExtendedPlayer: Player {
                    override static var databaseSelection: [SQLSelectable] {
                        return [AllColumns(), Column.rowID]
                    }
                }
                """),
        Sample(
            name: "004: saving, and what has changed",
            code: """
                func f(_ db: Database, _ player: Person) throws {
                    try player.insert(db)
                    try player.update(db)
                    try player.update(db, columns: ["name"])
                    try player.updateChanges(db)
                    try player.save(db)
                    if player.hasDatabaseChanges { player.hasDatabaseChanges = false }
                    let changes: [String: DatabaseValue?] = player.databaseChanges
                    let isDeleted = try player.delete(db)
                    let copy = player.copy()
                    print(changes, isDeleted, copy)
                }
                """,
            becomes: ["= try player.databaseChanges", "= try player.copy()"]),
        // The names of protocols between these
        Sample(
            name: "older names of protocols and errors",
            code: """
                struct Point: RowConvertible, TableMapping { init(row: Row) throws {} }
                struct Place: Persistable { func encode(to container: inout PersistenceContainer) {} }
                struct Spot: MutablePersistable { func encode(to container: inout PersistenceContainer) {} }
                func f(_ db: Database, _ person: Person) throws {
                    do { try person.update(db) } catch PersistenceError.recordNotFound {}
                    let statement = try db.makeSelectStatement("SELECT 1")
                    try db.makeUpdateStatement("DELETE FROM t").execute()
                    _ = try Row.fetchCursor(statement)
                    let cursor = try Row.fetch(db, "SELECT 1")
                    _ = try cursor.next()
                }
                """,
            becomes: [
                "Point: FetchableRecord, TableRecord", "Place: PersistableRecord",
                "Spot: MutablePersistableRecord",
                "catch RecordError.recordNotFound", "makeStatement(sql: \"SELECT 1\")",
                "Row.fetchCursor(db, sql: \"SELECT 1\")",
            ]),
    ]

    @Test("A sample compiles as it stands, or by the fix-its of the compiler", arguments: samples)
    func compiles(sample: Sample) async throws {
        switch try await FixIts.apply(to: Self.person + sample.code) {
        case .success((let source, let rounds)):
            #expect((rounds == 0) == sample.becomes.isEmpty, "\(rounds) rounds: \(source)")
            for text in sample.becomes { #expect(source.contains(text), "\(source)") }
        case .failure(let failure):
            Issue.record("\(failure.output)\n\(failure.source)")
        }
    }

    @Test(
        "Where no fix-it can write it, the compiler says what to write",
        arguments: [
            (
                "func f(_ row: Row) { let name: String = row.value(named: \"name\"); print(name) }",
                "write `try row[\"name\"]`"
            ),
            (
                "func f(_ row: Row) { let name: String = row.value(atIndex: 0); print(name) }",
                "write `try row[0]`"
            ),
            (
                "func f(_ row: Row) { let name: String = row[\"name\"]; print(name) }",
                "subscript access can throw"
            ),
            (
                "func f(_ value: DatabaseValue) { let name: Int = value.value(); print(name) }",
                "Int.fromDatabaseValue(value)"
            ),
            (
                "let c = Configuration(foreignKeysEnabled: true, readonly: false, trace: nil)",
                "make a Configuration()"
            ),
            (
                "func f(_ p: Person, _ db: Database) { do { try p.update(db) } catch RecordError.RecordNotFound {} catch {} }",
                "type 'RecordError' has no member 'RecordNotFound'"
            ),
            (
                "func f(_ db: Database) { db.transactionDelegate = nil }",
                "db.add(transactionObserver: observer)"
            ),
            (
                "extension DerivableRequest<Person> { func best() -> Self { order(Column(\"name\")) } }",
                "cannot convert return expression of type 'QueryInterfaceRequest<Person>' to return type 'Self'"
            ),
        ])
    func says(code: String, sentence: String) async throws {
        let result = try await SwiftScript.compile(source: Self.person + code)
        #expect(!result.succeeded)
        #expect(result.output.contains(sentence), "\(result.output)")
    }

    @Test("Names that users declare on their own subclasses are free")
    func ownNames() async throws {
        let code = """
            class Own: Person {
                var databaseEdited: Bool { hasDatabaseChanges }
                var storedDatabaseDictionary: [String: (any DatabaseValueConvertible)?] { [:] }
                func didInsert(with rowID: Int64, for column: String?) {}
                func updateFromRow(row: Row) {}
                class func databaseTableName() -> String? { nil }
                var first: Int { 0 }
                var pluralized: String { "" }
            }
            """
        let result = try await SwiftScript.compile(source: Self.person + code)
        #expect(result.succeeded, "\(result.output)")
    }
}

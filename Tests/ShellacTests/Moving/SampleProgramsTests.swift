import Foundation
import TestSupport
import Testing

/// Programs of users of the family's eras. They compile as they are, or after the fix-its that the
/// compiler proposes.
@Suite("Samples of older eras", .serialized)
struct SampleProgramsTests {
    @Test(
        "Every sample of a document compiles as it is printed, or by what the compiler says, or for a reason not",
        arguments: ["000", "001", "002", "003", "004"])
    func document(name: String) async throws {
        let file = try SampleFile(name)
        let outcomes = try await file.compiled()
        for sample in file.samples where sample.form != .other {
            let outcome = try #require(outcomes[sample.line])
            let place: Comment = "\(name), line \(sample.line): \(outcome.output)\n\(outcome.source)"
            switch sample.fate {
            case .printed: #expect(outcome.compiles && outcome.rounds == 0, place)
            case .fixed:
                #expect(outcome.compiles && outcome.rounds > 0, place)
                for text in sample.notes { #expect(outcome.source.contains(text), place) }
            case .told:
                #expect(!outcome.errors.isEmpty, place)
                for error in outcome.errors { #expect(sample.notes.contains(error), place) }
            case .refused:
                #expect(sample.notes.count > 1, place)
                for error in sample.notes.dropFirst() { #expect(outcome.errors.contains(error), place) }
            case .other: Issue.record("a sample without a fate, \(place)")
            }
        }
    }

    @Test("The article tells how many samples there are of each document, and what becomes of them")
    func counts() throws {
        let url = Repository.root.appending(path: "Sources/Shellac/Shellac.docc/ComingFromElsewhere.md")
        let article = try String(contentsOf: url, encoding: .utf8)
        var sums = [0, 0, 0, 0]
        for (name, era) in [
            ("000", "newest"), ("002", "newest, in a talk"), ("003", "Swift 4, observation"),
            ("004", "Swift 4, the class"), ("001", "Swift 2"),
        ] {
            let samples = try SampleFile(name).samples
            #expect(
                samples.allSatisfy {
                    ($0.form == .other) == ($0.fate == .other) && (!$0.notes.isEmpty || $0.fate == .printed)
                })
            let counts = [SampleFile.Fate.printed, .fixed, .told, .refused].map { fate in
                samples.count { $0.fate == fate }
            }
            sums = zip(sums, counts).map { $0 + $1 }
            let line = "| \(era) | \(counts.map(String.init).joined(separator: " | ")) |"
            #expect(article.contains(line), "\(line)")
        }
        let line = "| together | \(sums.map(String.init).joined(separator: " | ")) |"
        #expect(article.contains(line), "\(line)")
    }

    @Test("Names of protocols and errors between these eras are written anew by the compiler")
    func names() async throws {
        let outcome = try await FixIts.apply(
            to: Self.person + """
                struct Point: RowConvertible, TableMapping { init(row: Row) throws {} }
                struct Place: Persistable { func encode(to container: inout PersistenceContainer) {} }
                struct Spot: MutablePersistable { func encode(to container: inout PersistenceContainer) {} }
                class Watcher: TransactionObserverType { func databaseDidCommit(_ db: Database) {} }
                func f(_ db: Database, _ person: Person) throws {
                    do { try person.update(db) } catch PersistenceError.recordNotFound {}
                    let statement = try db.makeSelectStatement("SELECT 1")
                    try db.makeUpdateStatement("DELETE FROM t").execute()
                    _ = try Row.fetchCursor(statement)
                    for row in Row.fetch(db, "SELECT 1") { print(row) }
                    let changes: [String: DatabaseValue?] = person.databaseChanges
                    let copy = person.copy()
                    if person.databaseEdited { print(changes, copy) }
                }
                """)
        #expect(outcome.compiles, "\(outcome.output)")
        for text in [
            "Point: FetchableRecord, TableRecord", "Place: PersistableRecord",
            "Spot: MutablePersistableRecord",
            "class Watcher: TransactionObserver {", "catch RecordError.recordNotFound",
            "makeStatement(sql: \"SELECT 1\")", "try Row.fetchAll(db, sql: \"SELECT 1\")",
            "= try person.databaseChanges", "= try person.copy()", "if person.hasDatabaseChanges",
        ] {
            #expect(outcome.source.contains(text), "\(outcome.source)")
        }
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
                "func f(_ row: Row) { let data = row.dataNoCopy(named: \"data\"); print(data as Any) }",
                "write `try row.withUnsafeData(named: \"data\") { data in … }`"
            ),
            ("let number = DatabaseValue(double: 1)", "write `number.databaseValue`"),
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
            class Deeper: Own {
                override var databaseEdited: Bool { true }
                override var storedDatabaseDictionary: [String: (any DatabaseValueConvertible)?] { [:] }
            }
            class Constant: Person { let databaseEdited = "no" }
            """
        let result = try await SwiftScript.compile(source: Self.person + code)
        #expect(result.succeeded, "\(result.output)")
    }
}

import Observation
import TestSupport
import Testing

@testable import Shellac

/// Stored properties that have the name of a column, and no line.
@Suite("Properties that nobody lists", .behaviour(112))
struct UnlistedPropertiesTests {
    private static let schema = """
        CREATE TABLE page (id INTEGER PRIMARY KEY, name TEXT, notes TEXT NOT NULL DEFAULT '', score INTEGER);
        INSERT INTO page VALUES (1, 'a', 'kept', 1);
        """

    private func faults<T: FetchableRecord & EncodableRecord & TableRecord>(of type: T.Type) throws
        -> [String]
    {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: Self.schema)
            do {
                try type.checkSchema(db)
                return []
            } catch let error as SchemaDriftError {
                return error.faults.filter { $0.kind == .propertyNotListed }.flatMap(\.columns)
            }
        }
    }

    @Test("checkSchema finds a property whose line was forgotten, also that of a superclass")
    func forgotten() throws {
        try #expect(faults(of: Page.self) == ["notes"])
        try #expect(faults(of: SubPage.self) == ["score", "notes"])
        try #expect(faults(of: LazyPage.self) == ["notes", "score"])
    }

    @Test("The fault is a sentence that says what to write")
    func sentence() throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: Self.schema)
            let error = #expect(throws: SchemaDriftError.self) { try Page.checkSchema(db) }
            #expect(
                error?.description
                    == "Page has a property notes, but no line for the column notes of the table page in "
                    + "columns(_:): the property is neither read nor stored. List it, or name it in "
                    + "databaseUnlistedProperties.")
        }
    }

    @Test("An observed property is found by its own name")
    func observed() throws { try #expect(faults(of: ObservedPage.self) == ["notes"]) }

    @Test(
        "What is listed by whatever line, meant so, of another name, or left to Codable or to the pair is no fault"
    )
    func healthy() throws {
        try #expect(faults(of: MeantPage.self) == [])
        try #expect(faults(of: LinedPage.self) == [])
        try #expect(faults(of: CodedPage.self) == [])
        try #expect(faults(of: CodedSubPage.self) == ["score"])
        try #expect(faults(of: PairPage.self) == [])
        try #expect(faults(of: PairSubPage.self) == ["score"])
    }

    @Test("checkSchema finds a key that is the same in each new record, if SQLite numbers the rows")
    func sharedKey() throws {
        func fault(_ declaration: String, _ type: Record.Type) throws -> String? {
            try DatabaseQueue().inDatabase { db in
                try db.execute(sql: "CREATE TABLE page (id INTEGER PRIMARY KEY\(declaration), name TEXT)")
                do {
                    try db.checkSchema(of: type)
                    return nil
                } catch let error as SchemaDriftError { return error.description }
            }
        }
        try #expect(
            fault(" AUTOINCREMENT", ZeroPage.self)
                == "Each new ZeroPage has the key 0 in the column id of the table page, which SQLite numbers: the second "
                + "saved one replaces the first one. Declare the property as an Optional.")
        // A program may number rows by itself, or find a key of its own for each record.
        try #expect(fault("", ZeroPage.self) == nil)
        try #expect(fault(" /* AUTOINCREMENT */", ZeroPage.self) == nil)
        try #expect(fault(" AUTOINCREMENT", RandomPage.self) == nil)
        try #expect(fault(" AUTOINCREMENT", NamedPage.self) == nil)
    }

    #if DEBUG
    @Test("A debug build tells of such a key at the first save")
    func sharedKeySaved() async throws {
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            try DatabaseQueue().inDatabase { db in
                try db.execute(sql: "CREATE TABLE page (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT)")
                for _ in 1...2 { try ZeroPage().save(db) }
                try #expect(ZeroPage.fetchCount(db) == 1)
                for _ in 1...2 { try NamedPage().save(db) }
            }
            #expect(log.elements.count == 1, "\(log.elements)")
            #expect(log.elements.first?.hasPrefix("Each new ZeroPage has the key 0 in the column id") == true)
        }
    }

    @Test("A debug build says so at the first use, once for a class: at a fetch, or at a save")
    func firstUse() async throws {
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            try DatabaseQueue().inDatabase { db in
                try db.execute(sql: UnlistedPropertiesTests.schema)
                for _ in 1...2 { _ = try Page.fetchAll(db, sql: "SELECT id FROM page") }
                #expect(log.elements.count == 1)
                #expect(
                    log.elements.first
                        == "Page has the properties notes, but columns(_:) does not list these columns of the "
                        + "table page: they are neither read nor stored. List them, or name them in "
                        + "databaseUnlistedProperties.")
                for _ in 1...2 { try SubPage().save(db) }
                try MeantPage().insert(db)
                _ = try MeantPage.fetchAll(db)
            }
            #expect(log.elements.count == 2, "\(log.elements)")
            #expect(
                log.elements.last?.hasPrefix("SubPage has the properties score, notes, but columns(_:)")
                    == true)
        }
    }

    @Test("A debug build tells of a line whose column a whole row lacks, once, and of no other")
    func misspelled() async throws {
        await #expect(processExitsWith: .success) {
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            try DatabaseQueue().inDatabase { db in
                try db.execute(sql: UnlistedPropertiesTests.schema)
                _ = try MisspelledPage.fetchAll(db, sql: "SELECT id, score FROM page")
                _ = try AnnotatedPage.fetchAll(db)
                _ = try LinedPage.fetchAll(
                    db, sql: "SELECT id, name AS nmae FROM page", adapter: ColumnMapping(["name": "nmae"]))
                #expect(log.elements == [])
                for _ in 1...2 { _ = try MisspelledPage.fetchAll(db) }
            }
            #expect(log.elements.count == 1, "\(log.elements)")
            #expect(
                log.elements.first?.hasPrefix(
                    "MisspelledPage lists the column nmae, which is neither in the table page nor in the fetched row: "
                        + "the property keeps its default value") == true, "\(log.elements)")
        }
    }
    #endif
}

private class Page: Record {
    var id: Int64?
    var name = ""
    var notes = "default"
    var unrelated = 1
    override class var databaseTableName: String { "page" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }
}

/// It adds a property and no line.
private final class SubPage: Page {
    var score = 0
}

private final class MeantPage: Page {
    override class var databaseUnlistedProperties: Set<String> { ["Notes"] }
}

private final class LinedPage: Page {
    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column.reading("notes") { notes = $0 }
    }
}

private final class LazyPage: Record {
    var id: Int64?
    lazy var notes = "lazy"
    private var _score = 0
    override class var databaseTableName: String { "page" }
    override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
}

@Observable
private final class ObservedPage: Record {
    var id: Int64?
    var name = ""
    var notes = ""
    override class var databaseTableName: String { "page" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }
}

private class CodedPage: Record, Codable {
    var id: Int64?
    var name = ""
    var notes = ""
    private enum CodingKeys: CodingKey { case id, name }
    override class var databaseTableName: String { "page" }
}

private final class CodedSubPage: CodedPage {
    var score = 0
    var title = ""
    override func columns(_ column: borrowing RecordColumns) throws { try column.writing("notes", title) }
}

private class PairPage: Record {
    var id: Int64?
    var notes = ""
    override class var databaseTableName: String { "page" }
    override func updateFromRow(_ row: Row) throws { if row.hasColumn("id") { id = try row["id"] } }
    override func encode(to container: inout PersistenceContainer) throws { container["id"] = id }
}

private final class PairSubPage: PairPage {
    var name = ""
    var score = 0
    override func columns(_ column: borrowing RecordColumns) throws { try column("name", name) { name = $0 } }
}

private final class MisspelledPage: Record {
    var id: Int64?
    var title = ""
    override class var databaseTableName: String { "page" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("nmae", title) { title = $0 }
    }
}

private final class AnnotatedPage: Record {
    var id: Int64?
    var rank = 0
    override class var databaseTableName: String { "page" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column.reading("rank") { rank = $0 }
    }
}

/// A page whose key is no Optional.
private final class ZeroPage: Record {
    var id: Int64 = 0

    override class var databaseTableName: String { "page" }

    override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
}

/// A page that finds its own key.
private final class RandomPage: Record {
    var id = Int64.random(in: 1...Int64.max)

    override class var databaseTableName: String { "page" }

    override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
}

/// A page whose key SQLite finds.
private final class NamedPage: Record {
    var id: Int64?

    override class var databaseTableName: String { "page" }

    override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
}

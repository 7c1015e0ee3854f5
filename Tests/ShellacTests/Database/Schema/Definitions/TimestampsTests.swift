import Foundation
import Shellac
import TestSupport
import Testing

/// The columns of `t.timestamps()` are made for stamps: no advice and no check complains about
/// them.
@Suite("The columns of t.timestamps()")
struct TimestampsTests {
    private static let text = "1970-01-12 13:46:40.000"

    /// A database whose transactions all have one date.
    private static func makeQueue(options: TableOptions = []) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.transactionClock = .custom { _ in Date(timeIntervalSince1970: 1_000_000) }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.create(table: "memo", options: options) { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("title", .text).notNull().unique()
                t.timestamps()
            }
        }
        return queue
    }

    private static func stamps(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT title || ': ' || createdAt || ', ' || updatedAt FROM memo ORDER BY title")
    }

    @Test(
        "are stamped by records, requests and plain SQL, with the same date and to the millisecond",
        arguments: [true, false])
    func writers(isStrict: Bool) throws {
        let queue = try Self.makeQueue(options: isStrict ? .strict : [])
        try queue.register(DatedMemo.self)
        try queue.write { db in
            let memo = DatedMemo(title: "record")
            try memo.insert(db)
            #expect(memo.createdAt?.databaseValue == Self.text.databaseValue)
            #expect(!memo.hasDatabaseChanges)
            var plain = DatedMemoStruct(id: nil, title: "struct")
            try plain.insert(db)
            try db.execute(sql: "INSERT INTO memo (title) VALUES ('plain')")
            try db.execute(
                sql: "INSERT INTO memo (title) SELECT title || 's' FROM memo WHERE title = 'record'")
            try db.execute(
                sql: "INSERT INTO memo (title) VALUES ('record') ON CONFLICT DO UPDATE SET title = 'upsert'")
            try #expect(
                Self.stamps(db)
                    == ["plain", "records", "struct", "upsert"].map { "\($0): \(Self.text), \(Self.text)" })
            // Later changes stamp rows that were written before.
            try db.withoutStamps { try db.execute(sql: "UPDATE memo SET createdAt = 'c', updatedAt = 'u'") }
            try DatedMemo.filter(Column("title") == "plain").updateAll(db, Column("title").set(to: "a"))
            try db.execute(sql: "UPDATE memo SET title = 'b' WHERE title = 'struct'")
            try #expect(Self.stamps(db).prefix(2) == ["a: c, \(Self.text)", "b: c, \(Self.text)"])
        }
    }

    @Test("have SQLite's date where nobody has registered them, and need not be given")
    func otherPrograms() throws {
        let queue = try Self.makeQueue()
        try queue.write { db in
            try db.execute(sql: "INSERT INTO memo (title) VALUES ('plain')")
            try #expect(String.fetchOne(db, sql: "SELECT createdAt FROM memo")?.count == 19)
            try #expect(DatedMemo.fetchAll(db).allSatisfy { $0.createdAt != nil && !$0.hasDatabaseChanges })
        }
    }

    @Test("are registered without a word", arguments: [true, false])
    func registration(isStrict: Bool) async throws {
        await #expect(processExitsWith: .success) { [isStrict = isStrict as Bool] in
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            let queue = try Self.makeQueue(options: isStrict ? .strict : [])
            try await queue.register(DatedMemo.self, DatedMemoStruct.self)
            #expect(log.elements == [])
        }
    }

    @Test("are no default that a record overwrites, if its type says that they are stamps, and one otherwise")
    func driftCheck() throws {
        let queue = try Self.makeQueue()
        for hasRow in [false, true] {
            if hasRow { try queue.write { try $0.execute(sql: "INSERT INTO memo (title) VALUES ('plain')") } }
            try queue.read { db in
                try db.checkSchema(of: DatedMemo.self, DatedMemoStruct.self)
                try DatedMemo(title: "new").checkSchema(db)
                let error = #expect(throws: SchemaDriftError.self) { try UndatedMemo.checkSchema(db) }
                #expect(error?.faults.map(\.column) == ["createdAt", "updatedAt"])
                let kind = SchemaFault.Kind.defaultOverwritten(defaultValueSQL: "CURRENT_TIMESTAMP")
                #expect(error?.faults.allSatisfy { $0.kind == kind } == true)
            }
        }
    }
}

private final class DatedMemo: Record {
    var id: Int64?
    var title = ""
    var createdAt: Date?
    var updatedAt: Date?

    init(title: String) {
        self.title = title
        super.init()
    }

    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "memo" }
    override class var databaseStamps: DatabaseStamps {
        DatabaseStamps(created: "createdAt", updated: "updatedAt")
    }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
        try column("createdAt", createdAt) { createdAt = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
    }
}

private struct DatedMemoStruct: Codable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "memo"
    static let databaseStamps = DatabaseStamps(created: "createdAt", updated: "updatedAt")
    var id: Int64?
    var title: String
    var createdAt: Date?
    var updatedAt: Date?
}

private struct UndatedMemo: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "memo"
    var id: Int64?
    var title: String
    var createdAt: Date?
    var updatedAt: Date?
}

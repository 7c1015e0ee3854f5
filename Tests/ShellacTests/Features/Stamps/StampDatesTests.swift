import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Stamps and other dates")
struct StampDatesTests {
    private let memos: MemoDatabase

    init() throws { memos = try MemoDatabase() }

    @Test("A struct that stores other dates as numbers has stamps as texts")
    func otherDates() throws {
        try memos.queue.write { db in
            try db.execute(sql: "CREATE TABLE visit (id INTEGER PRIMARY KEY, at, createdAt, updatedAt)")
        }
        try memos.queue.register(Visit.self)
        var visit = Visit(at: memos.clock.date(7))
        let dates = "SELECT at, createdAt, updatedAt FROM visit"
        try memos.queue.write { db in
            try visit.insert(db)
            let row = try Row.fetchOne(db, sql: dates)
            #expect(
                row?.databaseValues == [memos.clock.date(7).timeIntervalSince1970.databaseValue]
                    + [minute(0).databaseValue, minute(0).databaseValue])
        }
        try memos.later { db in
            try db.execute(sql: "UPDATE visit SET at = at + 60")
            visit = try #require(try Visit.fetchOne(db))
        }
        #expect(visit.at == memos.clock.date(8))
        #expect(visit.createdAt == memos.clock.date(0))
        #expect(visit.updatedAt == memos.clock.date(1))
        // An explicit date is stored as the struct stores its dates, and read again.
        try memos.later { db in
            visit.updatedAt = memos.clock.date(5)
            try visit.update(db, columns: ["updatedAt"])
            #expect(try String.fetchOne(db, sql: "SELECT updatedAt FROM visit") == minute(5))
        }
    }

    private struct Visit: Codable, FetchableRecord, MutablePersistableRecord {
        var id: Int64?
        var at: Date
        var createdAt: Date?
        var updatedAt: Date?

        static let databaseStamps = DatabaseStamps(created: "createdAt", updated: "updatedAt")

        static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
            column == "at" ? .timeIntervalSince1970 : .deferredToDate
        }
        static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
            column == "at" ? .timeIntervalSince1970 : .deferredToDate
        }

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }
}

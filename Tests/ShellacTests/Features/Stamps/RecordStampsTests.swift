import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Records bind their stamps")
struct RecordStampsTests {
    private let memos: MemoDatabase

    init() throws { memos = try MemoDatabase() }

    @Test(
        "An insertion writes the transaction date where the property is nil: with no second write, event or SELECT",
        .behaviour(38), arguments: RecordStyle.allCases)
    func insertion(style: RecordStyle) throws { try insertion(style.memo) }

    private func insertion<Memo: MemoRecord>(_: Memo.Type) throws {
        let spy = ObserverSpy()
        memos.queue.add(transactionObserver: spy)
        let memo = Memo("a")
        try memos.queue.write { db in
            try memo.insert(db)
            #expect(try db.memoStamps() == "0 0 -")
        }
        #expect(spy.log.filter { $0.hasPrefix("insert") || $0.hasPrefix("update") } == ["insert memo 1"])
        #expect(memos.writes().count == 1)
        #expect(memo.stamps == "0 0 -")
        #expect(memo.id == 1)
        #expect(!memo.hasDatabaseChanges)
        let other = Memo("b")
        (other.createdAt, other.id) = (memos.clock.date(7), 12)
        try memos.later { db in
            try other.insert(db)
            #expect(try db.memoStamps(12) == "7 1 -")
        }
        #expect(other.stamps == "7 1 -")
        #expect(!other.hasDatabaseChanges)
    }

    @Test(
        "An update writes updated: with no second write, event or SELECT, also twice in one transaction",
        .behaviour(38), arguments: RecordStyle.allCases)
    func update(style: RecordStyle) throws { try update(style.memo) }

    private func update<Memo: MemoRecord>(_: Memo.Type) throws {
        let memo = try memos.inserted(Memo.self)
        let spy = ObserverSpy()
        memos.queue.add(transactionObserver: spy)
        try memos.later { db in
            memo.score = 1
            try memo.update(db)
            #expect(try db.memoStamps() == "0 1 -")
            memo.score = 2
            try memo.update(db)
            memo.score = 3
            try memo.updateChanges(db)
            try memo.update(db, columns: ["score"])
        }
        #expect(spy.log.filter { $0.hasPrefix("update") }.count == 4)
        // (The whole row has the title in it, whose stamp is read back.)
        let writes = memos.writes().filter { !$0.hasPrefix("SELECT \"titleChangedAt\"") }
        #expect(
            writes.suffix(2)
                == Array(
                    repeating: "UPDATE \"memo\" SET \"score\" = ?, \"updatedAt\" = ? WHERE \"id\" = ?",
                    count: 2))
        #expect(writes.count == 4)
        #expect(memo.stamps == "0 1 -")
        #expect(!memo.hasDatabaseChanges)
        try memos.later { db in try #expect(!memo.updateChanges(db)) }
        #expect(memo.stamps == "0 1 -")
    }

    @Test(
        "A property that is not nil and differs from the snapshot is explicit", .behaviour(38),
        arguments: RecordStyle.allCases)
    func explicit(style: RecordStyle) throws { try explicit(style.memo) }

    private func explicit<Memo: MemoRecord>(_: Memo.Type) throws {
        let memo = try memos.inserted(Memo.self)
        try memos.later { db in
            memo.updatedAt = memos.clock.date(8)
            try memo.update(db)
            #expect(try db.memoStamps() == "0 8 -")
        }
        #expect(memo.stamps == "0 8 -")
        try memos.later { db in
            // No longer: it is what the record remembers.
            try memo.update(db)
            #expect(try db.memoStamps() == "0 2 -")
            memo.updatedAt = nil
            try memo.update(db)
            #expect(try db.memoStamps() == "0 2 -")
            #expect(memo.stamps == "0 2 -")
            memo.createdAt = memos.clock.date(9)
            memo.titleChangedAt = memos.clock.date(7)
            try memo.update(db)
            #expect(try db.memoStamps() == "9 2 7")
            #expect(memo.stamps == "9 2 7")
            #expect(!memo.hasDatabaseChanges)
        }
    }

    @Test(
        "created is written only when explicit, and never by DO UPDATE SET", .behaviour(38),
        arguments: RecordStyle.allCases, [false, true])
    func created(style: RecordStyle, upserts: Bool) throws { try created(style.memo, upserts: upserts) }

    private func created<Memo: MemoRecord>(_: Memo.Type, upserts: Bool) throws {
        let memo = try memos.inserted(Memo.self)
        try memos.later { db in
            try db.execute(sql: "UPDATE memo SET createdAt = ?", arguments: [minute(5)])
            memo.score = 1
            if upserts { try memo.upsert(db) } else { try memo.update(db) }
            #expect(try db.memoStamps() == "5 1 -")
            #expect(memo.updatedAt == memos.clock.date(1))
            if upserts { #expect(memo.stamps == "5 1 -") }
        }
    }

    @Test(
        "An upsert stamps the insertion and the update, and takes what the row holds", .behaviour(38),
        arguments: RecordStyle.allCases)
    func upsert(style: RecordStyle) throws { try upsert(style.memo) }

    private func upsert<Memo: MemoRecord>(_: Memo.Type) throws {
        let memo = Memo("a")
        memo.id = 1
        try memos.queue.write { db in
            try memo.upsert(db)
            #expect(try db.memoStamps() == "0 0 -")
        }
        #expect(memo.stamps == "0 0 -")
        memos.spy.removeAll()
        try memos.later { db in
            memo.title = "b"
            try memo.upsert(db)
            #expect(try db.memoStamps() == "0 1 1")
            #expect(memo.createdAt == memos.clock.date(0))
            #expect(memo.updatedAt == memos.clock.date(1))
        }
        // Another object that knows nothing of the row.
        let stranger = Memo("c")
        stranger.id = 1
        try memos.later { db in
            try stranger.upsert(db)
            #expect(try db.memoStamps().hasPrefix("0 2"))
            #expect(stranger.createdAt == memos.clock.date(0))
            #expect(stranger.updatedAt == memos.clock.date(2))
        }
        try memos.later { db in
            stranger.updatedAt = memos.clock.date(9)
            try stranger.upsert(db)
            #expect(try db.memoStamps().hasPrefix("0 9"))
        }
    }

    @Test(
        "An upsert of a record that was fetched without its stamps takes them, and knows them",
        .behaviour(38, 93), arguments: RecordStyle.allCases)
    func partialUpsert(style: RecordStyle) throws { try partialUpsert(style.memo) }

    private func partialUpsert<Memo: MemoRecord>(_: Memo.Type) throws {
        _ = try memos.inserted(Memo.self)
        try memos.later { db in
            let sql = "SELECT id, title, score FROM memo"
            let memo = try #require(try Memo.fetchOne(db, sql: sql))
            memo.title = "b"
            try memo.upsert(db)
            #expect(try db.memoStamps().hasPrefix("0 1"))
            #expect(memo.createdAt == memos.clock.date(0))
            #expect(try memo.databaseChanges.keys.filter { $0 != "titleChangedAt" } == [])
        }
    }

    @Test(
        "A record that is older than a bulk update never puts an old stamp back", .behaviour(38),
        arguments: RecordStyle.allCases, ["update", "save", "upsert", "updateChanges", "columns"])
    func olderThanBulkUpdate(style: RecordStyle, way: String) throws {
        try olderThanBulkUpdate(style.memo, way: way)
    }

    private func olderThanBulkUpdate<Memo: MemoRecord>(_: Memo.Type, way: String) throws {
        let memo = try memos.inserted(Memo.self)
        try memos.later { db in
            try db.execute(sql: "UPDATE memo SET title = 'bulk', createdAt = ?", arguments: [minute(6)])
            try db.execute(sql: "UPDATE memo SET title = 'bulk 2'")
            #expect(try db.memoStamps() == "6 1 1")
        }
        try memos.later { db in
            memo.score = 7
            memo.title = "bulk 2"  // so that the title does not change
            switch way {
            case "update": try memo.update(db)
            case "save": try memo.save(db)
            case "upsert": try memo.upsert(db)
            case "updateChanges": try memo.updateChanges(db)
            default: try memo.update(db, columns: ["score", "createdAt", "updatedAt", "titleChangedAt"])
            }
            #expect(try db.memoStamps() == "6 2 1")
        }
        #expect(memo.updatedAt == memos.clock.date(2))
    }

    @Test(
        "A struct's full update treats its stamps as not given; update(columns:) that names one is explicit",
        .behaviour(38)
    )
    func structs() throws {
        var memo = MemoValue(title: "a")
        try memos.queue.write { db in
            try memo.insert(db)
            #expect(try db.memoStamps() == "0 0 -")
            memo = try #require(try MemoValue.fetchOne(db, key: 1))
        }
        try memos.later { db in
            try db.execute(sql: "UPDATE memo SET createdAt = ?", arguments: [minute(6)])
            (memo.createdAt, memo.updatedAt, memo.titleChangedAt) = (
                nil, memos.clock.date(9), memos.clock.date(9)
            )
            try memo.update(db)
            #expect(try db.memoStamps() == "6 1 -")
            try memo.save(db)
            try memo.upsert(db)
            #expect(try db.memoStamps() == "6 1 -")
            try memo.update(db, columns: ["score"])
            #expect(try db.memoStamps() == "6 1 -")
            try memo.update(db, columns: ["updatedAt", "titleChangedAt"])
            #expect(try db.memoStamps() == "6 9 9")
            try memo.updateChanges(db) { $0.createdAt = memos.clock.date(3) }
            #expect(try db.memoStamps() == "3 1 9")
        }
        let saved = try memos.later { db in try memo.updateAndFetch(db) }
        #expect(saved.updatedAt == memos.clock.date(2))
        let fresh = try memos.later { db in try MemoValue(title: "z").insertAndFetch(db) }
        #expect(fresh.createdAt == memos.clock.date(3))
    }

    @Test("Suspended, stamps are bound as they are encoded", .behaviour(38), arguments: RecordStyle.allCases)
    func suspended(style: RecordStyle) throws { try suspended(style.memo) }

    private func suspended<Memo: MemoRecord>(_: Memo.Type) throws {
        let memo = Memo("a")
        try memos.queue.write { db in
            try db.withoutStamps {
                try memo.insert(db)
                #expect(try db.memoStamps() == "- - -")
                memo.updatedAt = memos.clock.date(4)
                try memo.update(db)
                #expect(try db.memoStamps() == "- 4 -")
                memo.updatedAt = nil
                try memo.update(db)
                #expect(try db.memoStamps() == "- - -")
                try memo.upsert(db)
                #expect(try db.memoStamps() == "- - -")
                try memo.touch(db)
                #expect(try db.memoStamps() == "- 0 -")
            }
        }
        #expect(memo.stamps == "- 0 -")
    }

    @Test(
        "Only the stamps of groups are read back, by one SELECT, where their columns are written",
        .behaviour(38), arguments: RecordStyle.allCases)
    func groups(style: RecordStyle) throws { try groups(style.memo) }

    private func groups<Memo: MemoRecord>(_: Memo.Type) throws {
        let memo = try memos.inserted(Memo.self)
        try memos.later { db in
            memo.title = "b"
            try memo.update(db, columns: ["title"])
            #expect(try db.memoStamps() == "0 1 1")
        }
        #expect(memo.stamps == "0 1 1")
        #expect(!memo.hasDatabaseChanges)
        let reads = memos.writes().filter { $0.hasPrefix("SELECT \"") }
        #expect(reads == ["SELECT \"titleChangedAt\" FROM \"memo\" WHERE \"id\" = ?"])
        try memos.later { db in
            memo.score = 1
            try memo.updateChanges(db)
        }
        #expect(memos.writes().filter { $0.hasPrefix("SELECT \"") }.isEmpty)
        #expect(memo.stamps == "0 2 1")
    }

    @Test(
        "Callbacks around a save change nothing; did-callbacks see the stamps", .behaviour(38),
        arguments: RecordStyle.allCases)
    func callbacks(style: RecordStyle) throws { try callbacks(style.watchedMemo) }

    private func callbacks<Watched: WatchedMemo & TitledMemo>(_: Watched.Type) throws {
        let record = Watched()
        try memos.queue.write { db in try record.insert(db) }
        try memos.later { db in try record.update(db, columns: []) }
        #expect(record.seen == [memos.clock.date(0), memos.clock.date(1)])
        #expect(record.title == "!!")
        #expect(try memos.queue.read { try $0.memoStamps() } == "0 1 1")
        #expect(!record.hasDatabaseChanges)
    }

    @Test(
        "A class that does not take its stamps is told so, once; its old property is not explicit",
        arguments: [RecordStyle.pair, .list])  // what a Codable class stores, it takes
    func notTaken(style: RecordStyle) async throws {
        await #expect(processExitsWith: .success) { [style = style as RecordStyle] in
            let log = Recorder<String>()
            Database.logError = { _, message in log.record(message) }
            let memos = try MemoDatabase()
            let record: StubbornMemo = style.choose(PairStubborn(), ListedStubborn(), ListedStubborn())
            try memos.queue.write { db in
                try record.insert(db)
                #expect(try db.memoStamps() == "0 0 -")
            }
            try memos.later { db in
                try record.update(db)
                #expect(try db.memoStamps() == "0 1 -")
                let error = #expect(throws: RecordError.self) { try record.touch(db) }
                guard case .rowNotTaken("\(type(of: record))", _)? = error else {
                    Issue.record("\(error as Any)")
                    return
                }
            }
            record.updatedAt = memos.clock.date(5)
            try memos.later { db in
                try record.update(db)
                #expect(try db.memoStamps() == "0 5 -")  // it was set, and so is explicit
            }
            try memos.later { db in
                try record.update(db)
                #expect(try db.memoStamps() == "0 3 -")
                try record.update(db)
                #expect(try db.memoStamps() == "0 3 -")
            }
            #expect(log.elements.filter { $0.contains("did not take its stamp updatedAt") }.count == 1)
        }
    }

    @Test(
        "A stamp that was set to nil is taken from the row, and the record is clean",
        .behaviour(110), .behaviour(113), arguments: RecordStyle.allCases,
        ["update", "updateChanges", "save"])
    func nilStamp(style: RecordStyle, verb: String) throws { try nilStamp(style.memo, verb) }

    private func nilStamp<Memo: MemoRecord>(_: Memo.Type, _ verb: String) throws {
        let memo = try memos.inserted(Memo.self)
        (memo.createdAt, memo.titleChangedAt) = (nil, nil)
        try memos.later { db in
            try memo.write(verb, db)
            try #expect(db.memoStamps() == "0 1 -")
        }
        #expect(memo.stamps == "0 1 -")
        #expect(!memo.hasDatabaseChanges)
        try memos.later { db in
            try #expect(!memo.updateChanges(db))
            try #expect(db.memoStamps() == "0 1 -")
        }
    }

    @Test(
        "A record that was made with its key takes the stamps of its row when it is saved, and is clean",
        .behaviour(110), .behaviour(113), arguments: RecordStyle.allCases,
        ["update", "updateChanges", "save"])
    func madeWithKey(style: RecordStyle, verb: String) throws { try madeWithKey(style.memo, verb) }

    private func madeWithKey<Memo: MemoRecord>(_: Memo.Type, _ verb: String) throws {
        _ = try memos.inserted(Memo.self)
        try memos.later { db in
            try db.execute(sql: "UPDATE memo SET title = 'b'")
            try #expect(db.memoStamps() == "0 1 1")
        }
        let memo = Memo("b")
        memo.id = 1
        try memos.later { db in
            try memo.write(verb, db)
            try #expect(db.memoStamps() == "0 2 1")
        }
        #expect(memo.stamps == "0 2 1")
        #expect(!memo.hasDatabaseChanges)
        try memos.later { db in
            try #expect(!memo.updateChanges(db))
            try #expect(db.memoStamps() == "0 2 1")
        }
        // A rollback restores the earlier stamps.
        memo.createdAt = nil
        try? memos.later { db in
            try memo.write(verb, db)
            throw TestError(1)
        }
        #expect(memo.createdAt == nil)
        #expect(memo.hasDatabaseChanges)
    }
}

// MARK: - Records

/// A memo of which a test knows the title and the last update.
private protocol TitledMemo: Record {
    var title: String { get set }
    var updatedAt: Date? { get set }
}

/// One whose callbacks change it, and look at its stamp.
private class WatchedMemo: Record {
    final var seen: [Date?] = []

    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "memo" }
    override class var databaseStamps: DatabaseStamps { DatabaseStamps(updated: "updatedAt") }
    override func willSave(_ db: Database) throws { (self as? any TitledMemo)?.title += "!" }
    override func didSave(_ saved: PersistenceSuccess) { seen.append((self as? any TitledMemo)?.updatedAt) }
}

private final class PairWatched: WatchedMemo, TitledMemo {
    var id: Int64?
    var title = ""
    var updatedAt: Date?

    override func updateFromRow(_ row: Row) throws {
        id = try row["id"]
        title = try row["title"]
        updatedAt = try row["updatedAt"]
    }
    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["title"] = title
        container["updatedAt"] = updatedAt
    }
}

private final class ListedWatched: WatchedMemo, TitledMemo {
    var id: Int64?
    var title = ""
    var updatedAt: Date?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
    }
}

private final class CodedWatched: WatchedMemo, TitledMemo, Codable {
    var id: Int64?
    var title = ""
    var updatedAt: Date?
}

/// One that takes no stamp.
private class StubbornMemo: Record {
    final var id: Int64?
    final var updatedAt: Date?

    override class var databaseTableName: String { "memo" }
    override class var databaseStamps: DatabaseStamps { DatabaseStamps(updated: "updatedAt") }
    override func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

private final class PairStubborn: StubbornMemo {
    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["title"] = ""
        container["updatedAt"] = updatedAt
    }
}

private final class ListedStubborn: StubbornMemo {
    override func columns(_ column: borrowing RecordColumns) throws {
        try column.writing("id", id)
        try column.writing("title", "")
        try column.writing("updatedAt", updatedAt)
    }
}

extension RecordStyle {
    fileprivate var watchedMemo: any (WatchedMemo & TitledMemo).Type {
        choose(PairWatched.self, ListedWatched.self, CodedWatched.self)
    }
}

extension Record {
    fileprivate func write(_ verb: String, _ db: Database) throws {
        switch verb {
        case "update": try update(db)
        case "updateChanges": try updateChanges(db)
        default: try save(db)
        }
    }
}

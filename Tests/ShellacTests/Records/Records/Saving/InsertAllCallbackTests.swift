import Foundation
import Shellac
import TestSupport
import Testing

@Suite("Inserting many records that are called back, are stamped, or have another key")
struct InsertAllCallbackTests {
    private let spy = SQLSpy()

    // MARK: - Callbacks

    @Test("calls the callbacks of a struct, each of which sees the rows before")
    func structCallbacks() throws {
        struct Ranked: MutablePersistableRecord, TableRecord {
            static let databaseTableName = "sailor"
            var id: Int64?
            var name: String
            var rank = 0
            func encode(to container: inout PersistenceContainer) {
                container["id"] = id
                container["name"] = name
                container["rank"] = rank
            }
            mutating func willInsert(_ db: Database) throws {
                rank = try (Int.fetchOne(db, sql: "SELECT max(rank) FROM sailor") ?? 0) + 1
            }
            mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
        }
        try Crew.database(spy).write { db in
            for _ in 0..<2 {
                var ranked = ["a", "b", "c"].map { Ranked(name: $0) }
                try Ranked.insertAll(db, &ranked)
                #expect(ranked.map(\.rank) == [1, 2, 3])
                #expect(ranked.map(\.id) == [1, 2, 3])
                var failing = ["d", "a"].map { Ranked(name: $0) }
                #expect(databaseError { try Ranked.insertAll(db, &failing) } != nil)
                #expect(failing.map(\.rank) == [0, 0])
                #expect(try Ranked.fetchCount(db) == 3)
                try db.execute(sql: "DELETE FROM sailor")
            }
        }
    }

    @Test(
        "calls each callback that a struct has, whichever it is",
        arguments: ["willSave", "aroundSave", "aroundInsert"])
    func eachCallback(_ callback: String) throws {
        try Crew.database(spy).write { db in
            func names<T: Called>(_ type: T.Type) throws -> [String] {
                let recorder = Recorder<String>()
                for names in [["a", "b"], ["c", "d"]] {
                    try T.insertAll(db, names.map { T(name: $0, recorder: recorder) })
                }
                return recorder.elements
            }
            let calls =
                switch callback {
                case "willSave": try names(SaveCalled.self)
                case "aroundSave": try names(AroundSaveCalled.self)
                default: try names(AroundInsertCalled.self)
                }
            #expect(calls == ["a", "did a", "b", "did b", "c", "did c", "d", "did d"])
            #expect(try Crew.rows(db) == ["1 a", "2 b", "3 c", "4 d"])
        }
    }

    @Test("calls didInsert and didSave of each record, in order")
    func didCallbacks() throws {
        try Crew.database(spy).write { db in
            let recorder = Recorder<String>()
            try DidCalled.insertAll(db, ["a", "b", "c"].map { DidCalled(name: $0, recorder: recorder) })
            spy.removeAll()
            try DidCalled.insertAll(db, ["d", "e"].map { DidCalled(name: $0, recorder: recorder) })
            #expect(spy.insertions == ["2"])
            #expect(
                recorder.elements
                    == (1...5).flatMap { ["did insert \($0) id", "did save \($0)"] })
        }
    }

    @Test(
        "never passes by the overriding methods of a class", .behaviour(20), arguments: RecordStyle.allCases)
    func overrides(style: RecordStyle) throws { try overrides(style.mate, style.validMate) }

    private func overrides<Mate: MateRecord, Valid: ValidMate>(
        _: Mate.Type, _: Valid.Type
    ) throws {
        try Crew.database(spy).write { db in
            let mates = ["a", "b"].map { Valid($0) }
            // By the superclass, too, and among records of others.
            let asMates = try #require(mates as? [Mate])
            try Mate.insertAll(db, Mate.crew(1...2) + asMates + Mate.crew(3...4))
            #expect(Valid.inserted.removeAll() == ["a", "b"])
            #expect(spy.insertions == ["2", "1", "1", "2"])
            #expect(mates.map(\.id) == [3, 4])
            let invalid = ["c", ""].map { Valid($0) }
            #expect(throws: Boom(1)) { try Valid.insertAll(db, invalid) }
            #expect(invalid[0].id == nil && invalid[0].hasDatabaseChanges)
            #expect(try Valid.fetchCount(db) == 6)
            // A generic function knows less of the type.
            func insert<T: PersistableRecord>(_ records: [T]) throws { try T.insertAll(db, records) }
            try insert(["d", "e"].map { Valid($0) })
            #expect(Valid.inserted.elements.suffix(2) == ["d", "e"])
        }
    }

    // MARK: - Stamps

    @Test(
        "binds the stamps of each record, with one date outside of a transaction, too", .behaviour(38),
        arguments: RecordStyle.allCases)
    func stamps(style: RecordStyle) throws { try stamps(style.memo) }

    private func stamps<Memo: MemoRecord>(_: Memo.Type) throws {
        let memos = try MemoDatabase()
        try memos.queue.inDatabase { db in
            memos.spy.removeAll()
            let records = ["a", "b", "c"].map { Memo($0) }
            records[1].createdAt = memos.clock.date(5)
            try Memo.insertAll(db, records)
            #expect(records.map(\.stamps) == ["0 0 -", "5 0 -", "0 0 -"])
            #expect(records.allSatisfy { !$0.hasDatabaseChanges })
            #expect(try (1...3).map { try db.memoStamps($0) } == records.map(\.stamps))
            #expect(memos.spy.insertions == ["3"])
            #expect(!memos.spy.sql.contains { $0.contains("UPDATE") })
            memos.clock.advance()
            for _ in 0..<2 {
                var values = ["d", "e"].map { MemoValue(title: $0) }
                try MemoValue.insertAll(db, &values)
                #expect(try db.memoStamps(values[1].id ?? 0) == "1 1 -")
            }
            let failing = [Memo("f"), Memo("g")]
            failing[1].id = 1
            #expect(databaseError { try Memo.insertAll(db, failing) } != nil)
            #expect(failing.map(\.stamps) == ["- - -", "- - -"])
        }
    }

    @Test(
        "takes the stamps of the records of each statement", .behaviour(38), arguments: RecordStyle.allCases)
    func stampsOfStatements(style: RecordStyle) throws { try stampsOfStatements(style.memo) }

    private func stampsOfStatements<Memo: MemoRecord>(_: Memo.Type) throws {
        let memos = try MemoDatabase()
        try memos.queue.inDatabase { db in
            limitVariables(of: db, to: 12)
            let records = (0..<9).map { Memo("\($0)") }
            for record in records[5...] { record.createdAt = memos.clock.date(5) }
            memos.spy.removeAll()
            try Memo.insertAll(db, records)
            #expect(memos.spy.insertions.count > 3)
            #expect(records[..<5].allSatisfy { $0.stamps == "0 0 -" })
            #expect(records[5...].allSatisfy { $0.stamps == "5 0 -" })
            #expect(try (1...9).map { try db.memoStamps($0) } == records.map(\.stamps))
            #expect(records.allSatisfy { !$0.hasDatabaseChanges })
        }
    }

    // MARK: - Kinds of tables

    @Test("inserts the records of each key shape", .behaviour(31), arguments: ShapedKind.all)
    func shapes(_ kind: ShapedKind) throws {
        struct Inserting: ShapeTest {
            func run<T: Thing>(_ type: T.Type, _ shape: KeyShape, _ db: Database) throws {
                var things = shape.keys.enumerated().map { T(key: $1, value: "\($0)") }
                try T.insertAll(db, &things)
                #expect(try values(db) == ["0", "1", "2"])
                for thing in things {
                    let key: [String: (any DatabaseValueConvertible)?] = thing.key.mapValues { $0 }
                    #expect(try T.find(db, key: key).value == thing.value)
                    if let record = thing as? Record { #expect(!record.hasDatabaseChanges) }
                }
                try db.execute(sql: "DELETE FROM thing")
                var again = shape.keys.enumerated().map { T(key: $1, value: "\($0)") }
                try T.insertAll(db, &again)
                #expect(try values(db) == ["0", "1", "2"])
                #expect(try again.allSatisfy { try $0.exists(db) })
            }
        }
        try kind.run(Inserting())
    }

    @Test("gives the row id of a table without a primary key to didInsert")
    func noPrimaryKey() throws {
        try Crew.database(spy, "CREATE TABLE sailor (name TEXT)").write { db in
            let recorder = Recorder<String>()
            for names in [["a", "b"], ["c", "d", "e"]] {
                try DidCalled.insertAll(db, names.map { DidCalled(name: $0, recorder: recorder) })
            }
            #expect(
                recorder.elements.filter { $0.contains("insert") } == (1...5).map { "did insert \($0) -" })
        }
    }

    @Test("inserts into virtual tables one by one")
    func virtualTable() throws {
        try Crew.database(spy, "CREATE VIRTUAL TABLE sailor USING fts5(name)").write { db in
            let recorder = Recorder<String>()
            for names in [["a", "b"], ["c", "d"]] {
                try DidCalled.insertAll(db, names.map { DidCalled(name: $0, recorder: recorder) })
            }
            #expect(try String.fetchAll(db, sql: "SELECT name FROM sailor") == ["a", "b", "c", "d"])
            #expect(spy.insertions == ["1", "1", "1", "1"])
        }
    }

    @Test("tells observers of each row", arguments: RecordStyle.allCases)
    func observers(style: RecordStyle) throws { try observers(style.mate) }

    private func observers<Mate: MateRecord>(_: Mate.Type) throws {
        let queue = try Crew.database()
        let observer = ObserverSpy()
        queue.add(transactionObserver: observer)
        try queue.write { try Mate.insertAll($0, Mate.crew(1...3)) }
        #expect(
            observer.log == [
                "insert sailor 1", "insert sailor 2", "insert sailor 3", "willCommit", "didCommit",
            ])
    }

    @Test("and fetching them gives what the database holds, in order", arguments: RecordStyle.allCases)
    func fetching(style: RecordStyle) throws { try fetching(style.mate) }

    private func fetching<Mate: MateRecord>(_: Mate.Type) throws {
        try Crew.database(spy).write { db in
            let sailors = try Crew.Sailor.insertAndFetchAll(db, Crew.sailors([3, 1, 2]))
            #expect(sailors.map(\.name) == ["3", "1", "2"])
            #expect(sailors.map(\.id) == [1, 2, 3])
            let mates = try Mate.insertAndFetchAll(db, [Mate("a"), Mate("b")])
            #expect(mates.map(\.id) == [4, 5] && mates.allSatisfy { !$0.hasDatabaseChanges })
            let error = databaseError {
                _ = try Crew.Sailor.insertAndFetchAll(db, Crew.sailors([7, 1]))
            }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
            #expect(try Crew.Sailor.fetchCount(db) == 5)
        }
    }
}

/// Records that write down what is called.
private protocol Called: PersistableRecord {
    var name: String { get }
    var recorder: Recorder<String> { get }
    init(name: String, recorder: Recorder<String>)
}

extension Called {
    static var databaseTableName: String { "sailor" }
    func encode(to container: inout PersistenceContainer) { container["name"] = name }
    func didSave(_ saved: PersistenceSuccess) { recorder.record("did \(name)") }
}

private struct SaveCalled: Called {
    let name: String
    let recorder: Recorder<String>
    func willSave(_ db: Database) { recorder.record(name) }
}

private struct AroundSaveCalled: Called {
    let name: String
    let recorder: Recorder<String>
    func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        recorder.record(name)
        _ = try save()
    }
}

private struct AroundInsertCalled: Called {
    let name: String
    let recorder: Recorder<String>
    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        recorder.record(name)
        _ = try insert()
    }
}

private struct DidCalled: Called {
    let name: String
    let recorder: Recorder<String>
    func didInsert(_ inserted: InsertionSuccess) {
        recorder.record("did insert \(inserted.rowID) \(inserted.rowIDColumn ?? "-")")
    }
    func didSave(_ saved: PersistenceSuccess) {
        recorder.record("did save \(saved.insertion?.rowID ?? 0)")
    }
}

/// Mates that are validated before they are inserted.
private protocol ValidMate: MateRecord {
    static var inserted: Recorder<String> { get }
}

extension ValidMate {
    fileprivate func validate() throws {
        if name.isEmpty { throw Boom(1) }
        Self.inserted.record(name)
    }
}

private final class PairValid: Crew.PairMate, ValidMate {
    static let inserted = Recorder<String>()

    override func insert(_ db: Database) throws {
        try validate()
        try super.insert(db)
    }
}

private final class ListedValid: Crew.ListedMate, ValidMate {
    static let inserted = Recorder<String>()

    override func insert(_ db: Database) throws {
        try validate()
        try super.insert(db)
    }
}

private final class CodedValid: Crew.CodedMate, ValidMate {
    static let inserted = Recorder<String>()

    override func insert(_ db: Database) throws {
        try validate()
        try super.insert(db)
    }
}

extension RecordStyle {
    fileprivate var validMate: any ValidMate.Type {
        choose(PairValid.self, ListedValid.self, CodedValid.self)
    }
}

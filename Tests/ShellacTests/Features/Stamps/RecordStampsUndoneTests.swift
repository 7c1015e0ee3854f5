import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("The stamps of records follow the transaction")
struct RecordStampsUndoneTests {
    private let memos: MemoDatabase

    init() throws { memos = try MemoDatabase() }

    @Test(
        "After a rollback, properties and snapshot are as before: of insertions, updates, touches",
        .behaviour(38),
        arguments: RecordStyle.allCases, Undoing.allCases)
    func rollback(style: RecordStyle, way: Undoing) throws { try rollback(style.memo, way: way) }

    private func rollback<Memo: MemoRecord>(_: Memo.Type, way: Undoing) throws {
        let memo = try memos.inserted(Memo.self)
        memos.clock.advance()
        let fresh = Memo("new")
        let explicit = try memos.inserted(Memo.self, "x")
        let before = (explicit.stamps, memo.stamps)
        try way.run(memos.queue) { db in
            memo.title = "b"
            try memo.update(db)
            memo.score = 4
            try memo.update(db)
            try fresh.insert(db)
            explicit.updatedAt = memos.clock.date(9)
            try explicit.update(db)
        }
        #expect(memo.stamps == before.1)
        #expect(fresh.stamps == "- - -")
        #expect(fresh.id == nil)
        // A stamp that the program has set stays.
        #expect(explicit.updatedAt == memos.clock.date(9))
        try memos.later { db in
            #expect(try memo.databaseChanges.keys.sorted() == ["score", "title"])
            try memo.update(db)
            #expect(memo.updatedAt == memos.clock.date(2))
            try explicit.update(db)
            #expect(explicit.updatedAt == memos.clock.date(9))
            try fresh.insert(db)
            #expect(fresh.stamps == "2 2 -")
        }
    }

    @Test(
        "After the rollback of a touch, the stamp is as before", .behaviour(38),
        arguments: RecordStyle.allCases, Undoing.allCases)
    func rollbackOfTouch(style: RecordStyle, way: Undoing) throws {
        try rollbackOfTouch(style.memo, way: way)
    }

    private func rollbackOfTouch<Memo: MemoRecord>(_: Memo.Type, way: Undoing) throws {
        let memo = try memos.inserted(Memo.self)
        memos.clock.advance()
        try way.run(memos.queue) { db in try memo.touch(db) }
        #expect(memo.stamps == "0 0 -")
        #expect(!memo.hasDatabaseChanges)
        #expect(try memos.queue.read { try $0.memoStamps() } == "0 0 -")
    }

    @Test(
        "The date of a touch outside of a transaction ends with it, also where no statement was run",
        .behaviour(38), arguments: RecordStyle.allCases)
    func touchWithoutStatement(style: RecordStyle) throws { try touchWithoutStatement(style.refusingMemo) }

    private func touchWithoutStatement<Refusing: RefusingMemo & UpdatedMemo>(_: Refusing.Type) throws {
        let memo = Refusing()
        try memos.queue.inDatabase { db in
            try memo.insert(db)
            for refusal in [.throwing, .silent] as [RefusingMemo.Refusal] {
                memo.refusal = refusal
                if refusal == .throwing {
                    #expect(throws: CancellationError.self) { try memo.touch(db) }
                } else {
                    try memo.touch(db)
                }
                memos.clock.advance()
                #expect(try db.transactionDate == memos.clock.now)
            }
            memo.refusal = nil
            memos.clock.advance()
            try memo.touch(db)
            #expect(memo.updatedAt == memos.clock.date(3))
            #expect(try String.fetchOne(db, sql: "SELECT updatedAt FROM memo") == minute(3))
        }
    }

    @Test(
        "A savepoint that is rolled back gives one level back", .behaviour(38),
        arguments: RecordStyle.allCases)
    func savepoints(style: RecordStyle) throws { try savepoints(style.memo) }

    private func savepoints<Memo: MemoRecord>(_: Memo.Type) throws {
        let memo = try memos.inserted(Memo.self)
        try memos.later { db in
            memo.score = 1
            try memo.update(db)
            try db.inSavepoint {
                memo.updatedAt = memos.clock.date(8)
                try memo.update(db)
                return .commit
            }
            try db.inSavepoint {
                try memo.update(db)
                #expect(try db.memoStamps() == "0 1 -")
                return .rollback
            }
            #expect(memo.stamps == "0 8 -")
            #expect(!memo.hasDatabaseChanges)
        }
    }

    @Test(
        "A save outside of a transaction has one date, for the record and for the triggers of its statement",
        .behaviour(38),
        arguments: RecordStyle.allCases)
    func autocommit(style: RecordStyle) throws { try autocommit(style.memo) }

    private func autocommit<Memo: MemoRecord>(_: Memo.Type) throws {
        try memos.queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE log (id INTEGER PRIMARY KEY, c TEXT);
                    CREATE TRIGGER t AFTER INSERT ON memo BEGIN INSERT INTO log VALUES (NULL, NULL); END;
                    """)
            try db.register(DatabaseStamps(created: "c"), on: "log")
            try db.add(
                function: DatabaseFunction("advance", argumentCount: 0) { _ in
                    memos.clock.advance()
                    return 1
                })
            try db.execute(
                sql: "CREATE TEMP TRIGGER s BEFORE INSERT ON memo BEGIN SELECT advance(); END")
            try Memo("a").insert(db)
            #expect(try db.memoStamps() == "0 0 -")
            #expect(try String.fetchAll(db, sql: "SELECT c FROM log") == [minute(0)])
            try #expect(db.transactionDate == memos.clock.date(1))
            // One that fails leaves no date behind.
            let twin = Memo("b")
            twin.id = 1
            #expect(databaseError { try twin.insert(db) } != nil)
            #expect(twin.stamps == "- - -")
            memos.clock.advance()
            try #expect(db.transactionDate == memos.clock.now)
        }
    }

    @Test(
        "touch writes the stamp alone, through update(columns:)", .behaviour(33),
        arguments: RecordStyle.allCases)
    func touch(style: RecordStyle) throws { try touch(style.memo) }

    private func touch<Memo: MemoRecord>(_: Memo.Type) throws {
        let memo = try memos.inserted(Memo.self)
        try memos.later { db in
            memo.score = 5
            try memo.touch(db)
            #expect(try db.memoStamps() == "0 1 -")
            #expect(try Int.fetchOne(db, sql: "SELECT score FROM memo") == 0)
            try #expect(memo.databaseChanges == ["score": 0.databaseValue])
        }
        #expect(memo.stamps == "0 1 -")
        #expect(memos.writes() == ["UPDATE \"memo\" SET \"updatedAt\" = ? WHERE \"id\" = ?"])
        let stranger = Memo("s")
        stranger.id = 77
        try memos.queue.write { db in
            let missing = RecordError.recordNotFound(databaseTableName: "memo", key: ["id": 77])
            #expect(throws: missing) { try stranger.touch(db) }
        }
        #expect(stranger.stamps == "- - -")
    }

    @Test(
        "touch on a class without the stamp stops the program, with a sentence", .behaviour(33),
        arguments: RecordStyle.allCases)
    func touchWithoutStamp(style: RecordStyle) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [style = style as RecordStyle] in
            crashWithoutBacktrace()
            _ = try DatabaseQueue.withHeroes().write { db in try style.hero.init("a").touch(db) }
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(
            output.contains("touch(_:) was called on a \(style.hero), which has no stamp to update. Override")
        )
    }
}

/// A memo of which a test knows the last update.
private protocol UpdatedMemo: Record {
    var updatedAt: Date? { get set }
}

/// A memo that can refuse to be updated.
private class RefusingMemo: Record {
    enum Refusal { case throwing, silent }
    final var refusal: Refusal?

    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "memo" }
    override class var databaseStamps: DatabaseStamps { DatabaseStamps(updated: "updatedAt") }

    override func update(_ db: Database, columns: Set<String>) throws {
        switch refusal {
        case .throwing: throw CancellationError()
        case .silent: break
        case nil: try super.update(db, columns: columns)
        }
    }
}

private final class PairRefusing: RefusingMemo, UpdatedMemo {
    var id: Int64?
    var updatedAt: Date?

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("updatedAt") { updatedAt = try row["updatedAt"] }
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["updatedAt"] = updatedAt
    }
}

private final class ListedRefusing: RefusingMemo, UpdatedMemo {
    var id: Int64?
    var updatedAt: Date?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
    }
}

private final class CodedRefusing: RefusingMemo, UpdatedMemo, Codable {
    var id: Int64?
    var updatedAt: Date?
}

extension RecordStyle {
    fileprivate var refusingMemo: any (RefusingMemo & UpdatedMemo).Type {
        choose(PairRefusing.self, ListedRefusing.self, CodedRefusing.self)
    }
}

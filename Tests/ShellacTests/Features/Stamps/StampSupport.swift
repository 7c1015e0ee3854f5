import Foundation
import Shellac
import TestSupport

/// A clock whose hand the tests move: from midnight on, a minute at a time.
final class StampClock: Sendable {
    private let start = Date(timeIntervalSince1970: 1_767_225_600)  // 2026-01-01
    private let minutes = Shared(0)

    var now: Date { start + Double(minutes.value * 60) }
    func advance() { minutes.withLock { $0 += 1 } }

    /// The date of a minute.
    func date(_ minute: Int) -> Date { start + Double(minute * 60) }

    func configuration(_ configuration: Configuration = Configuration()) -> Configuration {
        var configuration = configuration
        configuration.transactionClock = .custom { _ in self.now }
        return configuration
    }
}

/// The text of a minute of ``StampClock``.
func minute(_ number: Int) -> String { "2026-01-01 00:0\(number):00.000" }

/// A note: the dates of its creation, of its last update, and of the last change of its title.
protocol MemoRecord: Record, SendableMetatype {
    var id: Int64? { get set }
    var title: String { get set }
    var score: Int { get set }
    var createdAt: Date? { get set }
    var updatedAt: Date? { get set }
    var titleChangedAt: Date? { get set }

    init()
}

extension MemoRecord {
    init(_ title: String) {
        self.init()
        self.title = title
    }

    /// The stamps that the record has, as ``Database/memoStamps(_:)`` returns them.
    var stamps: String {
        [createdAt, updatedAt, titleChangedAt].map { short($0.databaseValue) }.joined(separator: " ")
    }
}

extension RecordStyle {
    /// The memos of this style.
    var memo: any MemoRecord.Type { choose(Memo.self, ListedMemo.self, CodedMemo.self) }
}

/// The base class of memos of all styles, which has no column.
class StampedMemo: Record {
    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "memo" }
    override class var databaseStamps: DatabaseStamps {
        DatabaseStamps(created: "createdAt", updated: "updatedAt")
            .stamping("titleChangedAt", onUpdateOf: "title")
    }
}

final class Memo: StampedMemo, MemoRecord {
    var id: Int64?
    var title = ""
    var score = 0
    var createdAt: Date?
    var updatedAt: Date?
    var titleChangedAt: Date?

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("title") { title = try row["title"] }
        if row.hasColumn("score") { score = try row["score"] }
        if row.hasColumn("createdAt") { createdAt = try row["createdAt"] }
        if row.hasColumn("updatedAt") { updatedAt = try row["updatedAt"] }
        if row.hasColumn("titleChangedAt") { titleChangedAt = try row["titleChangedAt"] }
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["title"] = title
        container["score"] = score
        container["createdAt"] = createdAt
        container["updatedAt"] = updatedAt
        container["titleChangedAt"] = titleChangedAt
    }
}

final class ListedMemo: StampedMemo, MemoRecord {
    var id: Int64?
    var title = ""
    var score = 0
    var createdAt: Date?
    var updatedAt: Date?
    var titleChangedAt: Date?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
        try column("score", score) { score = $0 }
        try column("createdAt", createdAt) { createdAt = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
        try column("titleChangedAt", titleChangedAt) { titleChangedAt = $0 }
    }
}

final class CodedMemo: StampedMemo, MemoRecord, Codable {
    var id: Int64?
    var title = ""
    var score = 0
    var createdAt: Date?
    var updatedAt: Date?
    var titleChangedAt: Date?
}

/// The same as a struct.
struct MemoValue: Codable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var title: String
    var score = 0
    var createdAt: Date?
    var updatedAt: Date?
    var titleChangedAt: Date?

    static let databaseTableName = "memo"
    static let databaseStamps = DatabaseStamps(created: "createdAt", updated: "updatedAt")
        .stamping("titleChangedAt", onUpdateOf: "title")

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

let memoTable = """
    CREATE TABLE memo (id INTEGER PRIMARY KEY, title TEXT COLLATE NOCASE, score INTEGER NOT NULL DEFAULT 0,
        createdAt TEXT, updatedAt TEXT, titleChangedAt TEXT)
    """

extension Database {
    /// The stamps of a row of `memo`: creation, update, change of the title. In short: `0 2 -` for
    /// minutes 0 and 2, and NULL.
    func memoStamps(_ id: Int64 = 1) throws -> String {
        let row = try Row.fetchOne(
            self, sql: "SELECT createdAt, updatedAt, titleChangedAt FROM memo WHERE id = ?", arguments: [id])
        return row?.databaseValues.map(short).joined(separator: " ") ?? "no row"
    }
}

extension Date? {
    fileprivate var databaseValue: DatabaseValue { self?.databaseValue ?? .null }
}

/// A stamp in short: its minute, or `-` for NULL.
func short(_ value: DatabaseValue) -> String {
    guard let text = String.fromDatabaseValue(value) else { return "-" }
    let minutes = (0...9).first { minute($0) == text }
    return minutes.map { "\($0)" } ?? text
}

/// A queue with the table of memos, whose clock shows minute 0.
struct MemoDatabase {
    let clock = StampClock()
    let spy = SQLSpy()
    let queue: DatabaseQueue

    init(registers: Bool = true, path: String? = nil, _ sql: String = memoTable) throws {
        let configuration = clock.configuration(spy.configuration())
        queue =
            try path.map { try DatabaseQueue(path: $0, configuration: configuration) }
            ?? DatabaseQueue(configuration: configuration)
        try queue.inDatabase { db in
            try db.execute(sql: sql)
            try db.execute(sql: "PRAGMA recursive_triggers = ON")
        }
        if registers { try queue.register(Memo.self) }
        spy.removeAll()
    }

    /// A memo that is inserted now.
    func inserted(_ title: String = "a") throws -> Memo { try inserted(Memo.self, title) }

    func inserted<Memo: MemoRecord>(_: Memo.Type, _ title: String = "a") throws -> Memo {
        nonisolated(unsafe) let memo = Memo(title)
        try queue.write { db in try memo.insert(db) }
        spy.removeAll()
        return memo
    }

    /// Runs a transaction, a minute after the one before.
    @discardableResult
    func later<T>(_ body: (Database) throws -> T) throws -> T {
        clock.advance()
        return try queue.write(body)
    }

    /// Returns the writes that were traced, triggers among them.
    func writes() -> [String] {
        spy.removeAll().filter { sql in
            ["INSERT", "UPDATE", "SELECT \"", "DELETE"].contains { sql.hasPrefix($0) }
        }
    }
}

import Shellac

// The records of the suite on columns that were never read: see ``UnreadColumnsTests``.

protocol NoteRecord: Record, SendableMetatype {
    var id: Int64? { get set }
    var title: String { get set }
    var text: String? { get set }
    var stars: Int { get set }

    init()
}

extension NoteRecord {
    // See `HeroRecord.readColumns(of:)`.

    func readColumns(of row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("title") { title = try row["title"] }
        if row.hasColumn("text") { text = try row["text"] }
        if row.hasColumn("stars") { stars = try row["stars"] }
    }

    func encodeColumns(in container: inout PersistenceContainer) {
        container["id"] = id
        container["title"] = title
        container["text"] = text
        container["stars"] = stars
    }

    func listColumns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
        try column("text", text) { text = $0 }
        try column("stars", stars) { stars = $0 }
    }
}

/// The base class of notes of all styles, which has no column.
class TabledNote: Record {
    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "note" }
}

/// One on the way of classes that override what saves, which a will-callback may change.
class WatchedNote: TabledNote {
    final var change: (any NoteRecord) -> Void = { _ in }

    override func willSave(_ db: Database) throws { (self as? any NoteRecord).map(change) }
    override func update(_ db: Database, columns: Set<String>) throws {
        try super.update(db, columns: columns)
    }
}

/// One that is fetched, and reloaded, without some of its columns.
class BriefNote: TabledNote {
    override class var databaseSelection: [any SQLSelectable] { [Column("id"), Column("title")] }
}

/// One that stores its stars from some time on.
class LateNote: TabledNote {
    nonisolated(unsafe) static var storesStars = false  // by one test alone
}

/// One that counts how often it is encoded, and that may make others of the row that it is made of.
class CountedNote: TabledNote {
    nonisolated(unsafe) static var encodings = 0  // by one test alone
    nonisolated(unsafe) static var maker: ((Row) throws -> Void)?

    required init() { super.init() }
    required init(row: Row) throws {
        try super.init(row: row)
        try Self.maker?(row)
    }

    final func counted<Value>(_ value: Value) -> Value {
        Self.encodings += 1
        return value
    }
}

/// One that has other stars than the one before, as long as it has read none.
class NumberedNote: TabledNote {
    nonisolated(unsafe) static var count = 0  // by one test alone

    static var nextStars: Int {
        count += 1
        return count
    }
}

extension RecordStyle {
    var note: any NoteRecord.Type { choose(PairNote.self, ListedNote.self, CodedNote.self) }
    var watchedNote: any (WatchedNote & NoteRecord).Type {
        choose(PairWatched.self, ListedWatched.self, CodedWatched.self)
    }
    var briefNote: any NoteRecord.Type { choose(PairBrief.self, ListedBrief.self, CodedBrief.self) }
    var lateNote: any (LateNote & NoteRecord).Type {
        choose(PairLate.self, ListedLate.self, CodedLate.self)
    }
    var countedNote: any (CountedNote & NoteRecord).Type {
        choose(PairCounted.self, ListedCounted.self, CodedCounted.self)
    }
    var numberedNote: any (NumberedNote & NoteRecord).Type {
        choose(PairNumbered.self, ListedNumbered.self, CodedNumbered.self)
    }
}

class PairNote: TabledNote, NoteRecord {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

class ListedNote: TabledNote, NoteRecord {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

class CodedNote: TabledNote, NoteRecord, Codable {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = 0
}

private final class PairWatched: WatchedNote, NoteRecord {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedWatched: WatchedNote, NoteRecord {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedWatched: WatchedNote, NoteRecord, Codable {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = 0
}

private final class PairBrief: BriefNote, NoteRecord {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedBrief: BriefNote, NoteRecord {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedBrief: BriefNote, NoteRecord, Codable {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = 0
}

// MARK: - Notes that come to store a column

private final class PairLate: LateNote, NoteRecord {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["title"] = title
        container["text"] = text
        if Self.storesStars { container["stars"] = stars }
    }
}

private final class ListedLate: LateNote, NoteRecord {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
        try column("text", text) { text = $0 }
        if Self.storesStars { try column("stars", stars) { stars = $0 } }
    }
}

private class StarredLate: LateNote {
    final var stars = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        if Self.storesStars { try column("stars", stars) { stars = $0 } }
    }
}

private final class CodedLate: StarredLate, NoteRecord, Codable {
    var id: Int64?
    var title = "untitled"
    var text: String?
}

// MARK: - Notes that count

private final class PairCounted: CountedNote, NoteRecord {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws {
        encodeColumns(in: &container)
        container["stars"] = counted(stars)
    }
}

private final class ListedCounted: CountedNote, NoteRecord {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
        try column("text", text) { text = $0 }
        try column("stars", counted(stars)) { stars = $0 }
    }
}

private class StarredCounted: CountedNote {
    final var stars = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("stars", counted(stars)) { stars = $0 }
    }
}

private final class CodedCounted: StarredCounted, NoteRecord, Codable {
    var id: Int64?
    var title = "untitled"
    var text: String?
}

// MARK: - Notes that are numbered

private final class PairNumbered: NumberedNote, NoteRecord {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = 0

    override func updateFromRow(_ row: Row) throws {
        stars = NumberedNote.nextStars
        try readColumns(of: row)
    }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedNumbered: NumberedNote, NoteRecord {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = NumberedNote.nextStars

    override func columns(_ column: borrowing RecordColumns) throws {
        try listColumns(column)
    }
}

private final class CodedNumbered: NumberedNote, NoteRecord, Codable {
    var id: Int64?
    var title = "untitled"
    var text: String?
    var stars = NumberedNote.nextStars
}

@testable import Shellac

/// A record in whose encoding a test may meddle.
protocol CardRecord: AnyCard {
    var id: Int64? { get set }
    var title: String { get set }
    var count: Int { get set }
}

/// The base class of cards of all styles, which has no column.
class AnyCard: Record {
    /// Called once, in the middle of the next encoding.
    final var meddle: ((any CardRecord) -> Void)?
    final var failure: (any Error)?

    override class var databaseTableName: String { "card" }

    /// Returns the value that is encoded in the middle.
    final func meddled<Value>(_ value: @autoclosure () -> Value) throws -> Value {
        if let meddle, let card = self as? any CardRecord {
            self.meddle = nil
            meddle(card)
        }
        if let failure { throw failure }
        return value()
    }

    /// The address of the record's memory.
    final var address: UInt { RememberedRow.View(self).map { UInt(bitPattern: $0.bytes.start) } ?? 0 }

    final var heldLayout: RowLayout? { RememberedRow.View(self).map { $0.layout.object } }
}

private class PairCard: AnyCard, CardRecord {
    var id: Int64?
    var title = ""
    var count = 0

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("title") { title = try row["title"] }
        if row.hasColumn("count") { count = try row["count"] }
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["title"] = try meddled(title)
        container["count"] = count
    }
}

private class ListedCard: AnyCard, CardRecord {
    var id: Int64?
    var title = ""
    var count = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", meddled(title)) { title = $0 }
        try column("count", count) { count = $0 }
    }
}

private class TitledCard: AnyCard {
    final var id: Int64?
    final var title = ""

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", meddled(title)) { title = $0 }
    }
}

private class CodedCard: TitledCard, CardRecord, Codable {
    var count = 0
}

private final class PairSticker: PairCard {}
private final class ListedSticker: ListedCard {}
private final class CodedSticker: CodedCard {}

extension RecordStyle {
    var card: any CardRecord.Type { choose(PairCard.self, ListedCard.self, CodedCard.self) }
    var sticker: any CardRecord.Type {
        choose(PairSticker.self, ListedSticker.self, CodedSticker.self)
    }
}

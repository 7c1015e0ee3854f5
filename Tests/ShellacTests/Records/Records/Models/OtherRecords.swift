import Shellac

// The records of other tables of the suite on saving: see ``RecordPersistenceTests``.

// MARK: - One whose columns are its key

protocol OtherRecord: Record {
    var id: Int64? { get set }

    init()
}

class TabledOther: Record {
    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "other" }
}

private final class PairOther: TabledOther, OtherRecord {
    var id: Int64? = 1

    override func encode(to container: inout PersistenceContainer) { container["id"] = id }
}

private final class ListedOther: TabledOther, OtherRecord {
    var id: Int64? = 1

    override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
}

private final class CodedOther: TabledOther, OtherRecord, Codable {
    var id: Int64? = 1
}

// MARK: - One that takes its row id nowhere

private final class PairForgetful: TabledOther {
    override func encode(to container: inout PersistenceContainer) { container["id"] = nil as Int64? }
}

private final class ListedForgetful: TabledOther {
    override func columns(_ column: borrowing RecordColumns) throws {
        try column.writing("id", nil as Int64?)
    }
}

// MARK: - Ones that cannot be saved

private final class PairColumnless: TabledOther {}

private final class ListedColumnless: TabledOther {
    override func columns(_ column: borrowing RecordColumns) throws {}
}

private final class CodedColumnless: TabledOther, Codable {}

private final class PairKeyless: TabledOther {
    override func encode(to container: inout PersistenceContainer) { container["name"] = "x" }
}

private final class ListedKeyless: TabledOther {
    override func columns(_ column: borrowing RecordColumns) throws { try column.writing("name", "x") }
}

private final class CodedKeyless: TabledOther, Codable {
    var name = "x"
}

// MARK: - One without a table

protocol SumRecord: Record {
    var total: Int { get set }

    init()
}

private final class PairSum: Record, SumRecord {
    var total = 0

    override func updateFromRow(_ row: Row) throws { total = try row["total"] }
}

private final class ListedSum: Record, SumRecord {
    var total = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("total", total) { total = $0 }
    }
}

private final class CodedSum: Record, SumRecord, Codable {
    var total = 0
}

// MARK: - One of which the database fills in columns

protocol ItemRecord: Record {
    var id: Int64? { get set }
    var price: Double { get set }
    var currency: String? { get set }
    var total: Double? { get set }

    init()
}

private class TabledItem: Record {
    override class var databaseTableName: String { "item" }
}

private final class PairItem: TabledItem, ItemRecord {
    var id: Int64?
    var price = 0.0
    var currency: String?
    var total: Double?

    override func updateFromRow(_ row: Row) throws {
        (id, price) = (try row["id"], try row["price"])
        (currency, total) = (try row["currency"], try row["total"])
    }
    override func encode(to container: inout PersistenceContainer) {
        (container["id"], container["price"]) = (id, price)
    }
}

private final class ListedItem: TabledItem, ItemRecord {
    var id: Int64?
    var price = 0.0
    var currency: String?
    var total: Double?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("price", price) { price = $0 }
        try column.reading("currency") { currency = $0 }
        try column.reading("total") { total = $0 }
    }
}

/// The base class of an item, with the columns that a Codable class would store if they were its
/// own properties.
private class FilledItem: TabledItem {
    final var currency: String?
    final var total: Double?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column.reading("currency") { currency = $0 }
        try column.reading("total") { total = $0 }
    }
}

private final class CodedItem: FilledItem, ItemRecord, Codable {
    var id: Int64?
    var price = 0.0
}

extension RecordStyle {
    var other: any OtherRecord.Type { choose(PairOther.self, ListedOther.self, CodedOther.self) }
    /// Nil if there is none: a Codable class takes all that it stores.
    var forgetfulOther: TabledOther.Type? { choose(PairForgetful.self, ListedForgetful.self, nil) }
    var columnless: TabledOther.Type {
        choose(PairColumnless.self, ListedColumnless.self, CodedColumnless.self)
    }
    var keyless: TabledOther.Type { choose(PairKeyless.self, ListedKeyless.self, CodedKeyless.self) }
    var sum: any SumRecord.Type { choose(PairSum.self, ListedSum.self, CodedSum.self) }
    var item: any ItemRecord.Type { choose(PairItem.self, ListedItem.self, CodedItem.self) }
}

import Shellac

/// A record whose key is no integer, or of two columns.
protocol BadgeRecord: Record {
    var country: String { get set }
    var number: Int { get set }
    var name: String { get set }

    init()
}

extension BadgeRecord {
    init(_ country: String, _ number: Int, _ name: String) {
        self.init()
        (self.country, self.number, self.name) = (country, number, name)
    }
}

private class TabledBadge: Record {
    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "badge" }
}

private final class PairBadge: TabledBadge, BadgeRecord {
    var (country, number, name) = ("", 0, "")

    override func updateFromRow(_ row: Row) throws {
        (country, number, name) = (try row["country"], try row["number"], try row["name"])
    }
    override func encode(to container: inout PersistenceContainer) throws {
        (container["country"], container["number"], container["name"]) = (country, number, name)
    }
}

private final class ListedBadge: TabledBadge, BadgeRecord {
    var (country, number, name) = ("", 0, "")

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("country", country) { country = $0 }
        try column("number", number) { number = $0 }
        try column("name", name) { name = $0 }
    }
}

private final class CodedBadge: TabledBadge, BadgeRecord, Codable {
    var country = ""
    var number = 0
    var name = ""
}

extension RecordStyle {
    var badge: any BadgeRecord.Type {
        choose(PairBadge.self, ListedBadge.self, CodedBadge.self)
    }
}

import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A record whose key is a text, or none.
protocol TagRecord: Record {
    var name: String? { get set }
    var color: String { get set }
}

private class TabledTag: Record {
    override class var databaseTableName: String { "tag" }
}

private final class PairTag: TabledTag, TagRecord {
    var name: String?
    var color = "none"

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("name") { name = try row["name"] }
        if row.hasColumn("color") { color = try row["color"] }
    }
    override func encode(to container: inout PersistenceContainer) throws {
        container["name"] = name
        container["color"] = color
    }
}

private final class ListedTag: TabledTag, TagRecord {
    var name: String?
    var color = "none"

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("name", name) { name = $0 }
        try column("color", color) { color = $0 }
    }
}

private final class CodedTag: TabledTag, TagRecord, Codable {
    var name: String?
    var color = "none"
}

/// A record whose key is a date.
protocol DayRecord: Record {
    var title: String { get set }
}

private class TabledDay: Record {
    override class var databaseTableName: String { "day" }
}

private class PairDay: TabledDay, DayRecord {
    var date = Date(timeIntervalSince1970: 0)
    var title = ""

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("date") { date = try row["date"] }
        if row.hasColumn("title") { title = try row["title"] }
    }
    override func encode(to container: inout PersistenceContainer) throws {
        container["date"] = date
        container["title"] = title
    }
}

private class ListedDay: TabledDay, DayRecord {
    var date = Date(timeIntervalSince1970: 0)
    var title = ""

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("date", date) { date = $0 }
        try column("title", title) { title = $0 }
    }
}

private class CodedDay: TabledDay, DayRecord, Codable {
    var date = Date(timeIntervalSince1970: 0)
    var title = ""
}

private final class PairOverridingDay: PairDay {
    override func willSave(_ db: Database) throws {}
}

private final class ListedOverridingDay: ListedDay {
    override func willSave(_ db: Database) throws {}
}

private final class CodedOverridingDay: CodedDay {
    override func willSave(_ db: Database) throws {}
}

extension RecordStyle {
    var tag: any TagRecord.Type { choose(PairTag.self, ListedTag.self, CodedTag.self) }
    func day(overrides: Bool) -> any DayRecord.Type {
        overrides
            ? choose(PairOverridingDay.self, ListedOverridingDay.self, CodedOverridingDay.self)
            : choose(PairDay.self, ListedDay.self, CodedDay.self)
    }
}

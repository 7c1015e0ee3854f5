import Shellac

/// A record with stamps whose properties have defaults.
protocol StampedRecord: Record {
    var id: Int64? { get set }
    var name: String { get set }
    var created: String? { get set }
    var updated: String? { get set }
}

extension RecordStyle {
    var stampedRecord: any StampedRecord.Type {
        choose(PairStamped.self, ListedStamped.self, CodedStamped.self)
    }
}

private class TabledStamped: Record {
    override class var databaseTableName: String { "stamped" }
    override class var databaseStamps: DatabaseStamps {
        DatabaseStamps(created: "created", updated: "updated")
    }
}

private final class PairStamped: TabledStamped, StampedRecord {
    var id: Int64?
    var name = ""
    var created: String? = "the default of a property"
    var updated: String? = "the default of a property"

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("name") { name = try row["name"] }
        if row.hasColumn("created") { created = try row["created"] }
        if row.hasColumn("updated") { updated = try row["updated"] }
    }
    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["name"] = name
        container["created"] = created
        container["updated"] = updated
    }
}

private final class ListedStamped: TabledStamped, StampedRecord {
    var id: Int64?
    var name = ""
    var created: String? = "the default of a property"
    var updated: String? = "the default of a property"

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("created", created) { created = $0 }
        try column("updated", updated) { updated = $0 }
    }
}

private final class CodedStamped: TabledStamped, StampedRecord, Codable {
    var id: Int64?
    var name = ""
    var created: String? = "the default of a property"
    var updated: String? = "the default of a property"
}

import Shellac
import Testing

/// A table whose key finds a row that holds another value: what is compared as equal, and stored in
/// two ways.
enum LooseKey: String, CaseIterable, CustomTestStringConvertible {
    case noCase, rightTrim, added, untyped

    var testDescription: String { rawValue }

    private var declaration: String {
        switch self {
        case .noCase: "TEXT COLLATE NOCASE"
        case .rightTrim: "TEXT COLLATE RTRIM"
        case .added: "TEXT COLLATE swiftCaseInsensitiveCompare"
        case .untyped: ""
        }
    }

    /// Values that are equal to each other.
    var values: [DatabaseValue] {
        switch self {
        case .noCase: ["swift", "Swift", "SWIFT"]
        case .rightTrim: ["swift", "swift ", "swift  "]
        case .added: ["été", "Été", "ÉTÉ"]
        case .untyped: [1, 1.0.databaseValue, 1]
        }
    }

    /// A value that is equal to none of them.
    var other: DatabaseValue { self == .untyped ? 2 : "go" }

    /// Creates the table, with the first of the values and the other one.
    func withTable(
        withoutRowID isWithoutRowID: Bool, _ body: (Database) throws -> Void
    ) throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.add(collation: .caseInsensitiveCompare)
            try createTable(db, withoutRowID: isWithoutRowID)
            try body(db)
        }
    }

    func createTable(_ db: Database, withoutRowID isWithoutRowID: Bool) throws {
        try db.execute(
            sql: """
                CREATE TABLE tag (name \(declaration) NOT NULL PRIMARY KEY, uses INTEGER, code TEXT UNIQUE)
                \(isWithoutRowID ? "WITHOUT ROWID" : "")
                """)
        try db.execute(
            sql: "INSERT INTO tag VALUES (?, 1, 'a'), (?, 1, 'b')", arguments: [values[0], other])
    }
}

/// A record whose key is such a value.
class LooseTag: Record {
    var name = DatabaseValue.null
    var uses = 0
    var code: String?

    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "tag" }
}

final class ListedLooseTag: LooseTag {
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("name", name) { name = $0 }
        try column("uses", uses) { uses = $0 }
        try column("code", code) { code = $0 }
    }
}

class PairLooseTag: LooseTag {
    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("name") { name = try row["name"] }
        if row.hasColumn("uses") { uses = try row["uses"] }
        if row.hasColumn("code") { code = try row["code"] }
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["name"] = name
        container["uses"] = uses
        container["code"] = code
    }
}

/// One that is called around its saves, which takes the longer way.
final class CalledLooseTag: PairLooseTag {
    override func willSave(_ db: Database) throws { try super.willSave(db) }
    override func update(_ db: Database, columns: Set<String>) throws {
        try super.update(db, columns: columns)
    }
}

struct LooseTagRow: FetchableRecord, MutablePersistableRecord {
    var name: DatabaseValue
    var uses: Int
    var code: String?

    static var databaseTableName: String { "tag" }

    init(row: Row) throws { (name, uses, code) = (try row["name"], try row["uses"], try row["code"]) }

    func encode(to container: inout PersistenceContainer) throws {
        container["name"] = name
        container["uses"] = uses
        container["code"] = code
    }
}

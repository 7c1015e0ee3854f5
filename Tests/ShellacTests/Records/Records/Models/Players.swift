import Shellac

// The records of the suite on saving: see ``RecordPersistenceTests``.

protocol PlayerRecord: Record, SendableMetatype {
    var id: Int64? { get set }
    var name: String { get set }
    var score: Int { get set }
    var team: Int64? { get set }

    init()
}

extension PlayerRecord {
    init(name: String, id: Int64? = nil) {
        self.init()
        (self.id, self.name) = (id, name)
    }

    // See `HeroRecord.readColumns(of:)`.

    func readColumns(of row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("name") { name = try row["name"] }
        if row.hasColumn("score") { score = try row["score"] }
        if row.hasColumn("team") { team = try row["team"] }
    }

    func encodeColumns(in container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
        container["score"] = score
        container["team"] = team
    }

    func listColumns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
        try column("team", team) { team = $0 }
    }
}

/// The base class of players of all styles, which has no column.
class TabledPlayer: Record {
    required override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "player" }
}

/// Validates, as seed 001 shows it.
class ValidPlayer: TabledPlayer {
    struct Invalid: Error {}
    final private(set) var validations = 0

    private var ownName: String { (self as? any PlayerRecord)?.name ?? "" }
    private func validate() throws {
        validations += 1
        if ownName.isEmpty { throw Invalid() }
    }
    override func insert(_ db: Database) throws {
        try validate()
        try super.insert(db)
    }
    override func update(_ db: Database, columns: Set<String>) throws {
        try validate()
        try super.update(db, columns: columns)
    }
    override func delete(_ db: Database) throws -> Bool {
        if ownName == "undeletable" { throw Invalid() }
        return try super.delete(db)
    }
}

/// Notes what was inserted.
class NotingPlayer: TabledPlayer {
    final var inserted: [InsertionSuccess] = []
    override func didInsert(_ inserted: InsertionSuccess) { self.inserted.append(inserted) }
}

/// Inserts another one on its way.
class ChainedPlayer: TabledPlayer {
    final var friend: (any PlayerRecord)?
    override func insert(_ db: Database) throws {
        try friend?.insert(db)
        try super.insert(db)
    }
}

/// Updates another one on its way.
class DependentPlayer: TabledPlayer {
    final var friend: (any PlayerRecord)?
    override func willUpdate(_ db: Database, columns: Set<String>) throws { try friend?.update(db) }
}

/// A row of a view.
class ViewedPlayer: TabledPlayer {
    override class var databaseTableName: String { "playerView" }
    override class var databasePrimaryKey: [String]? { ["id"] }
}

class WatchedViewedPlayer: ViewedPlayer {
    override func willSave(_ db: Database) throws {}
}

extension RecordStyle {
    var player: any PlayerRecord.Type {
        choose(PairMember.self, ListedMember.self, CodedMember.self)
    }
    var validPlayer: any (ValidPlayer & PlayerRecord).Type {
        choose(PairValid.self, ListedValid.self, CodedValid.self)
    }
    var notingPlayer: any (NotingPlayer & PlayerRecord).Type {
        choose(PairNoting.self, ListedNoting.self, CodedNoting.self)
    }
    var chainedPlayer: any (ChainedPlayer & PlayerRecord).Type {
        choose(PairChained.self, ListedChained.self, CodedChained.self)
    }
    var dependentPlayer: any (DependentPlayer & PlayerRecord).Type {
        choose(PairDependent.self, ListedDependent.self, CodedDependent.self)
    }
    func viewedPlayer(overrides: Bool) -> any (ViewedPlayer & PlayerRecord).Type {
        overrides
            ? choose(PairWatched.self, ListedWatched.self, CodedWatched.self)
            : choose(PairViewed.self, ListedViewed.self, CodedViewed.self)
    }
}

class PairMember: TabledPlayer, PlayerRecord {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

class ListedMember: TabledPlayer, PlayerRecord {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

class CodedMember: TabledPlayer, PlayerRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?
}

private final class PairValid: ValidPlayer, PlayerRecord {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedValid: ValidPlayer, PlayerRecord {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedValid: ValidPlayer, PlayerRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?
}

private final class PairNoting: NotingPlayer, PlayerRecord {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedNoting: NotingPlayer, PlayerRecord {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedNoting: NotingPlayer, PlayerRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?
}

private final class PairChained: ChainedPlayer, PlayerRecord {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedChained: ChainedPlayer, PlayerRecord {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedChained: ChainedPlayer, PlayerRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?
}

private final class PairDependent: DependentPlayer, PlayerRecord {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedDependent: DependentPlayer, PlayerRecord {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedDependent: DependentPlayer, PlayerRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?
}

private final class PairViewed: ViewedPlayer, PlayerRecord {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedViewed: ViewedPlayer, PlayerRecord {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedViewed: ViewedPlayer, PlayerRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?
}

private final class PairWatched: WatchedViewedPlayer, PlayerRecord {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedWatched: WatchedViewedPlayer, PlayerRecord {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedWatched: WatchedViewedPlayer, PlayerRecord, Codable {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?
}

// MARK: - A player with a rank that no table holds

protocol RankedPlayer: PlayerRecord {
    var rank: Int { get set }
}

extension RecordStyle {
    var rankedPlayer: any RankedPlayer.Type { choose(PairRanked.self, ListedRanked.self, CodedRanked.self) }
}

private final class PairRanked: PairMember, RankedPlayer {
    var rank = 0

    override func updateFromRow(_ row: Row) throws {
        try super.updateFromRow(row)
        rank = try row["rank"]
    }
}

private final class ListedRanked: ListedMember, RankedPlayer {
    var rank = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column.reading("rank") { rank = $0 }
    }
}

private final class CodedRanked: TabledPlayer, RankedPlayer, Codable {
    var id: Int64?
    var name = ""
    var score = 0
    var team: Int64?
    var rank = 0
}

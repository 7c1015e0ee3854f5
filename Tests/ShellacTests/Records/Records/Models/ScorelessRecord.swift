import Shellac

/// A record whose score is not known.
protocol ScorelessRecord: Record {
    var points: Int? { get set }

    init()
}

private class Unscored: TabledHero {
    override class var databaseTableName: String { "scoreless" }
}

private final class PairScoreless: Unscored, ScorelessRecord {
    var points: Int?

    override func updateFromRow(_ row: Row) throws { points = try row["points"] }
    override func encode(to container: inout PersistenceContainer) throws { container["points"] = points }
}

private final class ListedScoreless: Unscored, ScorelessRecord {
    var points: Int?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("points", points) { points = $0 }
    }
}

private final class CodedScoreless: Unscored, ScorelessRecord, Codable {
    var points: Int?
}

extension RecordStyle {
    var scoreless: any ScorelessRecord.Type {
        choose(PairScoreless.self, ListedScoreless.self, CodedScoreless.self)
    }
}

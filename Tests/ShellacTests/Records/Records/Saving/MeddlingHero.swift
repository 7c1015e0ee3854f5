import Shellac

/// A hero that saves itself while it is encoded.
class MeddlingHero: TabledHero {
    final weak var db: Database?
    final var saves = 0

    /// Saves the record, and returns what is encoded.
    final func meddled<Value>(_ value: Value) throws -> Value {
        guard saves > 0, let db else { return value }
        saves -= 1
        if saves == 0 { try update(db) }
        return value
    }
}

private final class PairMeddling: MeddlingHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws {
        encodeColumns(in: &container)
        _ = try meddled(score)
    }
}

private final class ListedMeddling: MeddlingHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", meddled(score)) { score = $0 }
    }
}

private class ScoredMeddling: MeddlingHero {
    final var score = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("score", meddled(score)) { score = $0 }
    }
}

private final class CodedMeddling: ScoredMeddling, HeroRecord, Codable {
    var id: Int64?
    var name = ""
}

extension RecordStyle {
    var meddlingHero: any (MeddlingHero & HeroRecord).Type {
        choose(PairMeddling.self, ListedMeddling.self, CodedMeddling.self)
    }
}

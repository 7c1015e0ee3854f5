import Shellac
import TestSupport

/// A hero that cannot take a row now and then.
class RefusingHero: TabledHero {
    final var refuses = false

    final func checkTaking() throws {
        if refuses { throw TestError(9) }
    }
}

private final class PairRefusing: RefusingHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func updateFromRow(_ row: Row) throws {
        try checkTaking()
        try readColumns(of: row)
    }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedRefusing: RefusingHero, HeroRecord {
    var id: Int64?
    var name = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) {
            try checkTaking()
            id = $0
        }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
    }
}

private class IdentifiedRefusing: RefusingHero {
    final var id: Int64?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) {
            try checkTaking()
            id = $0
        }
    }
}

private final class CodedRefusing: IdentifiedRefusing, HeroRecord, Codable {
    var name = ""
    var score = 0
}

extension RecordStyle {
    var refusingHero: any (RefusingHero & HeroRecord).Type {
        choose(PairRefusing.self, ListedRefusing.self, CodedRefusing.self)
    }
}

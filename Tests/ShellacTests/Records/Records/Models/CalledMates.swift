import Shellac

/// A mate whose callbacks record their calls.
class HeardMate: Crew.AnyMate {
    final private(set) var calls: [String] = []
    override func willInsert(_ db: Database) throws { calls.append("willInsert") }
    override func didInsert(_ inserted: InsertionSuccess) { calls.append("did \(inserted.rowID)") }
}

/// A mate with a callback.
class CalledMate: Crew.AnyMate {
    override func willSave(_ db: Database) throws {}
}

private final class PairHeard: HeardMate, MateRecord {
    var id: Int64?
    var name = ""
    var rank = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedHeard: HeardMate, MateRecord {
    var id: Int64?
    var name = ""
    var rank = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedHeard: HeardMate, MateRecord, Codable {
    var id: Int64?
    var name = ""
    var rank = 0
}

private final class PairCalled: CalledMate, MateRecord {
    var id: Int64?
    var name = ""
    var rank = 0

    override func updateFromRow(_ row: Row) throws { try readColumns(of: row) }
    override func encode(to container: inout PersistenceContainer) throws { encodeColumns(in: &container) }
}

private final class ListedCalled: CalledMate, MateRecord {
    var id: Int64?
    var name = ""
    var rank = 0

    override func columns(_ column: borrowing RecordColumns) throws { try listColumns(column) }
}

private final class CodedCalled: CalledMate, MateRecord, Codable {
    var id: Int64?
    var name = ""
    var rank = 0
}

extension RecordStyle {
    var heardMate: any (HeardMate & MateRecord).Type {
        choose(PairHeard.self, ListedHeard.self, CodedHeard.self)
    }
    var calledMate: any (CalledMate & MateRecord).Type {
        choose(PairCalled.self, ListedCalled.self, CodedCalled.self)
    }
}

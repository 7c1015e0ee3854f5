import Foundation
import Shellac

// The records of random histories whose tables are stamped, in the three styles in which columns
// are declared.

private let stamps = DatabaseStamps(created: "createdAt", updated: "updatedAt")
    .stamping("ratedAt", onUpdateOf: "rating")

/// The one by the older pair of methods.
final class StampedPairAdventurer: PairAdventurer {
    override class var databaseStamps: DatabaseStamps { stamps }

    override func updateFromRow(_ row: Row) throws {
        try readStamps(row)
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        try super.encode(to: &container)
        encodeStamps(to: &container)
    }
}

/// The one which lists its columns.
final class StampedListedAdventurer: ListedAdventurer {
    override class var databaseStamps: DatabaseStamps { stamps }

    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column("createdAt", values.createdAt) { values.createdAt = $0 }
        try column("updatedAt", values.updatedAt) { values.updatedAt = $0 }
        try column("ratedAt", values.ratedAt) { values.ratedAt = $0 }
    }
}

/// The one which leaves its columns to `Codable`.
final class StampedCodedAdventurer: IdentifiedAdventurer, Codable {
    private var name = History.Values().name
    private var score = History.Values().score
    private var rating = History.Values().rating
    private var mood = History.Values().mood
    private var teamID = History.Values().teamID
    private var createdAt = History.Values().createdAt
    private var updatedAt = History.Values().updatedAt
    private var ratedAt = History.Values().ratedAt

    override class var databaseStamps: DatabaseStamps { stamps }

    override var values: History.Values {
        get {
            var values = History.Values()
            (values.name, values.score, values.rating) = (name, score, rating)
            (values.mood, values.teamID) = (mood, teamID)
            (values.createdAt, values.updatedAt, values.ratedAt) = (createdAt, updatedAt, ratedAt)
            return values
        }
        set {
            (name, score, rating) = (newValue.name, newValue.score, newValue.rating)
            (mood, teamID) = (newValue.mood, newValue.teamID)
            (createdAt, updatedAt, ratedAt) = (newValue.createdAt, newValue.updatedAt, newValue.ratedAt)
        }
    }
}

/// The one which is called around its saves.
final class StampedCallingAdventurer: CallingAdventurer {
    override class var databaseStamps: DatabaseStamps { stamps }

    override func updateFromRow(_ row: Row) throws {
        try readStamps(row)
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        try super.encode(to: &container)
        encodeStamps(to: &container)
    }
}

extension Adventurer {
    fileprivate func readStamps(_ row: Row) throws {
        if row.hasColumn("createdAt") { values.createdAt = try row["createdAt"] }
        if row.hasColumn("updatedAt") { values.updatedAt = try row["updatedAt"] }
        if row.hasColumn("ratedAt") { values.ratedAt = try row["ratedAt"] }
    }

    fileprivate func encodeStamps(to container: inout PersistenceContainer) {
        container["createdAt"] = values.createdAt
        container["updatedAt"] = values.updatedAt
        container["ratedAt"] = values.ratedAt
    }
}

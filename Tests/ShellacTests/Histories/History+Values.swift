import Foundation
import Shellac

extension History {
    /// The values of a hero, except its id.
    struct Values: Equatable {
        var name = "a"
        var score: Int?
        var rating: Double?
        var mood: String?
        var teamID: Int64?
        // A class without stamps keeps nil.
        var createdAt: Date?
        var updatedAt: Date?
        var ratedAt: Date?
    }

    /// Some of a hero's columns: bits in the order of ``all``.
    struct Columns {
        static let stamps = ["createdAt", "updatedAt", "ratedAt"]
        static let all = ["name", "score", "rating", "mood", "teamID"] + stamps
        var bits: UInt8
        var names: [String] { Self.all.indices.filter { bits >> $0 & 1 == 1 }.map { Self.all[$0] } }

        /// The names of those that a class has. A class without stamps has a mood in the place of
        /// stamps alone.
        func names(of type: Adventurer.Type) -> [String] {
            if type.isStamped { return names }
            let others = names.filter { !Self.stamps.contains($0) }
            return others.isEmpty ? ["mood"] : others
        }
    }

    /// The date of a minute of the clock.
    static func date(_ minute: Int) -> Date { StampClock().date(minute) }
}

extension History.Values {
    /// Takes some columns of others.
    mutating func take(_ names: [String], of other: Self) {
        for name in names {
            switch name {
            case "name": self.name = other.name
            case "score": score = other.score
            case "rating": rating = other.rating
            case "mood": mood = other.mood
            case "teamID": teamID = other.teamID
            case "createdAt": createdAt = other.createdAt
            case "updatedAt": updatedAt = other.updatedAt
            default: ratedAt = other.ratedAt
            }
        }
    }

    /// Takes given stamps where some columns of others are what they were before.
    mutating func take(_ given: Self, where names: [String], of others: Self, are before: Self) {
        let (old, new) = (
            before.encoded(id: nil, isStamped: true), others.encoded(id: nil, isStamped: true)
        )
        take(names.filter { History.Columns.stamps.contains($0) && old[$0] == new[$0] }, of: given)
    }

    /// The values of a class, which may have no stamps.
    func of(_ type: Adventurer.Type) -> Self {
        var values = self
        if !type.isStamped { values.take(History.Columns.stamps, of: Self()) }
        return values
    }

    /// Returns the encoded values.
    func encoded(id: Int64?, isStamped: Bool) -> [String: DatabaseValue] {
        var columns = [
            "id": id.databaseValue, "name": name.databaseValue, "score": score.databaseValue,
            "rating": rating.databaseValue, "mood": mood.databaseValue, "teamID": teamID.databaseValue,
        ]
        if isStamped {
            columns["createdAt"] = createdAt.databaseValue
            columns["updatedAt"] = updatedAt.databaseValue
            columns["ratedAt"] = ratedAt.databaseValue
        }
        return columns
    }

    init(stored: [String: DatabaseValue]) throws {
        let row = Row(stored.map { ($0.key, $0.value) })
        self.init()
        if row.hasColumn("name") { name = try row["name"] }
        if row.hasColumn("score") { score = try row["score"] }
        if row.hasColumn("rating") { rating = try row["rating"] }
        if row.hasColumn("mood") { mood = try row["mood"] }
        if row.hasColumn("teamID") { teamID = try row["teamID"] }
        if row.hasColumn("createdAt") { createdAt = try row["createdAt"] }
        if row.hasColumn("updatedAt") { updatedAt = try row["updatedAt"] }
        if row.hasColumn("ratedAt") { ratedAt = try row["ratedAt"] }
    }
}

// MARK: - In a program's text

extension History.Columns: CustomStringConvertible {
    var description: String { names.joined(separator: "+") }
}

extension History.Values: CustomStringConvertible {
    /// The values that are not nil.
    var description: String {
        func minute(_ date: Date) -> String { "minute \(Int(date.timeIntervalSince(History.date(0)) / 60))" }
        let others: [String?] = [
            score.map { "score: \($0)" }, rating.map { "rating: \($0)" }, mood.map { "mood: \"\($0)\"" },
            teamID.map { "teamID: \($0)" }, createdAt.map { "createdAt: \(minute($0))" },
            updatedAt.map { "updatedAt: \(minute($0))" }, ratedAt.map { "ratedAt: \(minute($0))" },
        ]
        return "(" + (["name: \"\(name)\""] + others.compactMap(\.self)).joined(separator: ", ") + ")"
    }
}

import Foundation
import Shellac

// The expected stamps: those of triggers here, and those that a record writes itself.

extension HistoryModel {
    /// The date of the transaction, as it is stored.
    var now: DatabaseValue { History.date(transactionMinute ?? minute).databaseValue }

    /// Does what a trigger does after an insertion: it fills in the stamps that the program has not
    /// set.
    mutating func stampInserted(_ id: Int64) {
        guard isStamped, var row = rows.heroes[id] else { return }
        let missing = ["createdAt", "updatedAt"].filter { row[$0] == .null }
        if missing.isEmpty { return }
        for name in missing { row[name] = now }
        rows.heroes[id] = row
        events.append("update hero \(id)")
    }

    /// Does what the triggers do after an update, in one of the orders in which SQLite may run
    /// them.
    mutating func stampUpdated(_ id: Int64, from old: Columns, to new: Columns) {
        guard isStamped else { return }
        if new["rating"] != old["rating"], new["ratedAt"] == old["ratedAt"], new["ratedAt"] != now,
            let before = rows.heroes[id]
        {
            var row = before
            row["ratedAt"] = now
            rows.heroes[id] = row
            events.append("update hero \(id)")
            stampUpdate(id, from: before, to: row)
        }
        stampUpdate(id, from: old, to: new)
    }

    private mutating func stampUpdate(_ id: Int64, from old: Columns, to new: Columns) {
        // An update that sets one of the stamps says itself what is written.
        guard new["updatedAt"] == old["updatedAt"], new["createdAt"] == old["createdAt"],
            new["updatedAt"] != now
        else { return }
        let date = now
        rows.heroes[id]?["updatedAt"] = date
        events.append("update hero \(id)")
    }
}

extension HistoryModel.RecordModel {
    /// Whether a stamp is one that the record was given since it was fetched or saved.
    func isExplicit(_ name: String) -> Bool {
        guard let value = encoded[name], value != .null else { return false }
        return remembered?[name] != value && !isUnread(name)
    }

    /// Takes stamps that its save has written.
    mutating func take(stamps: HistoryModel.Columns) throws {
        for (name, new) in stamps {
            let old = encoded[name] ?? .null
            if old != new { given.append(Given(name: name, old: old, new: new)) }
            try give(new, to: name)
            remembered?[name] = new
            unread[name] = nil
        }
    }

    /// Sets a value of the record.
    mutating func give(_ value: DatabaseValue, to name: String) throws {
        if name == "id" {
            id = Int64.fromDatabaseValue(value)
        } else {
            values.take([name], of: try History.Values(stored: [name: value]))
        }
    }
}

import Shellac

// The expected values and snapshots of records.

extension HistoryModel {
    /// The values of a record, and the row that it remembers.
    struct RecordModel {
        var isStamped: Bool
        var id: Int64?
        var values = History.Values()
        /// The database's values, as far as the record knows them. Nil if it knows none.
        var remembered: Columns?
        /// Whether it knows nothing, and has known: it remembers a row without columns.
        var isEmptied = false
        /// The values encoded right after a fetch that lacked these columns.
        var unread: Columns = [:]
        /// The row that the last save found, and the one that it left. Nil if there was none, or it
        /// was rolled back.
        var lastSave: (before: Columns?, after: Columns)?
        /// The number of times that the remembered row has changed.
        var changes = 0
        /// The ids and stamps that its saves set, and the values before.
        var given: [Given] = []
        /// The record that it is a copy of.
        var original: Int?
        /// Whether it was fetched, and not made.
        var wasFetched = false
        /// Whether its remembered row is uncertain: it was fetched in a transaction that was rolled
        /// back.
        var isUncertain = false

        struct Given {
            let name: String
            let old: DatabaseValue
            let new: DatabaseValue
        }

        init(_ type: Adventurer.Type, id: Int64? = nil, values: History.Values) {
            isStamped = type.isStamped
            self.id = id
            self.values = values
        }
    }
}

extension HistoryModel.RecordModel {
    typealias Columns = HistoryModel.Columns

    var encoded: Columns { values.encoded(id: id, isStamped: isStamped) }

    /// Whether it remembers a row of another key than it has. One that it never read is its own
    /// once it is given.
    var hasOtherKey: Bool {
        guard let remembered, !isUnread("id") else { return false }
        return remembered["id"] != encoded["id"]
    }

    /// The changes that it reports.
    var unsaved: [String: DatabaseValue?] {
        var changes: [String: DatabaseValue?] = [:]
        for (name, value) in encoded {
            let old = hasOtherKey && name != "id" ? nil : remembered?[name]
            if let old, HistoryModel.stored(value, in: name) == old { continue }
            changes.updateValue(old, forKey: name)
        }
        return changes
    }

    /// The changes of its last save that it reports.
    var saved: [String: DatabaseValue?] {
        guard let lastSave else { return [:] }
        let known = lastSave.before?["id"] == lastSave.after["id"] ? lastSave.before : nil
        return lastSave.after.reduce(into: [:]) { changes, column in
            if known?[column.key] != column.value {
                changes.updateValue(known?[column.key], forKey: column.key)
            }
        }
    }

    /// Whether a column was never read, and is as it was.
    func isUnread(_ name: String) -> Bool { unread[name].map { $0 == encoded[name] } ?? false }

    mutating func remember(_ names: some Sequence<String>) {
        var known = hasOtherKey ? [:] : remembered ?? [:]
        for name in names {
            known[name] = encoded[name].map { HistoryModel.stored($0, in: name) }
            unread[name] = nil
        }
        remembered = known
    }

    mutating func rememberAll() {
        isUncertain = false
        isEmptied = false
        remembered = [:]
        remember(encoded.keys)
        unread = [:]
        changes += 1
    }

    mutating func forget() {
        remembered = nil
        isEmptied = lastSave != nil
        unread = [:]
        changes += 1
    }

    /// Goes back to what it was before a transaction or a savepoint.
    ///
    /// - Parameter old: Nil for one that was not there.
    mutating func goBack(to old: Self?) {
        let since = given.dropFirst(old?.given.count ?? 0)
        // The last one comes first. Values that others have set in the record meanwhile stay.
        for value in since.reversed() where encoded[value.name] == value.new {
            try? give(value.old, to: value.name)
        }
        given.removeLast(since.count)
        if let old {
            if changes != old.changes { lastSave = nil }
            (remembered, unread, isEmptied) = (old.remembered, old.unread, old.isEmptied)
            isUncertain = old.isUncertain
        } else if wasFetched {
            isUncertain = true
        } else {
            (remembered, unread, isEmptied, lastSave) = (nil, [:], false, nil)
        }
    }
}

// MARK: - Saves and deletions

extension HistoryModel {
    /// Runs the action of a record for a moment.
    private mutating func come(to moment: History.Moment, _ record: Int) throws {
        guard let deed, deed.record == record, deed.moment == moment else { return }
        self.deed = nil
        switch deed.deed {
        case .change(let columns, let values):
            records[record].values.take(columns.names(of: heroType), of: values)
        case .fail: throw Failure.asked
        case .saveOther(let other): do { try save(other) } catch { if !moment.isPast { throw error } }
        }
    }

    private mutating func come(to moments: [History.Moment], _ record: Int) throws {
        for moment in moments { try come(to: moment, record) }
    }

    mutating func insert(_ record: Int, _ policy: History.Policy) throws {
        try come(to: [.willSave, .willInsert, .beforeSave], record)
        guard try insertInside(record, policy) else { return }
        try come(to: [.afterSave, .didInsert, .didSave], record)
    }

    /// Returns whether a row was written.
    private mutating func insertInside(_ record: Int, _ policy: History.Policy) throws -> Bool {
        try come(to: .beforeInsert, record)
        var columns = records[record].encoded
        var stamps: Columns = [:]
        for name in ["createdAt", "updatedAt"] where isStamped && columns[name] == .null {
            stamps[name] = now
        }
        columns.merge(stamps) { $1 }
        guard let id = try insertRow(columns, policy) else { return false }
        try takeInsertion(record, id, stamps)
        try come(to: .afterInsert, record)
        return true
    }

    private mutating func takeInsertion(_ record: Int, _ id: Int64, _ stamps: Columns) throws {
        let before = records[record].remembered
        if records[record].id == nil {
            let given = RecordModel.Given(name: "id", old: .null, new: id.databaseValue)
            records[record].given.append(given)
            records[record].id = id
        }
        records[record].rememberAll()
        try records[record].take(stamps: stamps)
        records[record].lastSave = records[record].remembered.map { (before, $0) }
    }

    mutating func update(_ record: Int, _ names: some Collection<String>) throws {
        let before = records[record].encoded
        try come(to: [.willSave, .willUpdate, .beforeSave], record)
        try updateInside(record, names, before)
        try come(to: [.afterSave, .didUpdate, .didSave], record)
    }

    /// Updates columns, and those that were changed since the save has begun.
    ///
    /// - Parameter writesAllColumns: Whether the call has not named the columns. A column that was
    ///   never read is then left alone if its value is the same as right after the fetch. In that
    ///   case, it cannot be seen that it was set.
    private mutating func updateInside(
        _ record: Int, _ names: some Collection<String>, _ before: Columns, writesAllColumns: Bool = false
    ) throws {
        try come(to: .beforeUpdate, record)
        let changed = records[record].encoded.filter { before[$0.key] != $0.value }.keys
        let written = Set(names).union(changed)
        try write(record, writesAllColumns ? written.filter { !records[record].isUnread($0) } : written)
        try come(to: .afterUpdate, record)
    }

    private mutating func write(_ record: Int, _ asked: Set<String>) throws {
        let old = records[record]
        var (names, columns, stamps) = (asked, old.encoded, Columns())
        if isStamped {
            // A record that is older than its row puts no old stamp back.
            for name in ["createdAt", "ratedAt"] where !old.isExplicit(name) { names.remove(name) }
            names.insert("updatedAt")
            if !old.isExplicit("updatedAt") { stamps["updatedAt"] = now }
        }
        columns.merge(stamps) { $1 }
        try updateRow(old.id, columns.filter { names.contains($0.key) })
        // The row was found by its key, so that is known.
        records[record].remember(names.union(["id"]))
        (records[record].isEmptied, records[record].isUncertain) = (false, false)
        records[record].changes += 1
        if isStamped {
            // Of a row that it has come to mean, it has never read what it did not write.
            if old.hasOtherKey || old.isEmptied {
                for name in History.Columns.stamps where !names.contains(name) && !old.isExplicit(name) {
                    records[record].unread[name] = old.encoded[name]
                }
            }
            // A trigger may have written it.
            if asked.contains("rating"), !old.isExplicit("ratedAt"), let id = old.id {
                stamps["ratedAt"] = rows.heroes[id]?["ratedAt"]
            }
            // A record without a value takes that of its row.
            for name in ["createdAt", "ratedAt"]
            where asked.contains(name) && old.encoded[name] == .null && old.remembered?[name] != .null {
                if let id = old.id { stamps[name] = rows.heroes[id]?[name] }
            }
            try records[record].take(stamps: stamps)
        }
        records[record].lastSave = records[record].remembered.map { (old.remembered, $0) }
    }

    /// The columns of a full update.
    private func allNames(_ record: Int) -> [String] {
        records[record].encoded.keys.filter { !records[record].isUnread($0) }
    }

    mutating func updateAll(_ record: Int) throws { try update(record, allNames(record)) }

    mutating func updateChanges(_ record: Int) throws -> Bool {
        let changed =
            records[record].hasOtherKey
            ? Array(records[record].encoded.keys) : Array(records[record].unsaved.keys)
        let names = changed.filter { !records[record].isUnread($0) }
        if names.isEmpty { return false }
        try update(record, names)
        return true
    }

    mutating func save(_ record: Int) throws {
        if records[record].id == nil { return try insert(record, .abort) }
        let (names, before) = (allNames(record), records[record].encoded)
        try come(to: [.willSave, .willUpdate, .beforeSave], record)
        do {
            try updateInside(record, names, before, writesAllColumns: true)
            try come(to: [.afterSave, .didUpdate, .didSave], record)
        } catch Failure.notFound {
            try come(to: .willInsert, record)
            _ = try insertInside(record, .abort)
            try come(to: [.afterSave, .didInsert, .didSave], record)
        }
    }

    /// Returns false where the outcome depends on the order in which SQLite looks at constraints.
    mutating func upsert(_ record: Int) throws -> Bool {
        try come(to: [.willSave, .willInsert, .beforeSave, .beforeInsert], record)
        let old = records[record]
        let others = conflicts(with: old.encoded, id: old.id ?? 0)
        guard others.count < 2, old.unread.isEmpty else { return false }
        var (columns, stamps) = (old.encoded, Columns())
        for name in ["createdAt", "updatedAt"] where isStamped && columns[name] == .null {
            stamps[name] = now
        }
        if let other = others.first {
            columns["id"] = nil
            if isStamped, let row = rows.heroes[other] {
                // The row keeps the date of its creation, and is stamped as an update is.
                columns["createdAt"] = nil
                stamps["createdAt"] = row["createdAt"]
                if !old.isExplicit("updatedAt") { stamps["updatedAt"] = now }
                if !old.isExplicit("ratedAt") {
                    columns["ratedAt"] = nil
                    // As SQLite returned it, before the trigger.
                    stamps["ratedAt"] = row["ratedAt"]
                }
            }
            columns["updatedAt"] = stamps["updatedAt"] ?? columns["updatedAt"]
            try updateRow(other, columns)
            if old.id != other {
                let given = RecordModel.Given(
                    name: "id", old: old.id.databaseValue, new: other.databaseValue)
                records[record].given.append(given)
                records[record].id = other
            }
            try takeInsertion(record, other, stamps)
        } else {
            guard let id = try insertRow(columns.merging(stamps) { $1 }, .abort) else { return true }
            try takeInsertion(record, id, stamps)
        }
        try come(to: [.afterInsert, .afterSave, .didInsert, .didSave], record)
        return true
    }

    mutating func delete(_ record: Int) throws -> Bool {
        try come(to: [.willDelete, .beforeDelete], record)
        let isDeleted = deleteRow(records[record].id)
        records[record].forget()
        try come(to: [.afterDelete, .didDelete], record)
        return isDeleted
    }

    /// Writes the date, and nothing else.
    mutating func touch(_ record: Int) throws {
        let (old, date) = (records[record].encoded["updatedAt"] ?? .null, now)
        try records[record].give(date, to: "updatedAt")
        do { try update(record, ["updatedAt"]) } catch {
            if records[record].encoded["updatedAt"] == date { try records[record].give(old, to: "updatedAt") }
            throw error
        }
        records[record].given.append(RecordModel.Given(name: "updatedAt", old: old, new: date))
    }

    /// Reads the row again.
    mutating func reload(_ record: Int) throws {
        guard let id = records[record].id, let row = rows.heroes[id] else { throw Failure.notFound }
        records[record].values = try History.Values(stored: row)
        records[record].rememberAll()
        records[record].remembered = row
    }
}

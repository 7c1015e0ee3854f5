import Shellac

/// What a database and the records of a history are to be: rows, what each record has and remembers, and the events
/// of the transaction. It is a value, so that a savepoint is a copy of it.
struct HistoryModel {
    typealias Columns = [String: DatabaseValue]

    var heroes: [Int64: Columns] = [:]
    var teams: Set<Int64> = [1, 2]
    var records: [RecordModel] = []
    var events: [String] = []

    /// What a record has, and what it remembers.
    struct RecordModel {
        var id: Int64?
        var values = History.Values()
        /// What the database holds, as far as the record knows. Nil where it knows nothing.
        var remembered: Columns?
        /// What was encoded right after a fetch that lacked these columns.
        var unread: Columns = [:]
        /// The ids that insertions gave it, and what stood there before.
        var given: [(id: Int64, before: Int64?)] = []
        /// The record that it is a copy of.
        var original: Int?
        /// Whether it was fetched, and not made.
        var wasFetched = false
        /// Whether what it remembers is not told of: it was fetched in a transaction that was rolled back.
        var isUncertain = false

        var encoded: Columns { values.encoded(id: id) }

        /// Whether it remembers a row of another key than it has. One that it never read is its own once it is given.
        var hasOtherKey: Bool {
            guard let remembered, !isUnread("id") else { return false }
            return remembered["id"] != encoded["id"]
        }

        /// What it tells of its changes.
        var changes: [String: DatabaseValue?] {
            var changes: [String: DatabaseValue?] = [:]
            for (name, value) in encoded {
                let old = hasOtherKey && name != "id" ? nil : remembered?[name]
                if let old, HistoryModel.stored(value, in: name) == old { continue }
                changes.updateValue(old, forKey: name)
            }
            return changes
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
            remembered = [:]
            remember(encoded.keys)
            unread = [:]
        }
    }

    /// What a column makes of a value: that of ratings is NUMERIC.
    static func stored(_ value: DatabaseValue, in name: String) -> DatabaseValue {
        guard name == "rating", case .double(let real) = value.storage, let integer = Int64(exactly: real)
        else {
            return value
        }
        return integer.databaseValue
    }

    // MARK: - Statements

    enum Failure: Error { case constraint, notFound, interrupted, asked }

    var nextID: Int64 { (heroes.keys.max() ?? 0) + 1 }

    /// The rows that stand in the way of a new one.
    func conflicts(with row: Columns, id: Int64, otherThan own: Int64? = nil) -> Set<Int64> {
        var found = Set(heroes.filter { $0.value["name"] == row["name"] }.keys)
        if heroes[id] != nil { found.insert(id) }
        if let own { found.remove(own) }
        return found
    }

    private func checkTeam(of row: Columns) throws {
        if case .int64(let team)? = row["teamID"]?.storage, !teams.contains(team) { throw Failure.constraint }
    }

    /// Returns nil where the row was ignored.
    mutating func insertRow(_ encoded: Columns, _ policy: History.Policy) throws -> Int64? {
        var row = encoded.reduce(into: Columns()) { $0[$1.key] = Self.stored($1.value, in: $1.key) }
        let id: Int64
        if case .int64(let given)? = row["id"]?.storage { id = given } else { id = nextID }
        row["id"] = id.databaseValue
        let others = conflicts(with: row, id: id)
        if !others.isEmpty {
            if policy == .abort { throw Failure.constraint }
            if policy == .ignore { return nil }
        }
        try checkTeam(of: row)
        for other in others { heroes[other] = nil }
        heroes[id] = row
        events.append("insert hero \(id)")
        return id
    }

    mutating func updateRow(_ id: Int64?, _ columns: Columns) throws {
        guard let id, var row = heroes[id] else { throw Failure.notFound }
        for (name, value) in columns { row[name] = Self.stored(value, in: name) }
        if !conflicts(with: row, id: id, otherThan: id).isEmpty { throw Failure.constraint }
        try checkTeam(of: row)
        heroes[id] = row
        events.append("update hero \(id)")
    }

    mutating func deleteRow(_ id: Int64?) -> Bool {
        guard let id, heroes.removeValue(forKey: id) != nil else { return false }
        events.append("delete hero \(id)")
        return true
    }

    mutating func updateRows(_ change: (inout Columns) -> Bool) {
        for (id, row) in heroes {
            var row = row
            guard change(&row) else { continue }
            heroes[id] = row
            events.append("update hero \(id)")
        }
    }

    mutating func deleteTeam(_ id: Int64) {
        guard teams.remove(id) != nil else { return }
        events.append("delete team \(id)")
        for hero in heroes.filter({ $0.value["teamID"] == id.databaseValue }).keys { _ = deleteRow(hero) }
    }

    // MARK: - Records

    mutating func insert(_ record: Int, _ policy: History.Policy) throws {
        guard let id = try insertRow(records[record].encoded, policy) else { return }
        if records[record].id == nil {
            records[record].given.append((id, nil))
            records[record].id = id
        }
        records[record].rememberAll()
    }

    mutating func update(_ record: Int, _ names: some Collection<String>) throws {
        let encoded = records[record].encoded
        try updateRow(records[record].id, encoded.filter { names.contains($0.key) })
        // The row was found by its key, so that is known.
        records[record].remember(Array(names) + ["id"])
    }

    mutating func updateAll(_ record: Int) throws {
        try update(record, records[record].encoded.keys.filter { !records[record].isUnread($0) })
    }

    mutating func updateChanges(_ record: Int) throws -> Bool {
        let changed = records[record].hasOtherKey ? records[record].encoded.keys : nil
        let names = (changed.map(Array.init) ?? Array(records[record].changes.keys))
            .filter { !records[record].isUnread($0) }
        if names.isEmpty { return false }
        try update(record, names)
        return true
    }

    mutating func save(_ record: Int) throws {
        if records[record].id != nil {
            do { return try updateAll(record) } catch Failure.notFound {}
        }
        try insert(record, .abort)
    }

    /// Returns false where the outcome depends on the order in which SQLite looks at constraints.
    mutating func upsert(_ record: Int) throws -> Bool {
        let encoded = records[record].encoded
        let others = conflicts(with: encoded, id: records[record].id ?? 0)
        guard others.count < 2, records[record].unread.isEmpty else { return false }
        guard let other = others.first else {
            try insert(record, .abort)
            return true
        }
        try updateRow(other, encoded.filter { $0.key != "id" })
        if records[record].id != other {
            records[record].given.append((other, records[record].id))
            records[record].id = other
        }
        records[record].rememberAll()
        return true
    }

    // MARK: - Rollbacks

    /// Goes back to an earlier state: of rows, events, and of what records remember. What they have stays, but for the
    /// ids that insertions have given them since.
    mutating func rollBack(to earlier: HistoryModel) {
        (heroes, teams, events) = (earlier.heroes, earlier.teams, earlier.events)
        for index in records.indices {
            var source = index
            while source >= earlier.records.count, let original = records[source].original {
                source = original
            }
            let old = source < earlier.records.count ? earlier.records[source] : nil
            let given = records[index].given.dropFirst(old?.given.count ?? 0)
            if let last = given.last, last.id == records[index].id {
                records[index].id = given.first(where: { $0.id == last.id })?.before
            }
            records[index].given.removeLast(given.count)
            if let old {
                records[index].remembered = old.remembered
                records[index].unread = old.unread
                records[index].isUncertain = old.isUncertain
            } else if records[index].wasFetched {
                records[index].isUncertain = true
            } else {
                records[index].remembered = nil
                records[index].unread = [:]
            }
        }
    }
}

import Foundation
import Shellac

/// The expected state of a database and of the records of a history. It has the rows, the values of
/// each record and those that it remembers, the events of the transaction, and what can be undone.
/// It is a value, so that a savepoint is a copy of it.
struct HistoryModel {
    typealias Columns = [String: DatabaseValue]

    /// The contents of the database.
    struct Rows: Equatable {
        var heroes: [Int64: Columns] = [:]
        var teams: Set<Int64> = [1, 2]
    }

    enum Failure: Error { case constraint, notFound, interrupted, asked, refused }

    var rows = Rows()
    var records: [RecordModel] = []
    var events: [String] = []
    var isInTransaction = false

    let heroType: Adventurer.Type
    /// Whether rows are stamped, by the records that save them and by triggers.
    var isStamped: Bool
    /// The minute that the clock shows, and the one that it showed when the transaction began.
    var minute = 0
    var transactionMinute: Int?

    /// The groups that can be undone and redone, and the rows when the last group was made. Nil if
    /// nothing is recorded.
    var groups: Groups?
    /// An action that a record runs in a callback.
    var deed: (record: Int, moment: History.Moment, deed: History.Deed)?

    init(_ type: Adventurer.Type) {
        heroType = type
        isStamped = type.isStamped
    }

    /// Returns the value as a column stores it: that of ratings is NUMERIC.
    static func stored(_ value: DatabaseValue, in name: String) -> DatabaseValue {
        guard name == "rating", case .double(let real) = value.storage, let integer = Int64(exactly: real)
        else {
            return value
        }
        return integer.databaseValue
    }

    // MARK: - Statements

    /// Runs a statement: what it has done is undone when it fails, and can be undone when it was
    /// alone.
    mutating func statement<Result>(_ body: (inout Self) throws -> Result) rethrows -> Result {
        let (rows, events) = (rows, events)
        do {
            let result = try body(&self)
            if !isInTransaction { makeGroup() }
            return result
        } catch {
            (self.rows, self.events) = (rows, events)
            throw error
        }
    }

    /// Returns the rows that conflict with a new one.
    func conflicts(with row: Columns, id: Int64, otherThan own: Int64? = nil) -> Set<Int64> {
        var found = Set(rows.heroes.filter { $0.value["name"] == row["name"] }.keys)
        if rows.heroes[id] != nil { found.insert(id) }
        if let own { found.remove(own) }
        return found
    }

    private func checkTeam(of row: Columns) throws {
        if case .int64(let team)? = row["teamID"]?.storage, !rows.teams.contains(team) {
            throw Failure.constraint
        }
    }

    /// Returns nil where the row was ignored.
    mutating func insertRow(_ encoded: Columns, _ policy: History.Policy) throws -> Int64? {
        var row = encoded.reduce(into: Columns()) { $0[$1.key] = Self.stored($1.value, in: $1.key) }
        if isStamped { for name in History.Columns.stamps where row[name] == nil { row[name] = .null } }
        let id: Int64
        if case .int64(let given)? = row["id"]?.storage {
            id = given
        } else {
            id = (rows.heroes.keys.max() ?? 0) + 1
        }
        row["id"] = id.databaseValue
        let others = conflicts(with: row, id: id)
        if !others.isEmpty {
            if policy == .abort { throw Failure.constraint }
            if policy == .ignore { return nil }
        }
        try checkTeam(of: row)
        return statement { model in
            for other in others { model.rows.heroes[other] = nil }
            model.rows.heroes[id] = row
            model.events.append("insert hero \(id)")
            model.stampInserted(id)
            return id
        }
    }

    mutating func updateRow(_ id: Int64?, _ columns: Columns) throws {
        guard let id, let old = rows.heroes[id] else { throw Failure.notFound }
        var row = old
        for (name, value) in columns { row[name] = Self.stored(value, in: name) }
        if !conflicts(with: row, id: id, otherThan: id).isEmpty { throw Failure.constraint }
        try checkTeam(of: row)
        statement { $0.change(id, from: old, to: row) }
    }

    private mutating func change(_ id: Int64, from old: Columns, to row: Columns) {
        rows.heroes[id] = row
        events.append("update hero \(id)")
        stampUpdated(id, from: old, to: row)
    }

    mutating func deleteRow(_ id: Int64?) -> Bool {
        guard let id, rows.heroes[id] != nil else { return false }
        statement { $0.remove(id) }
        return true
    }

    private mutating func remove(_ id: Int64) {
        rows.heroes[id] = nil
        events.append("delete hero \(id)")
    }

    mutating func updateRows(_ change: (inout Columns) -> Bool) {
        statement { model in
            // In their order, which that of the events follows.
            for (id, old) in model.rows.heroes.sorted(by: { $0.key < $1.key }) {
                var row = old
                if change(&row) { model.change(id, from: old, to: row) }
            }
        }
    }

    mutating func deleteRows(where isMeant: (Columns) -> Bool) {
        statement { model in
            for id in model.rows.heroes.filter({ isMeant($0.value) }).keys { model.remove(id) }
        }
    }

    mutating func insertTeam(_ id: Int64) {
        statement { model in
            if model.rows.teams.insert(id).inserted { model.events.append("insert team \(id)") }
        }
    }

    mutating func deleteTeam(_ id: Int64) {
        statement { model in
            guard model.rows.teams.remove(id) != nil else { return }
            model.events.append("delete team \(id)")
            for hero in model.rows.heroes.filter({ $0.value["teamID"] == id.databaseValue }).keys {
                model.remove(hero)
            }
        }
    }

    // MARK: - Transactions

    mutating func begin() {
        isInTransaction = true
        transactionMinute = minute
    }

    mutating func commit() {
        isInTransaction = false
        transactionMinute = nil
        makeGroup()
    }

    /// Goes back to an earlier state: of rows, events, and of what records remember. Their
    /// properties stay, except for the ids and stamps that saves have set since.
    mutating func rollBack(to earlier: HistoryModel) {
        (rows, events, groups) = (earlier.rows, earlier.events, earlier.groups)
        (isInTransaction, transactionMinute) = (earlier.isInTransaction, earlier.transactionMinute)
        for index in records.indices {
            var source = index
            while source >= earlier.records.count, let original = records[source].original {
                source = original
            }
            records[index].goBack(to: source < earlier.records.count ? earlier.records[source] : nil)
        }
    }
}

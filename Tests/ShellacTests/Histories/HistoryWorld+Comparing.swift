@testable import Shellac

extension HistoryWorld {
    func compare(_ step: String, _ db: Database) throws {
        func check<T: Equatable>(_ what: String, _ actual: T, _ expected: T) throws {
            if actual != expected {
                throw Difference(step: step, what: "\(what): \(actual), expected \(expected)")
            }
        }
        #if DEBUG
        try check("invariants", db._violations + heroes.flatMap(\._violations), [])
        #endif
        for (index, record) in model.records.enumerated() {
            let hero = heroes[index]
            try check("id of \(index)", hero.id, record.id)
            try check("values of \(index)", hero.values, record.values)
            if record.isUncertain { continue }
            let changes = try hero.databaseChanges.mapValues { $0 }
            let expected = record.unsaved
            try check("changes of \(index)", Self.stored(changes), Self.stored(expected))
            try check("flag of \(index)", hero.hasDatabaseChanges, !expected.isEmpty)
            try check("saved changes of \(index)", Self.stored(hero.savedDatabaseChanges), record.saved)
        }
        if isLost { return }
        var rows: [Int64: HistoryModel.Columns] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT * FROM hero") {
            rows[try row["id"]] = Dictionary(uniqueKeysWithValues: row.map { ($0.0, $0.1) })
        }
        try check("rows", rows, model.rows.heroes)
        try check("teams", try Int64.fetchSet(db, sql: "SELECT id FROM team"), model.rows.teams)
    }

    /// Changes whose old values are as the database holds them.
    private static func stored(_ changes: [String: DatabaseValue?]) -> [String: DatabaseValue?] {
        changes.reduce(into: [:]) { result, change in
            result.updateValue(
                change.value.map { HistoryModel.stored($0, in: change.key) }, forKey: change.key)
        }
    }

    func compareEvents(_ step: String) throws {
        let (expected, actual) = (told(model.events), told(spy.take()))
        model.events = []
        if actual != expected {
            throw Difference(step: step, what: "committed events: \(actual), expected \(expected)")
        }
    }

    /// Events in order. The number of stamps of a row depends on which trigger runs first, which
    /// SQLite does not say.
    private func told(_ events: [String]) -> [String] {
        if !heroType.isStamped { return events.sorted() }
        return zip(events, [""] + events).filter { $0 != $1 }.map(\.0).sorted()
    }

    /// Compares the events of an undo, which may come by its rows in more than one way.
    func compareEvents(_ step: String, from before: HistoryModel.Rows) throws {
        var there: [String: Bool] = [:]
        var changed: Set<String> = []
        func note(_ before: HistoryModel.Rows, _ after: HistoryModel.Rows) {
            for id in Set(before.heroes.keys).union(after.heroes.keys) {
                there["hero \(id)"] = before.heroes[id] != nil
                if before.heroes[id] != after.heroes[id] { changed.insert("hero \(id)") }
            }
            for id in before.teams.union(after.teams) {
                there["team \(id)"] = before.teams.contains(id)
                if before.teams.contains(id) != after.teams.contains(id) { changed.insert("team \(id)") }
            }
        }
        note(before, model.rows)
        let events = spy.take()
        var heard: Set<String> = []
        for event in events {
            let (kind, row) = (event.prefix { $0 != " " }, String(event.drop { $0 != " " }.dropFirst()))
            if there[row] != (kind != "insert") {
                throw Difference(step: step, what: "\(event) is out of place among \(events)")
            }
            there[row] = kind != "delete"
            heard.insert(row)
        }
        if heard != changed {
            throw Difference(step: step, what: "events: \(events), expected those of \(changed.sorted())")
        }
        let ends = there
        note(model.rows, model.rows)
        if ends != there { throw Difference(step: step, what: "events: \(events), which lead elsewhere") }
    }

    func compareUndo(_ step: String) throws {
        guard let undo else { return }
        let actual = (undo.undoCount, undo.redoCount)
        let expected = (model.groups?.undo.count ?? 0, model.groups?.redo.count ?? 0)
        if actual != expected {
            throw Difference(step: step, what: "can undo and redo \(actual), expected \(expected)")
        }
    }
}

/// Keeps the events of committed transactions.
final class CommittedEvents: TransactionObserver {
    private var pending: [String] = []
    private var committed: [String] = []

    func take() -> [String] {
        defer { committed = [] }
        return committed
    }

    func databaseDidChange(with event: DatabaseEvent) {
        pending.append("\(event.kind) \(event.tableName) \(event.rowID)")
    }
    func databaseDidCommit(_ db: Database) {
        committed += pending
        pending = []
    }
    func databaseDidRollback(_ db: Database) { pending = [] }
}

import TestSupport

@testable import Shellac

/// Runs a history on a database and on its model, and compares them after each step.
final class HistoryWorld {
    private let queue: DatabaseQueue
    private let spy = CommittedEvents()
    private let heroType: Adventurer.Type
    private var heroes: [Adventurer] = []
    private var model = HistoryModel()
    /// Whether SQLite has ended the transaction, whose scope goes on.
    private var isLost = false
    private var isRaw = false
    private var savepoints = 0
    private var start: HistoryModel?
    private var log: [String] = []

    struct Difference: Error, CustomStringConvertible {
        let step: String
        let what: String
        var description: String { "\(step): \(what)" }
    }

    init(_ heroType: Adventurer.Type) throws {
        self.heroType = heroType
        queue = try DatabaseQueue()
        try queue.inDatabase { db in try db.execute(sql: Adventurer.schema) }
        queue.add(transactionObserver: spy, extent: .databaseLifetime)
        try queue.inDatabase { db in
            try db.add(
                function: DatabaseFunction("stop", argumentCount: 0) { [weak queue] _ in
                    queue?.interrupt()
                    return 1
                })
        }
    }

    /// Runs a history.
    ///
    /// - Throws: a ``Difference``.
    static func run(_ history: History, _ type: Adventurer.Type) async throws {
        let world = try HistoryWorld(type)
        for step in history.steps {
            if case .run(let operation) = step, try await world.runAsynchronously(operation) { continue }
            try world.inDatabase(step)
        }
    }

    private func inDatabase(_ step: History.Step) throws {
        try queue.inDatabase { db in try run(step, db) }
    }

    // MARK: - Asynchronous accesses

    /// Runs an operation that is one. Returns false for any other.
    private func runAsynchronously(_ operation: History.Operation) async throws -> Bool {
        let earlier = model
        var (expected, actual) = (nil as (any Error)?, nil as (any Error)?)
        switch operation {
        case .saveIn(let number, let columns, let values):
            guard let record = record(number) else { return true }
            do { try model.save(record) } catch {
                expected = error
                model.rollBack(to: earlier)
            }
            // While it is on its way, its owner changes it.
            let hero = heroes[record]
            hero.whenCopied = { [unowned hero] in hero.values.take(columns, of: values) }
            do { try await hero.save(in: queue) } catch { actual = error }
            model.records[record].values.take(columns, of: values)
        case .handOver(let number):
            guard let record = record(number) else { return true }
            do { try model.save(record) } catch {
                expected = error
                model.rollBack(to: earlier)
            }
            do {
                heroes[record] = try await queue.write(sending: heroes[record].copy()) { db, hero in
                    try hero.save(db)
                    return hero
                }
            } catch { actual = error }
        default: return false
        }
        let name = "\(operation)"
        if (expected == nil) != (actual == nil) {
            throw Difference(
                step: name, what: "threw \(actual as Any), expected \(expected as Any)")
        }
        try compareEvents(name)
        try queue.inDatabase { db in try compare(name, db) }
        return true
    }

    // MARK: - Steps

    private func run(_ step: History.Step, _ db: Database) throws {
        switch step {
        case .run(let operation): try run(operation, db)
        case .scope(let scope, let steps, let ending): try run(scope, steps, ending, db)
        }
    }

    private func run(
        _ scope: History.Scope, _ steps: [History.Step], _ ending: History.Ending, _ db: Database
    ) throws {
        if isLost { return }
        let isOutermost = start == nil
        let earlier = model
        if isOutermost {
            start = model
            isRaw = scope == .rawTransaction || scope == .rawSavepoint
        }
        var difference: Difference?
        let inner = { [self] () throws -> TransactionCompletion in
            do {
                for step in steps { try run(step, db) }
            } catch let error as Difference {
                difference = error
                throw error
            }
            if ending == .error { throw HistoryModel.Failure.asked }
            return ending == .commit ? .commit : .rollback
        }
        var failure: (any Error)?
        do {
            switch scope {
            case .transaction: try db.inTransaction(nil, inner)
            case .savepoint: try db.inSavepoint(inner)
            case .rawTransaction: try runRaw(db, "BEGIN", "COMMIT", ["ROLLBACK"], inner)
            case .rawSavepoint:
                savepoints += 1
                let name = savepoints % 2 == 0 ? "Same" : "\"one \(savepoints)\""
                try runRaw(
                    db, "SAVEPOINT \(name)", "RELEASE \(name)", ["ROLLBACK TO \(name)", "RELEASE \(name)"],
                    inner)
            }
        } catch { failure = error }
        if let difference { throw difference }
        let name = "\(scope) \(ending)"
        if isLost {
            if failure == nil {
                throw Difference(step: name, what: "the lost transaction threw nothing at its end")
            }
            if isOutermost { isLost = false }
        } else {
            if (failure != nil) != (ending == .error) {
                throw Difference(step: name, what: "threw \(failure.map { "\($0)" } ?? "nothing")")
            }
            if ending != .commit { model.rollBack(to: earlier) }
        }
        if isOutermost {
            start = nil
            isRaw = false
            try compareEvents(name)
        }
        try compare(name, db)
    }

    private func runRaw(
        _ db: Database, _ begin: String, _ commit: String, _ rollback: [String],
        _ inner: () throws -> TransactionCompletion
    ) throws {
        try db.execute(sql: begin)
        do {
            if try inner() == .commit {
                try db.execute(sql: commit)
            } else {
                for sql in rollback { try db.execute(sql: sql) }
            }
        } catch {
            for sql in rollback { try db.execute(sql: sql) }
            throw error
        }
    }

    // MARK: - Operations

    private func record(_ number: Int) -> Int? {
        let certain = model.records.indices.filter { !model.records[$0].isUncertain }
        return certain.isEmpty ? nil : certain[number % certain.count]
    }

    private func add(_ hero: Adventurer, _ record: HistoryModel.RecordModel) {
        heroes.append(hero)
        model.records.append(record)
    }

    private func run(_ operation: History.Operation, _ db: Database) throws {
        if isLost { return }
        let name = "\(operation)"
        let earlier = model
        var expected: HistoryModel.Failure?
        var actual: (any Error)?
        /// Runs an operation on both sides: what the model throws, the database must throw, too, and nothing else.
        func both(_ model: () throws -> Void, _ database: () throws -> Void) {
            do { try model() } catch { expected = error as? HistoryModel.Failure }
            if expected != nil { self.model.rollBack(to: earlier) }
            do { try database() } catch { actual = error }
        }
        switch operation {
        case .make(let values):
            let hero = heroType.init()
            hero.values = values
            add(hero, HistoryModel.RecordModel(values: values))
        case .fetchAll:
            for hero in try heroType.all(db).prefix(3) { try addFetched(hero) }
        case .fetch(let id): try heroType.one(db, key: id).map { try addFetched($0) }
        case .fetchPart(let id, let columns):
            let columns = ["id"] + columns.names
            let hero = try heroType.one(
                db, sql: "SELECT \(columns.joined(separator: ", ")) FROM hero WHERE id = ?", arguments: [id])
            try hero.map { try addFetched($0, columns) }
        case .fetchJoined(let id):
            let hero = try heroType.one(
                db,
                sql: "SELECT hero.*, team.* FROM hero LEFT JOIN team ON team.id <> hero.id WHERE hero.id = ?",
                arguments: [id])
            try hero.map { try addFetched($0) }
        case .set(let number, let columns, let values):
            guard let record = record(number) else { return }
            heroes[record].values.take(columns, of: values)
            model.records[record].values.take(columns, of: values)
        case .setID(let number, let id):
            guard let record = record(number) else { return }
            heroes[record].id = id.map(Int64.init)
            model.records[record].id = id.map(Int64.init)
        case .insert(let number, let policy):
            guard let record = record(number) else { return }
            both {
                try model.insert(record, policy)
            } _: {
                switch policy {
                case .abort: try heroes[record].insert(db)
                case .ignore: try heroes[record].insert(db, onConflict: .ignore)
                case .replace: try heroes[record].insert(db, onConflict: .replace)
                }
            }
        case .update(let number):
            guard let record = record(number) else { return }
            both {
                try model.updateAll(record)
            } _: {
                try heroes[record].update(db)
            }
        case .updateColumns(let number, let columns):
            guard let record = record(number) else { return }
            both {
                try model.update(record, columns.names)
            } _: {
                try heroes[record].update(db, columns: Set(columns.names))
            }
        case .updateChanges(let number):
            guard let record = record(number) else { return }
            var answers: (Bool?, Bool?)
            both {
                answers.0 = try model.updateChanges(record)
            } _: {
                answers.1 = try heroes[record].updateChanges(db)
            }
            if answers.0 != answers.1 { throw Difference(step: name, what: "returned \(answers)") }
        case .updateChangesModifying(let number, let columns, let values):
            guard let record = record(number) else { return }
            both {
                let before = model.records[record].encoded
                model.records[record].values.take(columns, of: values)
                let changed = model.records[record].encoded.filter { before[$0.key] != $0.value }.keys
                if !changed.isEmpty { try model.update(record, changed) }
            } _: {
                try heroes[record].updateChanges(db) { $0.values.take(columns, of: values) }
            }
            if expected != nil { model.records[record].values.take(columns, of: values) }
        case .save(let number):
            guard let record = record(number) else { return }
            both {
                try model.save(record)
            } _: {
                try heroes[record].save(db)
            }
        case .delete(let number):
            guard let record = record(number) else { return }
            let isThere = model.deleteRow(model.records[record].id)
            model.records[record].remembered = nil
            model.records[record].unread = [:]
            let wasThere = try heroes[record].delete(db)
            if isThere != wasThere { throw Difference(step: name, what: "returned \(wasThere)") }
        case .reload(let number):
            guard let record = record(number) else { return }
            both {
                guard let id = model.records[record].id, let row = model.heroes[id] else {
                    throw HistoryModel.Failure.notFound
                }
                model.records[record].values = try History.Values(stored: row)
                model.records[record].rememberAll()
                model.records[record].remembered = row
            } _: {
                try heroes[record].reload(db)
            }
        case .copy(let number):
            guard let record = record(number) else { return }
            var copy = model.records[record]
            copy.original = record
            add(try heroes[record].copy() as Adventurer, copy)
        case .flag(let number, let flag):
            guard let record = record(number) else { return }
            heroes[record].hasDatabaseChanges = flag
            if flag {
                model.records[record].remembered = nil
                model.records[record].unread = [:]
            } else {
                // What was never read, nor set since, stays unread.
                let unread = model.records[record].unread.filter { model.records[record].isUnread($0.key) }
                model.records[record].rememberAll()
                model.records[record].unread = unread
            }
        case .upsert(let number):
            guard let record = record(number) else { return }
            var isKnown = true
            var copy = model
            isKnown = (try? copy.upsert(record)) ?? true
            guard isKnown else { return }
            both {
                _ = try model.upsert(record)
            } _: {
                try heroes[record].upsert(db)
            }
        case .insertAll(let values):
            let first = heroes.count
            for values in values {
                let hero = heroType.init()
                hero.values = values
                add(hero, HistoryModel.RecordModel(values: values))
            }
            let before = model
            both {
                for record in first..<model.records.count { try model.insert(record, .abort) }
            } _: {
                for (hero, next) in zip(heroes[first...], heroes[first...].dropFirst()) {
                    (hero as? TalkativeAdventurer)?.listener = next
                }
                try heroType.insertAll(db, Array(heroes[first...]))
            }
            for hero in heroes { (hero as? TalkativeAdventurer)?.listener = nil }
            if expected != nil {
                model.rollBack(to: before)
            } else if heroType == TalkativeAdventurer.self, values.count > 1 {
                // All of them are inserted by one statement before the first one tells of it.
                for record in (first + 1)..<model.records.count { model.records[record].values.mood = "told" }
            }
        case .saveWhileEncoding(let number, let other):
            guard let record = record(number), let other = self.record(other), record != other else { return }
            heroes[record].whileEncoding = { [heroes] in try heroes[other].save(db) }
            // The one that is saved first stays saved where the other one fails.
            both {
                try model.save(other)
            } _: {
                try heroes[record].save(db)
            }
            if expected == nil {
                let between = model
                do { try model.save(record) } catch {
                    expected = error as? HistoryModel.Failure
                    model.rollBack(to: between)
                }
            }
            heroes[record].whileEncoding = nil
        case .saveIn, .handOver: return
        default: try runRows(operation, db, both)
        }
        if (expected == nil) != (actual == nil) {
            throw Difference(
                step: name,
                what:
                    "threw \(actual.map { "\($0)" } ?? "nothing"), expected \(expected.map { "\($0)" } ?? "nothing")"
            )
        }
        if start == nil { try compareEvents(name) }
        try compare(name, db)
    }

    /// Runs an operation on rows, which no record takes part in.
    private func runRows(
        _ operation: History.Operation, _ db: Database, _ both: (() throws -> Void, () throws -> Void) -> Void
    ) throws {
        switch operation {
        case .rawInsert(let values):
            both {
                _ = try model.insertRow(values.encoded(id: nil), .abort)
            } _: {
                try db.execute(
                    literal: """
                        INSERT INTO hero (name, score, rating, mood, teamID) VALUES \
                        (\(values.name), \(values.score), \(values.rating), \(values.mood), \(values.teamID))
                        """)
            }
        case .rawUpdate(let id, let values):
            guard model.heroes[Int64(id)] != nil else { return }
            both {
                try model.updateRow(Int64(id), values.encoded(id: Int64(id)).filter { $0.key != "id" })
            } _: {
                try db.execute(
                    literal: """
                        UPDATE hero SET name = \(values.name), score = \(values.score), rating = \(values.rating),
                        mood = \(values.mood), teamID = \(values.teamID) WHERE id = \(id)
                        """)
            }
        case .rawUpdateAll(let score):
            model.updateRows {
                $0["score"] = score.databaseValue
                return true
            }
            try db.execute(literal: "UPDATE hero SET score = \(score)")
        case .rawDelete(let id):
            _ = model.deleteRow(Int64(id))
            try db.execute(literal: "DELETE FROM hero WHERE id = \(id)")
        case .requestUpdate(let score):
            model.updateRows {
                guard $0["score"] == score.databaseValue else { return false }
                $0["score"] = (score + 1).databaseValue
                return true
            }
            _ = try heroType.filter(Column("score") == score).updateAll(db) { _ in Column("score") += 1 }
        case .requestDelete(let score):
            for id in model.heroes.filter({ $0.value["score"] == score.databaseValue }).keys {
                _ = model.deleteRow(id)
            }
            _ = try heroType.filter(Column("score") == score).deleteAll(db)
        case .insertTeam(let id):
            if model.teams.insert(Int64(id)).inserted { model.events.append("insert team \(id)") }
            try db.execute(literal: "INSERT OR IGNORE INTO team VALUES (\(id))")
        case .deleteTeam(let id):
            model.deleteTeam(Int64(id))
            try db.execute(literal: "DELETE FROM team WHERE id = \(id)")
        case .failingStatement:
            both {
                throw HistoryModel.Failure.constraint
            } _: {
                try db.execute(sql: "INSERT INTO hero (name) VALUES ('new'), ('newer'), ('new')")
            }
        case .interruptedStatement:
            if isRaw || model.heroes.isEmpty { return }
            both {
                throw HistoryModel.Failure.interrupted
            } _: {
                try db.execute(
                    sql: """
                        UPDATE hero SET score = (
                            WITH RECURSIVE n(x) AS (SELECT stop() UNION ALL SELECT x + 1 FROM n LIMIT 1000)
                            SELECT max(x) FROM n)
                        """)
            }
            if let start {
                model.rollBack(to: start)
                isLost = true
            }
        default: break
        }
    }

    private func addFetched(_ hero: Adventurer, _ columns: [String]? = nil) throws {
        if type(of: hero) != heroType {
            throw Difference(step: "fetch", what: "a \(type(of: hero)) is no \(heroType)")
        }
        guard let id = hero.id, let row = model.heroes[id] else {
            throw Difference(step: "fetch", what: "the row \(hero.id as Any) is not expected")
        }
        let read = columns.map { columns in row.filter { columns.contains($0.key) } } ?? row
        var record = HistoryModel.RecordModel(id: id, values: try History.Values(stored: read))
        record.remembered = read
        record.wasFetched = true
        record.unread = record.encoded.filter { read[$0.key] == nil }
        add(hero, record)
    }

    // MARK: - Comparing

    private func compare(_ step: String, _ db: Database) throws {
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
            let expected = record.changes
            try check("changes of \(index)", Self.stored(changes), Self.stored(expected))
            try check("flag of \(index)", hero.hasDatabaseChanges, !expected.isEmpty)
        }
        if isLost { return }
        var rows: [Int64: HistoryModel.Columns] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT * FROM hero") {
            rows[try row["id"]] = Dictionary(uniqueKeysWithValues: row.map { ($0.0, $0.1) })
        }
        try check("rows", rows, model.heroes)
        try check("teams", try Int64.fetchSet(db, sql: "SELECT id FROM team"), model.teams)
    }

    /// Changes whose old values are as the database holds them.
    private static func stored(_ changes: [String: DatabaseValue?]) -> [String: DatabaseValue?] {
        changes.reduce(into: [:]) { result, change in
            result.updateValue(
                change.value.map { HistoryModel.stored($0, in: change.key) }, forKey: change.key)
        }
    }

    private func compareEvents(_ step: String) throws {
        let expected = model.events.sorted()
        model.events = []
        let actual = spy.take().sorted()
        if actual != expected {
            throw Difference(step: step, what: "committed events: \(actual), expected \(expected)")
        }
    }
}

/// Keeps the events of committed transactions.
private final class CommittedEvents: TransactionObserver {
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

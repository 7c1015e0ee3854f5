import TestSupport

@testable import Shellac

/// Runs a history on a database and on its model, and compares them after each step.
final class HistoryWorld {
    let queue: DatabaseQueue
    let spy = CommittedEvents()
    let clock = StampClock()
    let heroType: Adventurer.Type
    var heroes: [Adventurer] = []
    var model: HistoryModel
    /// The recorder of the changes of the tables, if there is one.
    var undo: DatabaseUndo?
    private(set) var hasRecorded = false
    /// Whether SQLite has ended the transaction, whose scope goes on.
    var isLost = false
    var isRaw = false
    private var savepoints = 0
    /// The state when the transaction began.
    var start: HistoryModel?

    struct Difference: Error, CustomStringConvertible {
        let step: String
        let what: String
        var description: String { "\(step): \(what)" }
    }

    init(_ heroType: Adventurer.Type) throws {
        self.heroType = heroType
        model = HistoryModel(heroType)
        queue = try DatabaseQueue(configuration: clock.configuration())
        try queue.inDatabase { db in
            try db.execute(sql: heroType.schema)
            if heroType.isStamped { try db.register(heroType.databaseStamps, on: "hero") }
        }
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
            if case .run(let operation) = step {
                if try await world.runAsynchronously(operation) { continue }
                if try world.runBetweenAccesses(operation) { continue }
            }
            try world.inDatabase(step)
            try world.compareUndo("\(step)")
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
            let sent = model.records[record].values
            do { try model.save(record) } catch {
                expected = error
                model.rollBack(to: earlier)
            }
            // While it is on its way, its owner changes it.
            let (hero, names) = (heroes[record], columns.names(of: heroType))
            hero.whenCopied = { [unowned hero] in hero.values.take(names, of: values) }
            do { try await hero.save(in: queue) } catch { actual = error }
            // It takes its stamps if it has the values that were sent.
            let given = model.records[record].values
            model.records[record].values.take(names, of: values)
            model.records[record].values.take(given, where: names, of: values, are: sent)
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
        try compareUndo(name)
        return true
    }

    // MARK: - Between accesses

    /// Runs an operation that is one. Returns false for any other.
    private func runBetweenAccesses(_ operation: History.Operation) throws -> Bool {
        let (name, before) = ("\(operation)", model.rows)
        switch operation {
        case .record(let isOn):
            undo = nil
            undo = isOn ? try DatabaseUndo(queue, tables: ["hero", "team"]) : nil
            model.record(isOn)
            hasRecorded = hasRecorded || isOn
        case .undo, .redo:
            guard let undo else { return true }
            let isPlayed: Bool
            if case .undo = operation { isPlayed = try undo.undo() } else { isPlayed = try undo.redo() }
            let expected = model.play(operation)
            if isPlayed != expected { throw Difference(step: name, what: "returned \(isPlayed)") }
            try compareEvents(name, from: before)
        default: return false
        }
        try queue.inDatabase { db in try compare(name, db) }
        try compareUndo(name)
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
            model.begin()
            isRaw = scope == .rawTransaction || scope == .rawSavepoint
        }
        var difference: Difference?
        let inner = { [self] () throws -> TransactionCompletion in
            do {
                // The transaction has its date from its beginning.
                if isOutermost { _ = try db.transactionDate }
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
            if isOutermost {
                isLost = false
                model.rollBack(to: earlier)
            }
        } else {
            if (failure != nil) != (ending == .error) {
                throw Difference(step: name, what: "threw \(failure.map { "\($0)" } ?? "nothing")")
            }
            if ending != .commit {
                model.rollBack(to: earlier)
            } else if isOutermost {
                model.commit()
            }
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
}

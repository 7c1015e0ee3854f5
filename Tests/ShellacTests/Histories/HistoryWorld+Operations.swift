import TestSupport

@testable import Shellac

extension HistoryWorld {
    func record(_ number: Int) -> Int? {
        let certain = model.records.indices.filter { !model.records[$0].isUncertain }
        return certain.isEmpty ? nil : certain[number % certain.count]
    }

    private func make(_ values: History.Values) {
        let hero = heroType.init()
        hero.values = values.of(heroType)
        add(hero, HistoryModel.RecordModel(heroType, values: values.of(heroType)))
    }

    private func add(_ hero: Adventurer, _ record: HistoryModel.RecordModel) {
        heroes.append(hero)
        model.records.append(record)
    }

    func run(_ operation: History.Operation, _ db: Database) throws {
        if isLost { return }
        let name = "\(operation)"
        var expected: HistoryModel.Failure?
        var actual: (any Error)?
        /// Runs an operation on both sides: what the model throws, the database must throw, too,
        /// and nothing else.
        func both(_ model: () throws -> Void, _ database: () throws -> Void) {
            do { try model() } catch { expected = error as? HistoryModel.Failure }
            do { try database() } catch { actual = error }
        }
        switch operation {
        case .make(let values):
            make(values)
        case .fetchAll:
            for hero in try heroType.all(db).prefix(3) { try addFetched(hero) }
        case .fetch(let id): try heroType.one(db, key: id).map { try addFetched($0) }
        case .fetchPart(let id, let columns):
            let columns = ["id"] + columns.names(of: heroType)
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
            heroes[record].values.take(columns.names(of: heroType), of: values)
            model.records[record].values.take(columns.names(of: heroType), of: values)
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
                try model.update(record, columns.names(of: heroType))
            } _: {
                try heroes[record].update(db, columns: Set(columns.names(of: heroType)))
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
                model.records[record].values.take(columns.names(of: heroType), of: values)
                let changed = model.records[record].encoded.filter { before[$0.key] != $0.value }.keys
                if !changed.isEmpty { try model.update(record, changed) }
            } _: {
                try heroes[record].updateChanges(db) {
                    $0.values.take(columns.names(of: heroType), of: values)
                }
            }
        case .save(let number):
            guard let record = record(number) else { return }
            both {
                try model.save(record)
            } _: {
                try heroes[record].save(db)
            }
        case .delete(let number):
            guard let record = record(number) else { return }
            var answers: (Bool?, Bool?)
            both {
                answers.0 = try model.delete(record)
            } _: {
                answers.1 = try heroes[record].delete(db)
            }
            if answers.0 != answers.1 { throw Difference(step: name, what: "returned \(answers)") }
        case .reload(let number):
            guard let record = record(number) else { return }
            both {
                try model.reload(record)
            } _: {
                try heroes[record].reload(db)
            }
        case .copy(let number):
            guard let record = record(number) else { return }
            var copy = model.records[record]
            copy.original = record
            copy.lastSave = nil
            add(try heroes[record].copy() as Adventurer, copy)
        case .flag(let number, let flag):
            guard let record = record(number) else { return }
            heroes[record].hasDatabaseChanges = flag
            if flag {
                model.records[record].forget()
            } else {
                // A column that was never read, nor set since, stays unread.
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
            for values in values { make(values) }
            let before = model
            // Of a recording that has ended, triggers may be left for a while.
            let tells = heroType == TalkativeAdventurer.self && (undo != nil || !hasRecorded)
            both {
                // They are inserted in a savepoint.
                model.isInTransaction = true
                // One changes the next one, which is inserted by the same statement, unless
                // triggers must see each row.
                for record in first..<model.records.count {
                    if tells, record > first, undo != nil { model.records[record].values.mood = "told" }
                    try model.insert(record, .abort)
                }
                for record in first..<model.records.count where tells && record > first {
                    model.records[record].values.mood = "told"
                }
                model.isInTransaction = before.isInTransaction
                if !model.isInTransaction { model.makeGroup() }
            } _: {
                for (hero, next) in zip(heroes[first...], heroes[first...].dropFirst()) where tells {
                    (hero as? TalkativeAdventurer)?.listener = next
                }
                try heroType.insertAll(db, Array(heroes[first...]))
            }
            for hero in heroes { (hero as? TalkativeAdventurer)?.listener = nil }
            if expected != nil { model.rollBack(to: before) }
        case .saveWhileEncoding(let number, let other):
            guard let record = record(number), let other = self.record(other), record != other else { return }
            heroes[record].whileEncoding = { [heroes] in try heroes[other].save(db) }
            // The one that is saved first stays saved where the other one fails.
            both {
                try model.save(other)
                try model.save(record)
            } _: {
                try heroes[record].save(db)
            }
            heroes[record].whileEncoding = nil
        case .touch(let number):
            guard heroType.isStamped, let record = record(number) else { return }
            both {
                try model.touch(record)
            } _: {
                try heroes[record].touch(db)
            }
        case .saveWithoutStamps(let number):
            guard heroType.isStamped, let record = record(number) else { return }
            both {
                model.isStamped = false
                defer { model.isStamped = true }
                try model.save(record)
            } _: {
                try db.withoutStamps { try heroes[record].save(db) }
            }
        case .during(let moment, let deed, let operation): return try run(operation, moment, deed, db)
        case .moveClock:
            clock.advance()
            model.minute += 1
        case .undo, .redo:
            guard let undo else { return }
            both {
                throw HistoryModel.Failure.refused
            } _: {
                if case .undo = operation { try undo.undo() } else { try undo.redo() }
            }
        case .saveIn, .handOver, .record: return
        default: try runRows(operation, db, both)
        }
        let failure = actual.map(Self.failure)
        if failure != expected.map({ "\($0)" }) {
            throw Difference(
                step: name,
                what: "threw \(failure ?? "nothing"), \(actual as Any), expected \(expected as Any)")
        }
        if start == nil { try compareEvents(name) }
        try compare(name, db)
    }

    /// Returns the model's name for an error.
    private static func failure(_ error: any Error) -> String {
        let failure: HistoryModel.Failure? =
            switch error {
            case let error as HistoryModel.Failure: error
            case RecordError.recordNotFound: .notFound
            case let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT: .constraint
            case let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT: .interrupted
            case let error as DatabaseError where error.resultCode == .SQLITE_MISUSE: .refused
            default: nil
            }
        return failure.map { "\($0)" } ?? "\(error)"
    }

    /// Runs an operation during which its record is called, and does something.
    private func run(
        _ operation: History.Operation, _ moment: History.Moment, _ deed: History.Deed, _ db: Database
    ) throws {
        guard let number = operation.saved, let record = record(number),
            let hero = heroes[record] as? CallingAdventurer
        else { return }
        let run: () throws -> Void
        switch deed {
        case .change(let columns, let values):
            if !moment.allowsChange { return }
            let names = columns.names(of: heroType)
            model.deed = (record, moment, .change(columns, values.of(heroType)))
            run = { [unowned hero] in hero.values.take(names, of: values) }
        case .fail:
            if moment.isPast { return }
            model.deed = (record, moment, .fail)
            run = { throw HistoryModel.Failure.asked }
        case .saveOther(let other):
            guard let other = self.record(other), other != record else { return }
            model.deed = (record, moment, .saveOther(other))
            run = { [heroes] in try heroes[other].save(db) }
        }
        hero.deed = (moment, run)
        defer {
            hero.deed = nil
            model.deed = nil
        }
        try self.run(operation, db)
        if (hero.deed == nil) != (model.deed == nil) {
            throw Difference(
                step: "\(operation)", what: "\(moment) was \(hero.deed == nil ? "" : "not ")called")
        }
    }

    private func addFetched(_ hero: Adventurer, _ columns: [String]? = nil) throws {
        if type(of: hero) != heroType {
            throw Difference(step: "fetch", what: "a \(type(of: hero)) is no \(heroType)")
        }
        guard let id = hero.id, let row = model.rows.heroes[id] else {
            throw Difference(step: "fetch", what: "the row \(hero.id as Any) is not expected")
        }
        let read = columns.map { columns in row.filter { columns.contains($0.key) } } ?? row
        var record = HistoryModel.RecordModel(heroType, id: id, values: try History.Values(stored: read))
        record.remembered = read
        record.wasFetched = true
        record.unread = record.encoded.filter { read[$0.key] == nil }
        add(hero, record)
    }
}

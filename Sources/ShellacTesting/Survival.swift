// Runs work again and again, with something that goes wrong at each of its operations.

import Foundation
import Shellac

/// Something that goes wrong while a program writes.
public enum Breakage: String, CaseIterable, Sendable {
    /// SQLite is interrupted, as by the cancellation of a task.
    case interruption
    /// The storage fails to write, to sync or to delete a file.
    case failingWrites
    /// The machine loses its power: of what was not synced, any part may be lost.
    case powerLoss
    /// The process is killed: what it has written stays.
    case kill
}

/// A breakage that has left a database as it should not be.
public struct SurvivalFailure: Error, CustomStringConvertible {
    /// The breakage and its place, such as `failingWrites after 17 operations`.
    public let moment: String
    /// The fault of the database.
    public let reason: String

    public var description: String { "\(moment): \(reason)" }
}

extension DatabaseTemplate {
    /// Runs work on copies of the template, with one breakage at each of its operations, and
    /// checks the database afterwards.
    ///
    /// ```swift
    /// let released = DatabaseTemplate { dbQueue in try makeMigrator().migrate(dbQueue, upTo: "v7") }
    ///
    /// @Test func migration() throws {
    ///     try released.survives(.interruption, .failingWrites, .powerLoss, .kill) { dbQueue in
    ///         try makeMigrator().migrate(dbQueue)
    ///     }
    /// }
    /// ```
    ///
    /// The work runs once without a breakage. After each breakage, the database must hold what it
    /// held then before the work, or after one of its transactions: no transaction in part. A
    /// transaction that was committed must be there. `integrity_check` and `foreign_key_check` must
    /// find nothing. If nothing is left of the work, it must succeed when it runs again.
    ///
    /// The work must do the same in each run, so use a fixed clock
    /// (`Configuration/transactionClock`), and no random values. It must use the given database,
    /// and no other file.
    ///
    /// - Parameters:
    ///   - breakages: The breakages. All of them if there are none.
    ///   - count: The greatest number of moments for each breakage. If there are more operations,
    ///     the moments are evenly spread.
    ///   - work: The work.
    ///   - check: Checks a database in which the work was broken, and throws if it is not right.
    /// - Returns: The number of moments.
    /// - Throws: a ``SurvivalFailure``, or the error of work that fails without a breakage.
    @discardableResult
    public func survives(
        _ breakages: Breakage..., moments count: Int = 1_000, work: @escaping (DatabaseQueue) throws -> Void,
        check: @escaping (Database) throws -> Void = { _ in }
    ) throws -> Int {
        let survival = try Survival(self, atMost: max(count, 1), work, check)
        return try (breakages.isEmpty ? Breakage.allCases : breakages).reduce(0) {
            try $0 + survival.test($1)
        }
    }
}

/// One piece of work that is broken.
private struct Survival {
    private let template: DatabaseTemplate
    private let limit: Int
    private let work: (DatabaseQueue) throws -> Void
    private let check: (Database) throws -> Void
    /// The contents before the work, after each of its commits, and at the end.
    private let states: [[String]]

    init(
        _ template: DatabaseTemplate, atMost limit: Int, _ work: @escaping (DatabaseQueue) throws -> Void,
        _ check: @escaping (Database) throws -> Void
    ) throws {
        (self.template, self.limit, self.work, self.check) = (template, limit, work, check)
        let queue = try template.makeQueue()
        let recorder = StateRecorder()
        var states = [try queue.inDatabase { db in try db.content() }]
        queue.add(transactionObserver: recorder, extent: .databaseLifetime)
        try work(queue)
        states += recorder.states
        states.append(try queue.inDatabase { db in try db.content() })
        self.states = states
    }

    /// Breaks the work at its operations. Returns the number of moments.
    func test(_ breakage: Breakage) throws -> Int {
        switch breakage {
        case .interruption: try interrupt()
        case .failingWrites: try failWrites()
        case .powerLoss, .kill: try crash(breakage)
        }
    }

    /// Calls a function with moments that are evenly spread over a number of operations.
    private func spread(over count: Int, _ body: (Int) throws -> Void) rethrows -> Int {
        let moments = min(count, limit)
        for index in 0..<moments { try body(index * count / moments) }
        return moments
    }

    // MARK: - Work that gets an error

    private func interrupt() throws -> Int {
        let counter = StepCounter(limit: nil)
        let queue = try template.makeQueue()
        try counter.count(queue) { try work(queue) }
        return try spread(over: counter.steps) { step in
            let queue = try template.makeQueue()
            let counter = StepCounter(limit: step)
            let error = failure { try counter.count(queue) { try work(queue) } }
            guard counter.hasStruck else { return }
            try verify(queue, after: error, "interruption after \(step) steps")
        }
    }

    /// A run of the work on a faulty storage.
    private struct StorageRun {
        let queue: DatabaseQueue
        let error: (any Error)?
        /// The number of operations before the one that fails.
        let count: Int
        let hasStruck: Bool
    }

    private func failWrites() throws -> Int {
        let folder = try Folder()
        let (storage, operations) = (
            FaultyStorage(), Set<FaultyStorage.Operation>([.write, .truncate, .sync, .delete])
        )
        /// Runs the work on a storage whose operation of a number fails.
        func run(_ number: Int, at path: String) throws -> StorageRun {
            let queue = try template.makeQueue(path: path, vfs: storage.name)
            storage.fault = FaultyStorage.Fault(operations, after: number)
            defer { storage.fault = nil }
            let error = failure { try work(queue) }
            return StorageRun(
                queue: queue, error: error, count: number - (storage.fault?.count ?? 0),
                hasStruck: storage.faultsCount > 0)
        }
        let clean = try run(.max, at: folder.path("clean"))
        if let error = clean.error { throw error }
        return try spread(over: clean.count) { number in
            let path = folder.path("\(number)")
            defer { folder.remove("\(number)") }
            let broken = try run(number, at: path)
            guard broken.hasStruck else { return }
            try verify(broken.queue, after: broken.error, "failingWrites after \(number) operations")
            try broken.queue.close()
        }
    }

    private func failure(_ body: () throws -> Void) -> (any Error)? {
        do {
            try body()
            return nil
        } catch {
            return error
        }
    }

    /// Checks a database after work that has failed, or that has got over its breakage.
    private func verify(_ queue: DatabaseQueue, after error: (any Error)?, _ moment: String) throws {
        let content = try inspect(queue, moment)
        guard let error else {
            guard content == states.last else {
                throw SurvivalFailure(
                    moment: moment,
                    reason: "the work has thrown no error, but the database does not hold all of its changes")
            }
            return
        }
        guard states.contains(content) else {
            throw SurvivalFailure(
                moment: moment,
                reason: "after \(error), the database holds a state that no transaction of the work leaves: "
                    + difference(content))
        }
        guard content == states.first else { return }
        try work(queue)
        guard try queue.inDatabase({ db in try db.content() }) == states.last else {
            throw SurvivalFailure(
                moment: moment, reason: "the work ran again without an error, but its result is another one")
        }
    }

    /// Returns what a database holds, if it is intact.
    private func inspect(_ queue: DatabaseQueue, _ moment: String) throws -> [String] {
        try queue.inDatabase { db in
            let damage = try String.fetchAll(db, sql: "PRAGMA integrity_check")
            guard damage == ["ok"] else {
                throw SurvivalFailure(moment: moment, reason: damage.joined(separator: "; "))
            }
            do { try db.checkForeignKeys() } catch {
                throw SurvivalFailure(moment: moment, reason: "foreign keys are violated: \(error)")
            }
            do { try check(db) } catch {
                throw SurvivalFailure(moment: moment, reason: "the check has failed: \(error)")
            }
            return try db.content()
        }
    }

    private func difference(_ content: [String]) -> String {
        let before = Set(states.first ?? [])
        let news = content.filter { !before.contains($0) }.prefix(3)
        return news.isEmpty ? "something is missing" : news.joined(separator: ", ")
    }

    // MARK: - Work that is cut off

    private func crash(_ breakage: Breakage) throws -> Int {
        let folder = try Folder()
        let (storage, log, path) = (FaultyStorage(), WriteLog(), folder.path("clean"))
        let queue = try template.makeQueue(path: path, vfs: storage.name)
        let image = try Data(contentsOf: URL(filePath: path))
        storage.log = log
        let marker = CommitMarker(log)
        queue.add(transactionObserver: marker, extent: .databaseLifetime)
        try work(queue)
        log.mark(states.count - 1)
        // Without a sync for each commit, a power loss may take the last ones away.
        let isDurable = try queue.inDatabase { db in
            try breakage == .kill || Int.fetchOne(db, sql: "PRAGMA synchronous") ?? 0 >= 2
        }
        return try spread(over: log.count + 1) { count in
            // (Each moment has a seed of its own, so that it repeats, whatever came before.)
            var generator = SeededGenerator(seed: UInt64(count))
            for share in breakage == .kill ? [100] : [0, 50, 100] {
                let (files, acknowledged) = log.files(after: count, from: [path: [UInt8](image)]) {
                    Int.random(in: 0..<100, using: &generator) < share
                }
                let moment = "\(breakage.rawValue) after \(count) operations"
                let content = try self.content(of: files, of: path, folder, moment)
                let last = states.lastIndex(of: content)
                guard let last else {
                    throw SurvivalFailure(
                        moment: moment,
                        reason: "the database holds a state that no transaction of the work leaves: "
                            + difference(content))
                }
                if isDurable, let acknowledged, last < min(acknowledged, states.count - 1) {
                    throw SurvivalFailure(moment: moment, reason: "a committed transaction is lost")
                }
            }
        }
    }

    /// Returns what a database holds whose files were left by a crash.
    private func content(
        of files: [String: [UInt8]], of path: String, _ folder: Folder, _ moment: String
    ) throws -> [String] {
        defer { folder.remove("found") }
        for (name, bytes) in files where name.hasPrefix(path) && !name.hasSuffix("-shm") {
            try Data(bytes).write(to: URL(filePath: folder.path("found") + name.dropFirst(path.count)))
        }
        let queue = try template.open(path: folder.path("found"))
        defer { try? queue.close() }
        return try inspect(queue, moment)
    }
}

// Runs a workload while something goes wrong, and compares everything before and after.

import Foundation
import ShellacTesting
import TestSupport
import Testing

@testable import Shellac

/// A task that a program performs in a database completely, or not at all.
struct Workload: Sendable, CustomTestStringConvertible {
    let name: String
    /// Makes records, and returns the work with them.
    let prepare: @Sendable (any DatabaseWriter) throws -> Run

    /// The work, and the records that it saves.
    struct Run {
        var records: [Record] = []
        /// Other facts that must stay the same if the work fails.
        var facts: () -> [String] = { [] }
        let body: () throws -> Void
    }

    var testDescription: String { name }
}

/// One run of a workload, and the state that a failure must not change.
final class BrokenRun {
    struct Failure: Error, CustomStringConvertible {
        let workload: String
        let breakage: String
        let what: String
        var description: String { "\(workload), \(breakage): \(what)" }
    }

    let workload: Workload
    let writer: any DatabaseWriter
    private let run: Workload.Run
    private let spy = ObserverSpy()

    /// - Parameter writer: A database filled by ``Workload/fill(_:)``.
    init(_ workload: Workload, _ writer: any DatabaseWriter) throws {
        (self.workload, self.writer) = (workload, writer)
        run = try workload.prepare(writer)
        writer.add(transactionObserver: spy, extent: .databaseLifetime)
    }

    /// Runs the workload to its end, and returns the content of the database.
    func finish() throws -> [String] {
        try run.body()
        return try writer.inDatabase { db in try db.everything() }
    }

    enum Outcome { case untouched, failed, forgiven }

    /// Runs the workload while something goes wrong.
    ///
    /// - Throws: a ``Failure`` if the workload has failed and has changed anything.
    func strike(_ breakage: some SteppedFault, named name: @autoclosure () -> String) throws -> Outcome {
        func fail(_ what: String) -> Failure {
            Failure(workload: workload.name, breakage: name(), what: what)
        }
        let before = try state()
        spy.removeAll()
        var thrown: (any Error)?
        try breakage.strike(writer) { do { try run.body() } catch { thrown = error } }
        guard breakage.hasStruck else {
            if let thrown { throw fail("it threw though nothing went wrong: \(thrown)") }
            return .untouched
        }
        guard let thrown else {
            // SQLite tolerates some failures, and so does the library.
            return .forgiven
        }
        guard let error = thrown as? DatabaseError, breakage.causes(error) else {
            throw fail("it threw \(thrown)")
        }
        if error.message?.isEmpty ?? true { throw fail("the error has no message") }
        let log = spy.removeAll()
        if log.contains("didCommit") { throw fail("observers were notified of a commit: \(log)") }
        if let last = log.last, last != "didRollback" { throw fail("observers were notified of \(log)") }
        let after = try state()
        if after != before {
            let changes = zip(before, after).filter { $0 != $1 }.map { "\($0) → \($1)" }
            throw fail("it threw \(error), and \(before.count) facts became \(after.count): \(changes)")
        }
        let violations = try writer.inDatabase { db in
            try db.isUsable() ? db._violations : ["the connection is not usable"]
        }
        if !violations.isEmpty { throw fail("\(violations)") }
        return .failed
    }

    /// Lets operation n of a workload fail, for n = 0, `stride`, … until nothing fails. After each
    /// failure, a second attempt must succeed.
    ///
    /// - Parameter run: Makes a run of the workload with a new database.
    /// - Returns: The number of failed runs, and the number of forgiven ones.
    static func strikeEverywhere(
        stride: Int, run: () throws -> BrokenRun, fault: (Int) -> some SteppedFault, named: (Int) -> String
    ) throws -> (failures: Int, forgiven: Int) {
        let expected = try run().finish()
        var (count, failures, forgiven) = (0, 0, 0)
        while true {
            let run = try run()
            switch try run.strike(fault(count), named: named(count)) {
            case .untouched: return (failures, forgiven)
            case .forgiven:
                forgiven += 1
                try #expect(
                    run.writer.inDatabase { db in try db.everything() } == expected,
                    "\(run.workload.name), \(named(count))")
            case .failed:
                failures += 1
                try #expect(run.finish() == expected, "\(run.workload.name), \(named(count))")
            }
            count += stride
        }
    }

    /// The content of the database, and of the records.
    private func state() throws -> [String] {
        var state = try writer.inDatabase { db in try db.everything() }
        for record in run.records {
            let values = try record.databaseDictionary.sorted { $0.key < $1.key }
                .map { "\($0.key): \($0.value)" }
            state.append("\(values), changes: \(try record.databaseChanges.keys.sorted())")
            state += record._violations
        }
        return state + run.facts()
    }
}

extension Database {
    /// The schema and all rows, as texts. Dates are left out, because a second attempt writes
    /// others.
    func everything() throws -> [String] {
        try content { $0.replacing(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}/, with: "date") }
    }
}

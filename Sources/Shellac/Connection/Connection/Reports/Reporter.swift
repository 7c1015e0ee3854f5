// Passes reports to the configured callback, which must not use the database itself.

import CSQLite

/// Passes on reports of the work of a group's connections: see ``Configuration/reportHandler``.
final class Reporter: Sendable {
    private let database: String
    private let report: @Sendable (DatabaseReport) -> Void
    /// The threads that are delivering a report, usually none or one.
    private let telling = Lock<[UInt]>([])

    /// Fails if the configuration has no report function.
    init?(_ configuration: Configuration, _ database: String) {
        guard let report = configuration.reportHandler else { return nil }
        (self.database, self.report) = (database, report)
    }

    func tell(_ event: DatabaseReport.Event, of connection: String) {
        let thread = shellac_thread()
        telling.withLock { $0.append(thread) }
        report(DatabaseReport(database: database, connection: connection, event: event))
        telling.withLock { telling in
            if let place = telling.lastIndex(of: thread) { telling.remove(at: place) }
        }
    }

    /// Traps if the running thread is delivering a report: the report function must not use the
    /// database.
    func checkOutside() {
        let thread = shellac_thread()
        if telling.withLock({ $0.contains(thread) }) { trapInside() }
    }

    @inline(never)
    private func trapInside() -> Never {
        Misuse.trap(
            "the database \(database) was used by its own Configuration.reportHandler. This function receives "
                + "reports of all that the database does, so it would cause reports itself. Have it write "
                + "elsewhere: to a log, or to a database without a report.")
    }
}

extension Database {
    /// Reports an event of the access, if there is a report function, which must not use the
    /// connection.
    func report(_ event: @autoclosure () -> DatabaseReport.Event) {
        guard let reporter else { return }
        let event = event()
        access.forbidding { reporter.tell(event, of: name) }
    }

    /// Reports a run that has ended. Successful statements that begin or end a transaction are not
    /// reported.
    func report(_ measure: StatementMeasure, of statement: Statement, hasRun: Bool, error: (any Error)?) {
        guard let report = measure.end(statement, hasRun: hasRun, error: error) else { return }
        self.report(.statement(report))
    }
}

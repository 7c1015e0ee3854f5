// Reports of finished statements, accesses, transactions and checkpoints, and of index advice.

import CSQLite

/// A report of a database's work, for ``Configuration/reportHandler``.
///
/// ```swift
/// configuration.reportHandler = { report in print(report) }
/// // game.reader.1: 0.214 ms, 12 rows: SELECT * FROM player WHERE teamId = ?
/// // game.reader.1: read at Game/Players.swift:20 waited 0.001 ms, and ran 0.390 ms
/// ```
public struct DatabaseReport: Sendable, CustomStringConvertible {
    /// An event, which is reported at its end.
    public enum Event: Sendable {
        /// A statement.
        case statement(StatementReport)
        /// An access, through `read`, `write` or a similar method.
        case access(AccessReport)
        /// An explicit transaction. A statement outside of one is a transaction of its own, and is
        /// only reported as a statement.
        case transaction(TransactionReport)
        /// A checkpoint of the write-ahead log: those of a pool, and
        /// ``Database/checkpoint(_:on:)``.
        case checkpoint(CheckpointReport)
        /// A statement that an index would help. It is reported once.
        case advice(IndexAdvice)
    }

    /// The name of the database: its label, or else its path.
    public let database: String

    /// The name of the connection. It is that of the database or, in a pool, a name such as
    /// `game.writer` or `game.reader.1`.
    public let connection: String

    /// The event.
    public let event: Event

    public var description: String {
        let text =
            switch event {
            case .statement(let run): "\(run)"
            case .access(let access): "\(access)"
            case .transaction(let transaction): "\(transaction)"
            case .checkpoint(let checkpoint): "\(checkpoint)"
            case .advice(let advice): "\(advice)"
            }
        return "\(connection): \(text)"
    }
}

/// A statement that has ended.
///
/// Statements of the C interface and of SQL triggers are not reported. Statements that begin and
/// end transactions are only reported if they fail: see ``TransactionReport``.
public struct StatementReport: Sendable, CustomStringConvertible {
    /// The SQL, without the bound values. Values that you write into the SQL itself also appear in
    /// reports.
    public let sql: String
    /// Whether Shellac runs the statement itself, without a request of the program. Such statements
    /// read the schema, the connection's settings, or whether another connection has changed the
    /// database.
    ///
    /// ```swift
    /// configuration.reportHandler = { report in
    ///     if case .statement(let run) = report.event, !run.isInternal { log(run.sql) }
    /// }
    /// ```
    public let isInternal: Bool
    /// The time from the beginning of the run to its end. While a cursor is open, this includes the
    /// program's own time.
    public let duration: Duration
    /// The number of rows that the statement returned.
    public let rowCount: Int
    /// The number of rows that the statement inserted, updated and deleted. It includes the changes
    /// of triggers and foreign key actions, and those in the shadow tables of virtual tables.
    public let changedRowCount: Int
    /// The number of steps from one row to the next in tables that were read without an index. See
    /// "SQLITE_STMTSTATUS_FULLSCAN_STEP" in the SQLite documentation.
    public let fullScanSteps: Int
    /// The number of sorts, which an index may save.
    public let sortCount: Int
    /// The number of rows that were put into an index created by SQLite for this run only.
    public let automaticIndexRows: Int
    /// The error, if the statement has failed or was interrupted.
    public let resultCode: ResultCode?

    /// The first word of the SQL, such as `SELECT`.
    public var operation: String {
        sql.prefix { $0.isLetter || $0 == "_" }.uppercased()
    }

    public var description: String {
        var text = "\(duration.formattedMilliseconds) ms, \(rowCount) rows"
        if changedRowCount > 0 { text += ", \(changedRowCount) changed" }
        if fullScanSteps > 0 { text += ", \(fullScanSteps) read without an index" }
        if sortCount > 0 { text += ", \(sortCount) sorts" }
        if automaticIndexRows > 0 { text += ", \(automaticIndexRows) put into an automatic index" }
        if let resultCode { text += ", \(resultCode)" }
        return "\(text): \(sql)"
    }
}

/// An access that has ended.
public struct AccessReport: Sendable, CustomStringConvertible {
    /// The place in the program that requested the access.
    public let site: CallSite
    /// The time that the access waited for its turn. (A wait for other processes happens in the
    /// statements. A barrier waits for readers while it runs.)
    public let waited: Duration
    /// The time that the access had the connection. It is zero for an access that was cancelled
    /// before its turn, or that found the database closed.
    public let ran: Duration
    /// The type of the error that the access has thrown, if any, such as `DatabaseError`.
    public let errorType: String?
    /// The number of users of the connections when the access got its turn.
    public let occupancy: ConnectionOccupancy

    public var description: String {
        "\(site) waited \(waited.formattedMilliseconds) ms, and ran \(ran.formattedMilliseconds) ms, \(occupancy)"
            + (errorType.map { ", and threw a \($0)" } ?? "")
    }
}

/// The usage of the connections that were available to an access: the writer, or the readers.
public struct ConnectionOccupancy: Sendable, Hashable, CustomStringConvertible {
    /// The number of connections in use, including that of the access.
    public let used: Int
    /// The maximum number of connections in use.
    public let maximum: Int
    /// The number of waiting accesses.
    public let waiting: Int

    public var description: String { "\(used) of \(maximum) in use, \(waiting) in line" }
}

/// A transaction that has ended. (The transaction of a ``DatabaseSnapshot`` ends with the snapshot,
/// and is not reported.)
public struct TransactionReport: Sendable, CustomStringConvertible {
    /// The outcome of the transaction.
    public let completion: TransactionCompletion
    /// Whether a read-only access began the transaction.
    public let isReadOnly: Bool
    /// The time that the transaction was open, including the wait for its lock.
    public let duration: Duration
    /// The time to commit the transaction or roll it back, as a part of the duration. It is zero if
    /// SQLite has ended the transaction itself.
    public let ending: Duration
    /// The number of rows that were inserted, updated and deleted in it.
    public let changedRowCount: Int
    /// The error that made SQLite roll back the transaction, if any.
    public let resultCode: ResultCode?

    public var description: String {
        let end = completion == .commit ? "committed" : "rolled back"
        return
            "\(end) after \(duration.formattedMilliseconds) ms, \(changedRowCount) rows changed, of which the end took "
            + "\(ending.formattedMilliseconds) ms" + (resultCode.map { ", for \($0)" } ?? "")
    }
}

/// A checkpoint that has ended.
public struct CheckpointReport: Sendable, CustomStringConvertible {
    /// The requested mode.
    public let mode: Database.CheckpointMode
    /// The time that the checkpoint took.
    public let duration: Duration
    /// The number of frames in the log, or -1 if unknown.
    public let walFrameCount: Int
    /// The number of copied frames, or -1 if unknown.
    public let checkpointedFrameCount: Int
    /// The error, if the checkpoint has failed. It is `SQLITE_BUSY` if another connection was in
    /// the way.
    public let resultCode: ResultCode?

    public var description: String {
        "\(mode) checkpoint of \(checkpointedFrameCount) of \(walFrameCount) frames in \(duration.formattedMilliseconds) ms"
            + (resultCode.map { ", \($0)" } ?? "")
    }
}

extension Duration {
    /// Returns the time since a moment of `shellac_time()`.
    static func since(_ start: UInt64) -> Duration { .nanoseconds(Int64(clamping: shellac_time() &- start)) }

    /// The duration in milliseconds, with three decimals.
    var formattedMilliseconds: String {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        let decimals = "\(1000 + microseconds % 1000)".dropFirst()
        return "\(microseconds / 1000).\(decimals)"
    }
}

extension ResultCode {
    /// Creates the code of a failure. Fails if the code means success.
    init?(failing code: Int32) {
        if code == 0 { return nil }
        self.init(rawValue: code)
    }

    /// Creates the code of an error.
    init?(of error: (any Error)?) {
        guard let error else { return nil }
        switch error {
        case let error as DatabaseError: self = error.extendedResultCode
        case is CancellationError: self = .SQLITE_INTERRUPT
        default: self = .SQLITE_ERROR
        }
    }
}

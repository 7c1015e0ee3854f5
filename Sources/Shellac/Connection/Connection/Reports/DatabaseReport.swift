// Reports of finished statements, accesses, transactions and checkpoints, and of index advice.

import CSQLite

/// What a database has done, as ``Configuration/report`` hears of it.
///
/// ```swift
/// configuration.report = { report in print(report) }
/// // game.reader.1: 0.214 ms, 12 rows: SELECT * FROM player WHERE teamId = ?
/// // game.reader.1: read at Game/Players.swift:20 waited 0.001 ms, and ran 0.390 ms
/// ```
public struct DatabaseReport: Sendable, CustomStringConvertible {
    /// What has come to its end.
    public enum Event: Sendable {
        /// A statement.
        case statement(StatementReport)
        /// An access: what `read`, `write` and their kin give.
        case access(AccessReport)
        /// A transaction that was begun. A statement outside of one is one of its own, and told of as a statement.
        case transaction(TransactionReport)
        /// A checkpoint of the write-ahead log: those of a pool, and ``Database/checkpoint(_:on:)``.
        case checkpoint(CheckpointReport)
        /// A statement that an index would help. It is told of once.
        case advice(IndexAdvice)
    }

    /// The name of the database: its label, or else its path.
    public let database: String

    /// The name of the connection: that of the database, or, of a pool, one such as `game.writer` or `game.reader.1`.
    public let connection: String

    /// What has come to its end.
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

/// A statement that has come to its end.
///
/// Statements that the C interface runs, and those of SQL triggers, are not told of; nor are those that begin and end transactions,
/// unless they fail: see ``TransactionReport``.
public struct StatementReport: Sendable, CustomStringConvertible {
    /// The SQL. The values that were bound to it are not in it: whoever writes values into SQL, writes them into reports.
    public let sql: String
    /// Whether Shellac has asked it by itself, and the program has asked for nothing of the kind: to know the schema, whether somebody else
    /// has changed the database, and what a connection is set to.
    ///
    /// ```swift
    /// configuration.report = { report in
    ///     if case .statement(let run) = report.event, !run.isInternal { log(run.sql) }
    /// }
    /// ```
    public let isInternal: Bool
    /// How long it took, from the beginning of its run to the end. While a cursor is open, that is the program's own time, too.
    public let duration: Duration
    /// How many rows it gave.
    public let rowCount: Int
    /// How many rows were inserted, updated and deleted by it, and by what it set off: triggers, actions of foreign keys, and what
    /// virtual tables keep elsewhere.
    public let changedRowCount: Int
    /// How many steps were made from one row to the next, in tables that no index was used for: see
    /// "SQLITE_STMTSTATUS_FULLSCAN_STEP" in the SQLite documentation.
    public let fullScanSteps: Int
    /// How many sorts there were, which an index may save.
    public let sortCount: Int
    /// How many rows were put into an index that SQLite has made for this run alone.
    public let automaticIndexRows: Int
    /// The error, if it has failed, or was interrupted.
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

/// An access that has come to its end.
public struct AccessReport: Sendable, CustomStringConvertible {
    /// Who has asked for it.
    public let site: CallSite
    /// How long it waited for its turn. (For other processes, statements wait. A barrier waits for those who read while it runs.)
    public let waited: Duration
    /// How long it had the connection. It is zero for an access that was cancelled before its turn, or found the database closed.
    public let ran: Duration
    /// The type of the error that it has thrown, if it has, such as `DatabaseError`.
    public let errorType: String?
    /// How many used the connections when the access got its turn.
    public let occupancy: ConnectionOccupancy

    public var description: String {
        "\(site) waited \(waited.formattedMilliseconds) ms, and ran \(ran.formattedMilliseconds) ms, \(occupancy)"
            + (errorType.map { ", and threw a \($0)" } ?? "")
    }
}

/// How many used the connections that an access could have got: the one that writes, or those that read.
public struct ConnectionOccupancy: Sendable, Hashable, CustomStringConvertible {
    /// How many connections were in use, with that of the access.
    public let used: Int
    /// How many can be in use.
    public let maximum: Int
    /// How many stood in line.
    public let waiting: Int

    public var description: String { "\(used) of \(maximum) in use, \(waiting) in line" }
}

/// A transaction that has come to its end. (That of a ``DatabaseSnapshot`` ends with the snapshot, and is not told of.)
public struct TransactionReport: Sendable, CustomStringConvertible {
    /// How it ended.
    public let completion: TransactionCompletion
    /// Whether it was begun by an access that only reads.
    public let isReadOnly: Bool
    /// How long it was open, with what it waited for its lock.
    public let duration: Duration
    /// How long it took to commit it, or to roll it back: this is a part of the duration, and zero where SQLite has done it by itself.
    public let ending: Duration
    /// How many rows were inserted, updated and deleted in it.
    public let changedRowCount: Int
    /// The error for which SQLite has rolled it back by itself, if it has.
    public let resultCode: ResultCode?

    public var description: String {
        let end = completion == .commit ? "committed" : "rolled back"
        return
            "\(end) after \(duration.formattedMilliseconds) ms, \(changedRowCount) rows changed, of which the end took "
            + "\(ending.formattedMilliseconds) ms" + (resultCode.map { ", for \($0)" } ?? "")
    }
}

/// A checkpoint that has come to its end.
public struct CheckpointReport: Sendable, CustomStringConvertible {
    /// What it was asked for.
    public let mode: Database.CheckpointMode
    /// How long it took.
    public let duration: Duration
    /// How many frames the log had, or -1 where that is not known.
    public let walFrameCount: Int
    /// How many of them are copied, or -1 where that is not known.
    public let checkpointedFrameCount: Int
    /// The error, if it has failed: `SQLITE_BUSY` where somebody was in the way.
    public let resultCode: ResultCode?

    public var description: String {
        "\(mode) checkpoint of \(checkpointedFrameCount) of \(walFrameCount) frames in \(duration.formattedMilliseconds) ms"
            + (resultCode.map { ", \($0)" } ?? "")
    }
}

extension Duration {
    /// The time since a moment of `shellac_time()`.
    static func since(_ start: UInt64) -> Duration { .nanoseconds(Int64(clamping: shellac_time() &- start)) }

    /// Milliseconds, with three decimals.
    var formattedMilliseconds: String {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        let decimals = "\(1000 + microseconds % 1000)".dropFirst()
        return "\(microseconds / 1000).\(decimals)"
    }
}

extension ResultCode {
    /// The code of a failure, or nil for that of a success.
    init?(failing code: Int32) {
        if code == 0 { return nil }
        self.init(rawValue: code)
    }

    /// The code of an error.
    init?(of error: (any Error)?) {
        guard let error else { return nil }
        switch error {
        case let error as DatabaseError: self = error.extendedResultCode
        case is CancellationError: self = .SQLITE_INTERRUPT
        default: self = .SQLITE_ERROR
        }
    }
}

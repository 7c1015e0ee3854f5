// The statement trace of a connection: its events, its options and its callback.

import CSQLite

/// An event that a trace reports.
///
/// The description shows the SQL. It includes the bound values if the configuration makes them
/// public: ``Configuration/publicStatementArguments``.
public struct TraceEvent: CustomStringConvertible {
    /// The kind of the event.
    public enum Kind: Sendable, Hashable {
        /// A statement begins.
        case statement
        /// A statement has ended, after the given duration.
        case profile(Duration)
    }

    /// The kind of the event.
    public let kind: Kind

    /// The SQL, without values. For a statement of a trigger, it is a comment that names the
    /// trigger.
    public let sql: String

    /// Whether Shellac runs the statement itself, without a request of the program. Such statements
    /// read the schema, the connection's settings, or whether another connection has changed the
    /// database.
    public let isInternal: Bool

    fileprivate let statement: TracedStatement
    /// Whether the SQL is that of the statement, rather than a comment that names a trigger.
    fileprivate let isStatement: Bool
    fileprivate let showsValues: Bool

    /// The SQL with its bound values, during the call that received the event. Later, it is the SQL
    /// without values.
    public var expandedSQL: String {
        guard let pointer = statement.pointer, let text = sqlite3_expanded_sql(pointer) else { return sql }
        defer { sqlite3_free(text) }
        return String(cString: text)
    }

    /// The description with the bound values, regardless of the configuration, during the call that
    /// received the event.
    public var expandedDescription: String { description(isStatement ? expandedSQL : sql) }

    public var description: String { description(showsValues && isStatement ? expandedSQL : sql) }

    private func description(_ text: String) -> String {
        switch kind {
        case .statement: text
        case .profile(let duration):
            "\(duration.formattedMilliseconds) ms \(text)"
        }
    }
}

/// The statement of an event, which is only available while the event is reported.
private final class TracedStatement {
    var pointer: OpaquePointer?
    init(_ pointer: OpaquePointer?) { self.pointer = pointer }
}

/// The events that a trace reports.
public struct TraceOptions: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The beginning of each statement.
    public static let statement = TraceOptions(rawValue: UInt32(SQLITE_TRACE_STMT))
    /// The end of each statement, with its duration.
    public static let profile = TraceOptions(rawValue: UInt32(SQLITE_TRACE_PROFILE))
}

/// The owner of a trace function.
final class Tracer {
    let trace: @Sendable (TraceEvent) -> Void
    private unowned(unsafe) let database: Database  // which owns this
    private let showsValues: Bool
    /// Whether the trace ignores the running statements.
    var isSilent = false

    init(_ trace: @escaping @Sendable (TraceEvent) -> Void, of database: Database) {
        (self.trace, self.database) = (trace, database)
        showsValues = database.configuration.publicStatementArguments
    }

    func hear(_ event: UInt32, _ statement: OpaquePointer?, _ detail: UnsafeMutableRawPointer?) {
        if isSilent { return }
        let kind: TraceEvent.Kind
        var sql = statement.flatMap { sqlite3_sql($0) }.map { String(cString: $0) } ?? ""
        var isStatement = true
        if event == UInt32(SQLITE_TRACE_PROFILE) {
            let nanoseconds = detail?.loadUnaligned(as: Int64.self) ?? 0
            kind = .profile(.nanoseconds(nanoseconds))
        } else {
            kind = .statement
            if let text = detail?.assumingMemoryBound(to: CChar.self) {
                let detail = String(cString: text)
                isStatement = detail == sql
                sql = detail
            }
        }
        let traced = TracedStatement(statement)
        defer { traced.pointer = nil }
        let event = TraceEvent(
            kind: kind, sql: sql.withoutTrailingBlanks, isInternal: database.isAskingByItself,
            statement: traced, isStatement: isStatement, showsValues: showsValues)
        trace(event)
    }
}

extension Database {
    /// Sets a function that is called for each statement the connection runs. It replaces the
    /// previous one.
    ///
    /// ```swift
    /// db.trace(options: .profile) { event in print(event) }
    /// let players = try Player.fetchAll(db)
    /// db.trace(nil)
    /// ```
    ///
    /// The function must not use the database.
    ///
    /// - Parameters:
    ///   - options: The events to report. By default, it is the beginning of each statement, so
    ///     that each is reported once. With an empty set, nothing is reported.
    ///   - trace: The function. Nil restores ``Configuration/trace``, if the configuration has one,
    ///     and stops the trace otherwise.
    public func trace(options: TraceOptions = .statement, _ trace: (@Sendable (TraceEvent) -> Void)?) {
        checkAccess()
        guard !isClosed else { return }
        let options = trace == nil ? configuration.traceOptions : options
        guard let trace = trace ?? configuration.trace, !options.isEmpty else {
            sqlite3_trace_v2(pointer, 0, nil, nil)
            exchangeTracer(for: nil)
            return
        }
        let tracer = Tracer(trace, of: self)
        sqlite3_trace_v2(
            pointer, options.rawValue,
            { event, context, statement, detail in
                let tracer = Unretained<Tracer>(context: context.unsafelyUnwrapped).object
                tracer.hear(event, statement.map { OpaquePointer($0) }, detail)
                return 0
            }, Unretained(tracer).context)
        exchangeTracer(for: tracer)
    }

    /// Exchanges the tracer. Objects that the old one holds are freed after the exchange is
    /// complete.
    private func exchangeTracer(for tracer: Tracer?) {
        let old = hooks.tracer
        hooks.tracer = tracer
        withExtendedLifetime(old) {}
    }
}

extension String {
    /// The SQL without trailing white space and semicolons.
    fileprivate var withoutTrailingBlanks: String {
        var sql = utf8[...]
        while let last = sql.last, last == 0x20 || 0x09...0x0D ~= last || last == UInt8(ascii: ";") {
            sql.removeLast()
        }
        return String(Substring(sql))
    }
}

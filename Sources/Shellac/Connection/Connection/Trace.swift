// The statement trace of a connection: its events, its options and its callback.

import CSQLite

/// An event that a trace hears of.
///
/// The description shows the SQL, with the values bound to it where the configuration says that they are
/// public: ``Configuration/publicStatementArguments``.
public struct TraceEvent: CustomStringConvertible {
    /// The kind of the event.
    public enum Kind: Sendable, Hashable {
        /// A statement begins.
        case statement
        /// A statement has ended, after so long.
        case profile(Duration)
    }

    /// The kind of the event.
    public let kind: Kind

    /// The SQL, without values. A statement of a trigger is shown as a comment that names the trigger.
    public let sql: String

    /// Whether Shellac asks it by itself, and the program has asked for nothing of the kind: to know the schema, whether somebody else has
    /// changed the database, and what a connection is set to.
    public let isInternal: Bool

    fileprivate let statement: TracedStatement
    /// Whether the SQL is that of the statement, and not a comment that names a trigger.
    fileprivate let isStatement: Bool
    fileprivate let showsValues: Bool

    /// The SQL with the values bound to it: for the duration of the call that got the event. Later, it is the SQL
    /// without values.
    public var expandedSQL: String {
        guard let pointer = statement.pointer, let text = sqlite3_expanded_sql(pointer) else { return sql }
        defer { sqlite3_free(text) }
        return String(cString: text)
    }

    /// The description with the values bound to the SQL, whatever the configuration says: for the duration of the call that got the
    /// event.
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

/// The statement of an event, as long as the event is being heard.
private final class TracedStatement {
    var pointer: OpaquePointer?
    init(_ pointer: OpaquePointer?) { self.pointer = pointer }
}

/// The events that a trace is to hear of.
public struct TraceOptions: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The beginning of each statement.
    public static let statement = TraceOptions(rawValue: UInt32(SQLITE_TRACE_STMT))
    /// The end of each statement, with its duration.
    public static let profile = TraceOptions(rawValue: UInt32(SQLITE_TRACE_PROFILE))
}

/// Keeps the function of a trace.
final class Tracer {
    let trace: @Sendable (TraceEvent) -> Void
    private unowned(unsafe) let database: Database  // which owns this
    private let showsValues: Bool
    /// Whether nobody is to hear of what runs now.
    var isDeaf = false

    init(_ trace: @escaping @Sendable (TraceEvent) -> Void, of database: Database) {
        (self.trace, self.database) = (trace, database)
        showsValues = database.configuration.publicStatementArguments
    }

    func hear(_ event: UInt32, _ statement: OpaquePointer?, _ detail: UnsafeMutableRawPointer?) {
        if isDeaf { return }
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
    /// Calls `trace` for each statement that the connection runs, in the place of whatever was called before.
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
    ///   - options: The events that it hears of: by default, the beginning of each statement, so that each is told once. Without any, nobody
    ///     hears anything.
    ///   - trace: The function. Nil gives the connection back to ``Configuration/trace``, where the configuration has one, and stops the
    ///     trace otherwise.
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

    /// Exchanges the tracer. What the old one holds is freed when nobody is in the middle of the exchange.
    private func exchangeTracer(for tracer: Tracer?) {
        let old = hooks.tracer
        hooks.tracer = tracer
        withExtendedLifetime(old) {}
    }
}

extension String {
    /// The SQL without the white space and semicolons behind it.
    fileprivate var withoutTrailingBlanks: String {
        var sql = utf8[...]
        while let last = sql.last, last == 0x20 || 0x09...0x0D ~= last || last == UInt8(ascii: ";") {
            sql.removeLast()
        }
        return String(Substring(sql))
    }
}

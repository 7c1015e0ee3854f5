import Foundation

/// Keeps what is reported to it, from any thread.
public final class Recorder<Element: Sendable>: @unchecked Sendable {  // `recorded` is touched under `lock`
    private let lock = NSLock()
    private var recorded: [Element] = []

    public init() {}

    public func record(_ element: Element) { lock.withLock { recorded.append(element) } }

    /// All that was reported, in order.
    public var elements: [Element] { lock.withLock { recorded } }

    /// Forgets what was reported, and returns it.
    @discardableResult
    public func removeAll() -> [Element] {
        lock.withLock {
            defer { recorded = [] }
            return recorded
        }
    }
}

/// Keeps the SQL of the statements that a connection runs.
///
/// ```swift
/// let spy = SQLSpy()
/// let dbQueue = try DatabaseQueue(configuration: spy.configuration())
/// ```
public struct SQLSpy: Sendable {
    private let recorder = Recorder<String>()

    public init() {}

    /// The SQL, without values, in order.
    public var sql: [String] { recorder.elements }

    /// Returns the recorded elements, and forgets them.
    @discardableResult
    public func removeAll() -> [String] { recorder.removeAll() }

    /// A trace that records each statement.
    public var trace: @Sendable (TraceEvent) -> Void {
        { event in if event.kind == .statement { recorder.record(event.sql) } }
    }

    /// Returns a configuration whose connections are traced.
    public func configuration(_ configuration: Configuration = Configuration()) -> Configuration {
        var configuration = configuration
        configuration.trace = trace
        return configuration
    }
}

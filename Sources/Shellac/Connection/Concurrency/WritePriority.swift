/// The priority of a write among those that wait for the writer.
///
/// ```swift
/// try dbPool.write(priority: .urgent) { db in try payment.insert(db) }
/// ```
public enum WritePriority: Sendable {
    /// The order of arrival, behind urgent writes.
    case normal

    /// Ahead of waiting normal writes. Use it for what a user waits for, for example beside an
    /// import of thousands of small writes.
    ///
    /// No write waits for ever: after eight urgent ones in a row, the first normal one has its
    /// turn. A running access is not interrupted.
    case urgent

    /// The number of urgent accesses after which a waiting normal one has its turn.
    static let maximumUrgentInARow = 8
}

/// Who goes first, of those who wait for the access of a writer.
///
/// ```swift
/// try dbPool.write(priority: .urgent) { db in try payment.insert(db) }
/// ```
public enum WritePriority: Sendable {
    /// In the order of arrival, behind the urgent ones.
    case normal

    /// Ahead of the normal ones that wait: what a user waits for, say, beside an import of thousands of small writes.
    ///
    /// Nobody waits for ever: after eight urgent ones in a row it is the turn of the first normal one. A running access is
    /// not interrupted.
    case urgent

    /// After how many urgent accesses it is the turn of a normal one that waits.
    static let mostUrgentInARow = 8
}

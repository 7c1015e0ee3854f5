/// The progress of a long-running operation.
///
/// ```swift
/// try dbQueue.vacuum { progress in
///     print("\(progress.completedCount) of \(progress.totalCount ?? 0) pages")
/// }
/// ```
public struct WorkProgress: Hashable, Sendable {
    /// The completed part of the work. The operation that reports it documents the unit: rows,
    /// bytes or pages.
    public let completedCount: Int

    /// The total amount of work, or nil if it is unknown.
    public let totalCount: Int?

    /// The number of rows read or written so far.
    public let rowCount: Int

    /// Whether the operation is complete.
    public let isCompleted: Bool

    init(completed: Int, of total: Int?, rows: Int, isCompleted: Bool = false) {
        (completedCount, totalCount, rowCount, self.isCompleted) = (completed, total, rows, isCompleted)
    }

    /// The completed fraction of the work, from 0 to 1. Nil if the total is unknown.
    public var fraction: Double? {
        if isCompleted { return 1 }
        guard let totalCount, totalCount > 0 else { return nil }
        return min(Double(completedCount) / Double(totalCount), 1)
    }
}

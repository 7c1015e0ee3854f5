/// How far a long piece of work has come.
///
/// ```swift
/// try dbQueue.vacuum { progress in
///     print("\(progress.completedCount) of \(progress.totalCount ?? 0) pages")
/// }
/// ```
public struct WorkProgress: Hashable, Sendable {
    /// How much is done: of rows, bytes or pages, as the work says that tells of it.
    public let completedCount: Int

    /// How much there is to do, or nil where nobody knows.
    public let totalCount: Int?

    /// The number of rows that were read or written so far.
    public let rowCount: Int

    /// Whether all is done.
    public let isCompleted: Bool

    init(completed: Int, of total: Int?, rows: Int, isCompleted: Bool = false) {
        (completedCount, totalCount, rowCount, self.isCompleted) = (completed, total, rows, isCompleted)
    }

    /// How much is done, from 0 to 1. Nil where nobody knows how much there is to do.
    public var fraction: Double? {
        if isCompleted { return 1 }
        guard let totalCount, totalCount > 0 else { return nil }
        return min(Double(completedCount) / Double(totalCount), 1)
    }
}

/// The rows that a window function uses, written as `OVER (…)`.
///
/// ```swift
/// let window = SQLWindow(partitionBy: [Column("teamID")], order: [Column("score").desc])
/// Player.select(Column("name"), rank().over(window).forKey("rank"))
/// // SELECT "name", RANK() OVER (PARTITION BY "teamID" ORDER BY "score" DESC) AS "rank" FROM "player"
/// ```
public struct SQLWindow: Sendable {
    private let partition: [SQLExpression]
    private let ordering: [SQLOrdering]
    private let frame: SQL?

    /// Creates a window.
    ///
    /// - Parameters:
    ///   - partition: The expressions whose values divide the rows into partitions.
    ///   - order: The order of these rows.
    ///   - frame: The frame, as SQL: `"ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"`.
    public init(
        partitionBy partition: [any SQLExpressible] = [], order: [any SQLOrderingTerm] = [], frame: SQL? = nil
    ) {
        self.partition = partition.map(\.sqlExpression)
        ordering = order.map(\.sqlOrdering)
        self.frame = frame
    }

    func write(to writer: inout some QueryWriter) throws {
        if !partition.isEmpty {
            writer.text("PARTITION BY ")
            try writer.list(partition)
        }
        if !ordering.isEmpty {
            if !partition.isEmpty { writer.text(" ") }
            writer.text("ORDER BY ")
            try writer.list(ordering) { try $1.write(to: &$0) }
        }
        if let frame {
            if !(partition.isEmpty && ordering.isEmpty) { writer.text(" ") }
            try writer.fragment(frame)
        }
    }
}

extension SQLExpression {
    /// Returns the value of a window function or an aggregate over the rows of a window.
    ///
    /// - Parameter window: The rows. An empty window contains all rows of the request.
    /// - Precondition: This is the call of a function.
    public func over(_ window: SQLWindow) -> SQLExpression {
        guard case .call(var call)? = syntax else {
            Misuse.trap("only a function call can have a window: write rank().over(…), sum(…).over(…).")
        }
        call.window = window
        return SQLExpression(.call(call))
    }

    /// Returns the value of a window function or an aggregate over rows.
    ///
    /// - Parameters:
    ///   - partition: The expressions whose values divide the rows into partitions.
    ///   - order: The order of these rows.
    ///   - frame: The frame, as SQL: `"ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"`.
    public func over(
        partitionBy partition: [any SQLExpressible] = [], order: [any SQLOrderingTerm] = [], frame: SQL? = nil
    ) -> SQLExpression {
        over(SQLWindow(partitionBy: partition, order: order, frame: frame))
    }
}

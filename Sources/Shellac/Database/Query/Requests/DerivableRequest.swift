// What is filtered and sorted, in three steps: all of it; what stays of its kind; what has rows of its own to fetch.

/// What can be refined by conditions, orders and selections: a request, a table, and whatever leads to rows of one.
///
/// All that refines is declared here once. What comes of it is a ``Refined``: another request for a request and for a table.
///
/// Write your own refinements in an extension of ``DerivableRequest``.
public protocol RefinableRequest<RowDecoder> {
    /// The type that rows are decoded as.
    associatedtype RowDecoder

    /// What comes of a refinement.
    associatedtype Refined: DerivableRequest where Refined.RowDecoder == RowDecoder

    /// Returns what comes of a change of the request for the rows.
    ///
    /// ```swift
    /// let isLocked = true
    /// let request = Player.all().refined { isLocked ? $0.filter(Column("score") > 100) : $0 }
    /// ```
    ///
    /// - Parameter change: Called once, at once, with the request for the rows.
    func refined(
        _ change: (QueryInterfaceRequest<RowDecoder>) throws -> QueryInterfaceRequest<RowDecoder>
    ) rethrows -> Refined
}

extension RefinableRequest {
    func derived(_ change: (inout SelectQuery) -> Void) -> Refined { refined { $0.with(change) } }
}

/// What stays what it is when it is refined: extend it with refinements of your own, which return `Self`.
///
/// ```swift
/// extension DerivableRequest<Player> {
///     func best() -> Self { filter(Column("score") > 100).order(Column("score").desc) }
/// }
/// let best = try Player.all().best().limit(3).fetchAll(db)
/// ```
///
/// Begin with `all()` where a type is asked. Some refinements do not hold for all that is derivable, as a limit of all rows does
/// not: write these in an extension of ``QueryInterfaceRequest``.
public protocol DerivableRequest<RowDecoder>: RefinableRequest where Refined == Self {}

/// A source of rows that requests are made of: a request, or a table.
public protocol RequestSource<RowDecoder> {
    /// The type that rows are decoded as.
    associatedtype RowDecoder

    /// Returns the request.
    func all() -> QueryInterfaceRequest<RowDecoder>
}

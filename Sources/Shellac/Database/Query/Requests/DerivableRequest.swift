// The protocols of filtering and sorting, from the most general to the most specific.
//
// ``RequestBuilding`` covers everything that can be refined. ``DerivableRequest`` keeps its type
// when it is refined. ``RowSource`` has rows of its own to fetch.

/// A type with conditions, orders and selections: a request, a table, or a path to the rows of one.
///
/// All refinements are declared here once. Their result is a ``Refined``, which is another request
/// if this is a request or a table.
///
/// Write your own refinements in an extension of ``DerivableRequest``.
public protocol RequestBuilding<RowDecoder> {
    /// The type that rows are decoded as.
    associatedtype RowDecoder

    /// The result of a refinement.
    associatedtype Refined: DerivableRequest where Refined.RowDecoder == RowDecoder

    /// Returns the result of changing the request for the rows.
    ///
    /// ```swift
    /// let isLocked = true
    /// let request = Player.all().refined { isLocked ? $0.filter(Column("score") > 100) : $0 }
    /// ```
    ///
    /// - Parameter change: Called once, immediately, with the request for the rows.
    func refined(
        _ change: (QueryInterfaceRequest<RowDecoder>) throws -> QueryInterfaceRequest<RowDecoder>
    ) rethrows -> Refined
}

extension RequestBuilding {
    func derived(_ change: (inout SelectQuery) -> Void) -> Refined { refined { $0.with(change) } }
}

/// A request whose refinements return `Self`. Extend it with your own.
///
/// ```swift
/// extension DerivableRequest<Player> {
///     func best() -> Self { filter(Column("score") > 100).order(Column("score").desc) }
/// }
/// let best = try Player.all().best().limit(3).fetchAll(db)
/// ```
///
/// Begin with `all()` to use it on a type. Some refinements do not apply to everything derivable,
/// such as a limit of all rows. Write those in an extension of ``QueryInterfaceRequest``.
public protocol DerivableRequest<RowDecoder>: RequestBuilding where Refined == Self {}

/// A source of rows from which requests are built: a request, or a table.
public protocol RowSource<RowDecoder> {
    /// The type that rows are decoded as.
    associatedtype RowDecoder

    /// Returns the request.
    func all() -> QueryInterfaceRequest<RowDecoder>
}

// MARK: - Older names

@available(*, unavailable, renamed: "RequestBuilding")
public typealias RefinableRequest = RequestBuilding

@available(*, unavailable, renamed: "RowSource")
public typealias RequestSource = RowSource

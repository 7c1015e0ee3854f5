/// A request whose rows are changed by an adapter: see ``FetchRequest/adapted(_:)``.
public struct AdaptedFetchRequest<Base: FetchRequest>: FetchRequest {
    public typealias RowDecoder = Base.RowDecoder

    private let base: Base
    private let makeAdapter: @Sendable (Database) throws -> any RowAdapter

    fileprivate init(_ base: Base, _ makeAdapter: @escaping @Sendable (Database) throws -> any RowAdapter) {
        (self.base, self.makeAdapter) = (base, makeAdapter)
    }

    public func makePreparedRequest(_ db: Database, forSingleResult isOne: Bool) throws -> PreparedRequest {
        let prepared = try base.makePreparedRequest(db, forSingleResult: isOne)
        var adapter = try makeAdapter(db)
        if let supplement = prepared.supplement {
            guard let inner = supplement as? AdaptedRows else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message:
                        "an adapter cannot adapt the rows of a request that joins tables by itself, since "
                        + "that request has its own scopes: read them with row.scopes, or write the "
                        + "request in SQL")
            }
            adapter = inner.adapter.followed(by: adapter)
        }
        return PreparedRequest(
            statement: prepared.statement, arguments: prepared.arguments, supplement: AdaptedRows(adapter))
    }

    public func fetchCount(_ db: Database) throws -> Int { try base.fetchCount(db) }
}

extension FetchRequest {
    /// Returns a request whose rows are changed by an adapter.
    ///
    /// ```swift
    /// let request = SQLRequest<Player>(sql: "SELECT team.name, player.* FROM …")
    ///     .adapted { _ in SuffixRowAdapter(fromIndex: 1) }
    /// ```
    ///
    /// - Parameter adapter: Returns the adapter. It may look up the columns of tables in the
    ///   schema.
    public func adapted(
        _ adapter: @escaping @Sendable (Database) throws -> any RowAdapter
    ) -> AdaptedFetchRequest<Self> { AdaptedFetchRequest(self, adapter) }
}

/// A supplement that applies an adapter to the rows of a request.
final class AdaptedRows: RequestSupplement, @unchecked Sendable {  // constant
    let adapter: any RowAdapter

    init(_ adapter: any RowAdapter) { self.adapter = adapter }

    override func rows<Element>(
        of statement: Statement, as type: Element.Type, in db: Database
    ) throws -> SuppliedRows? { ShownRows(AdaptedRun(following: statement, adapter: adapter)) }
}

private final class ShownRows: SuppliedRows {
    private let run: AdaptedRun

    init(_ run: AdaptedRun) {
        self.run = run
        super.init()
    }

    override func next() throws -> LiveRow? { try run.next() }
}

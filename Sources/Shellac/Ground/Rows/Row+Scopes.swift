// The rows of other tables that a request fetches with each of its own rows, by name.

/// The rows of other tables that were fetched with a row.
class AttachedRows {
    /// The joined rows, by name. Nil for a name without a row.
    var scopes: [(name: String, row: Row?)] { [] }
    /// The row as its statement returned it, if an adapter has changed it.
    var statementRow: Row? { nil }
    /// The rows that refer to the row, by the names of their lists.
    final var lists: [(name: String, rows: [Row])] = []

    /// The names of lists that no row has, because the one that would have them was not joined.
    final var missingLists: Set<String> = []

    /// The table of the row itself.
    final let table: String

    init(_ table: String) { self.table = table }

    /// Returns copies of the rows, which own their values.
    fileprivate final func copy() -> AttachedRows {
        let copy = AttachedCopies(table, scopes.map { ($0.name, $0.row?.copy()) }, statementRow?.copy())
        copy.lists = lists
        copy.missingLists = missingLists
        return copy
    }

    /// Whether there may be rows with a given name, at any depth.
    final func hasRows(_ name: String) -> Bool {
        lists.contains { $0.name == name } || missingLists.contains(name)
            || scopes.contains { $0.name == name || $0.row?.attached?.hasRows(name) ?? false }
    }

    /// Whether equal rows were fetched with two rows.
    static func areEqual(_ a: AttachedRows?, _ b: AttachedRows?) -> Bool {
        guard a != nil || b != nil else { return true }
        return (a?.scopes ?? []).elementsEqual(b?.scopes ?? []) { $0 == $1 }
            && (a?.lists ?? []).elementsEqual(b?.lists ?? []) { $0 == $1 }
    }
}

/// Rows of other tables that own their values.
private final class AttachedCopies: AttachedRows {
    private let copies: [(name: String, row: Row?)]
    private let copyOfStatementRow: Row?

    init(_ table: String, _ copies: [(name: String, row: Row?)], _ statementRow: Row?) {
        (self.copies, copyOfStatementRow) = (copies, statementRow)
        super.init(table)
    }

    override var scopes: [(name: String, row: Row?)] { copies }
    override var statementRow: Row? { copyOfStatementRow }
}

extension Row {
    /// The rows of other tables that were fetched with the row.
    var attached: AttachedRows? {
        let attached = isLive ? live.storage.pointee.attached : owned.layout.attached
        return attached.map { unsafeDowncast($0, to: AttachedRows.self) }
    }

    /// Returns a copy that contains copies of the rows of other tables.
    @inline(never)
    func copy(with attached: AnyObject) -> Row {
        let layout = RowLayout(
            live.layout, attached: unsafeDowncast(attached, to: AttachedRows.self).copy())
        return Row(.make(live, layout: layout))
    }

    /// The rows of other tables, one per line, indented below the row that they were fetched with.
    var attachedLines: [String] {
        guard isLive || packed != nil, let attached else { return [] }
        let joined = attached.scopes.flatMap { scope in
            ["\(scope.name): \(scope.row?.description ?? "NULL")"] + (scope.row?.attachedLines ?? [])
        }
        let lists = attached.lists.flatMap { list in
            ["\(list.name): \(list.rows.count)"]
                + list.rows.flatMap { row in [row.description] + row.attachedLines }.map { "  \($0)" }
        }
        return (joined + lists).map { "  \($0)" }
    }

    /// Whether a list is missing in the row, or in one that was joined with it.
    func missesList(_ name: String) -> Bool {
        guard let attached else { return false }
        return attached.missingLists.contains(name)
            || attached.scopes.contains { $0.row?.missesList(name) ?? false }
    }

    // MARK: - Reading

    /// The rows of joined tables, by key. A key without a joined row has nil.
    ///
    /// ```swift
    /// let row = try Player.including(optional: Player.team).asRequest(of: Row.self).fetchOne(db)
    /// row?["name"] as String?                    // the player's
    /// row?.scopes["team"]?["name"] as String?    // the team's
    /// ```
    public var scopes: RowScopes { RowScopes(rows: attached?.scopes ?? []) }

    /// The row without the rows of other tables, for example to compare it with a row literal.
    public var unscoped: Row {
        guard attached != nil else { return self }
        let layout = RowLayout(names: layout.names, sql: layout.sql)
        return Row(isLive ? .make(live, layout: layout) : owned.copy(layout))
    }

    /// The row as its statement returned it, without the changes of an adapter. If a request has
    /// joined tables, the columns of the rows follow that were joined.
    public var unadapted: Row {
        guard let attached else { return self }
        if let row = attached.statementRow { return row }
        return Row(attached.scopes.reduce(into: Array(self)) { $0 += $1.row?.unadapted ?? Row() })
    }

    /// The rows of joined tables, at any depth. If several have the same key, the one nearest to
    /// this row counts.
    public var scopesTree: RowScopes {
        var (found, next): (RowScopes, [Row]) = (RowScopes(rows: []), [self])
        while !next.isEmpty {
            let scopes = next.flatMap { $0.attached?.scopes ?? [] }
            found.rows += scopes
            next = scopes.compactMap(\.row)
        }
        return found
    }

    /// The rows of other tables that were fetched separately, by key. They include those that were
    /// fetched for joined rows.
    ///
    /// ```swift
    /// let row = try Team.including(all: Team.players).asRequest(of: Row.self).fetchOne(db)
    /// let players: [Row]? = row?.prefetchedRows["players"]
    /// ```
    public var prefetchedRows: PrefetchedRows {
        let scopes = [self] + scopesTree.rows.compactMap(\.row)
        return PrefetchedRows(lists: scopes.flatMap { $0.attached?.lists ?? [] })
    }
}

/// The rows of joined tables that were fetched with a row: see ``Row/scopes``.
public struct RowScopes: Sequence {
    fileprivate var rows: [(name: String, row: Row?)]

    /// The row with the given key. Nil if no row was joined, and if there is no such key.
    ///
    /// - Parameter name: The case-sensitive key. It is the key of the association, or the name of a
    ///   part that an adapter defines.
    public subscript(_ name: String) -> Row? { rows.first { $0.name == name }?.row }

    /// The keys, including those without a joined row.
    public var names: [String] { rows.map(\.name) }

    /// Whether there are no keys.
    public var isEmpty: Bool { rows.isEmpty }

    /// The number of keys.
    public var count: Int { rows.count }

    /// Iterates over the joined rows.
    public func makeIterator() -> IndexingIterator<[(name: String, row: Row)]> {
        rows.compactMap { scope in scope.row.map { (scope.name, $0) } }.makeIterator()
    }
}

/// The rows of other tables that were fetched separately for a row: see ``Row/prefetchedRows``.
public struct PrefetchedRows {
    fileprivate let lists: [(name: String, rows: [Row])]

    /// The rows with the given key. Nil if nothing was fetched for it.
    ///
    /// - Parameter name: The case-sensitive key of the association.
    public subscript(_ name: String) -> [Row]? { lists.first { $0.name == name }?.rows }

    /// The keys.
    public var keys: Set<String> { Set(lists.map(\.name)) }

    /// Whether nothing was fetched separately.
    public var isEmpty: Bool { lists.isEmpty }
}

@available(*, unavailable, message: "the rows may refer to memory of SQLite")
extension RowScopes: Sendable {}

@available(*, unavailable, message: "the rows may refer to memory of SQLite")
extension PrefetchedRows: Sendable {}

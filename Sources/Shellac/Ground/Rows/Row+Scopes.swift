// A request of several tables gives rows of its own one. The rows of the others come with it, each under a name.

/// The rows of other tables that come with a row.
class AttachedRows {
    /// The rows that were joined, by their names. Nil where there is none.
    var scopes: [(name: String, row: Row?)] { [] }
    /// The rows that refer to the row, by the names of their lists.
    final var lists: [(name: String, rows: [Row])] = []

    /// The table of the row itself.
    final let table: String

    init(_ table: String) { self.table = table }

    /// Returns the same rows, which own their values.
    fileprivate final func copy() -> AttachedRows {
        let copy = AttachedCopies(table, scopes.map { ($0.name, $0.row?.copy()) })
        copy.lists = lists
        return copy
    }

    /// Whether rows may come under a name, at any depth.
    final func hasRows(_ name: String) -> Bool {
        lists.contains { $0.name == name }
            || scopes.contains { $0.name == name || $0.row?.attached?.hasRows(name) ?? false }
    }

    /// Whether the same came with two rows.
    static func areEqual(_ a: AttachedRows?, _ b: AttachedRows?) -> Bool {
        guard a != nil || b != nil else { return true }
        return (a?.scopes ?? []).elementsEqual(b?.scopes ?? []) { $0 == $1 }
            && (a?.lists ?? []).elementsEqual(b?.lists ?? []) { $0 == $1 }
    }
}

/// Rows of other tables that own their values.
private final class AttachedCopies: AttachedRows {
    private let copies: [(name: String, row: Row?)]

    init(_ table: String, _ copies: [(name: String, row: Row?)]) {
        self.copies = copies
        super.init(table)
    }

    override var scopes: [(name: String, row: Row?)] { copies }
}

extension Row {
    /// The rows of other tables that came with the row.
    var attached: AttachedRows? {
        let attached = isLive ? live.storage.pointee.attached : owned.layout.attached
        return attached.map { unsafeDowncast($0, to: AttachedRows.self) }
    }

    /// A copy that has copies of the rows of other tables.
    @inline(never)
    func copy(with attached: AnyObject) -> Row {
        let layout = RowLayout(
            names: live.layout.names, sql: live.layout.sql, affinities: [],
            attached: unsafeDowncast(attached, to: AttachedRows.self).copy())
        return Row(.make(live, layout: layout))
    }

    /// The rows of other tables, each in a line, below those that they came with.
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

    // MARK: - Reading

    /// The rows of tables that a request has joined, by their keys: nil where no row was joined.
    ///
    /// ```swift
    /// let row = try Player.including(optional: Player.team).asRequest(of: Row.self).fetchOne(db)
    /// row?["name"] as String?                    // the player's
    /// row?.scopes["team"]?["name"] as String?    // the team's
    /// ```
    public var scopes: RowScopes { RowScopes(rows: attached?.scopes ?? []) }

    /// The rows of joined tables, at any depth: of several that have the same key, the one nearest to this row.
    public var scopesTree: RowScopes {
        var (found, next): (RowScopes, [Row]) = (RowScopes(rows: []), [self])
        while !next.isEmpty {
            let scopes = next.flatMap { $0.attached?.scopes ?? [] }
            found.rows += scopes
            next = scopes.compactMap(\.row)
        }
        return found
    }

    /// The rows of tables that a request has fetched besides, by their keys. So are those that came with
    /// joined rows.
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

/// The rows of joined tables that came with a row: see ``Row/scopes``.
public struct RowScopes: Sequence {
    fileprivate var rows: [(name: String, row: Row?)]

    /// The row of a key. Nil where none was joined, and where there is no such key.
    ///
    /// - Parameter name: The key, in its own case. It is that of the association, or the name of a part that an adapter shows.
    public subscript(_ name: String) -> Row? { rows.first { $0.name == name }?.row }

    /// The keys, also of tables of which no row was joined.
    public var names: [String] { rows.map(\.name) }

    /// Whether no table was joined under a key.
    public var isEmpty: Bool { rows.isEmpty }

    /// The number of keys.
    public var count: Int { rows.count }

    /// Goes through the rows that were joined.
    public func makeIterator() -> IndexingIterator<[(name: String, row: Row)]> {
        rows.compactMap { scope in scope.row.map { (scope.name, $0) } }.makeIterator()
    }
}

/// The rows of other tables that were fetched for a row: see ``Row/prefetchedRows``.
public struct PrefetchedRows {
    fileprivate let lists: [(name: String, rows: [Row])]

    /// The rows of a key. Nil where nothing was fetched under it.
    ///
    /// - Parameter name: The key of the association, in its own case.
    public subscript(_ name: String) -> [Row]? { lists.first { $0.name == name }?.rows }

    /// The keys.
    public var keys: Set<String> { Set(lists.map(\.name)) }

    /// Whether nothing was fetched besides.
    public var isEmpty: Bool { lists.isEmpty }
}

@available(*, unavailable, message: "rows may stand where SQLite holds them")
extension RowScopes: Sendable {}

@available(*, unavailable, message: "rows may stand where SQLite holds them")
extension PrefetchedRows: Sendable {}

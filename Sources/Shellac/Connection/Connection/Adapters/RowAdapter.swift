/// What shows the columns of a statement otherwise: some of them, under other names, or in parts.
///
/// ```swift
/// let sql = "SELECT player.*, team.* FROM player JOIN team ON team.id = player.teamID"
/// let columnCounts = try [db.columns(in: "player").count, db.columns(in: "team").count]
/// let adapters = splittingRowAdapters(columnCounts: columnCounts)
/// let row = try Row.fetchOne(db, sql: sql, adapter: ScopeAdapter(["player": adapters[0], "team": adapters[1]]))
/// row?.scopes["team"]?["name"] as String?
/// ```
///
/// What is fetched with an adapter sees the columns that it shows, and no others: rows, values, and structs that are
/// decoded. ``ScopeAdapter`` gives rows parts that have names: see ``Row/scopes``.
public protocol RowAdapter: Sendable {
    /// Returns the columns that the adapter shows.
    ///
    /// - Parameter names: The names of the columns that it is given.
    /// - Throws: a ``DatabaseError`` when it names a column that is not among them.
    func _columns(among names: [String]) throws -> _AdaptedColumns
}

/// The columns that an adapter shows.
public struct _AdaptedColumns: Sendable {
    /// A column: its place among those that the adapter was given, and its name.
    struct Column: Sendable {
        var index: Int
        var name: String
    }
    var columns: [Column]
    /// The parts that have names.
    var scopes: [(name: String, columns: _AdaptedColumns)] = []

    init(_ columns: [Column]) { self.columns = columns }

    /// All columns, as they are.
    init(all names: [String]) { columns = names.enumerated().map { Column(index: $0, name: $1) } }

    /// The same columns, by their places among those that these were made of.
    func placed(among others: _AdaptedColumns) -> _AdaptedColumns {
        var placed = self
        for index in placed.columns.indices {
            placed.columns[index].index = others.columns[placed.columns[index].index].index
        }
        placed.scopes = scopes.map { ($0.name, $0.columns.placed(among: others)) }
        return placed
    }
}

/// Shows no column: for a row whose parts alone are of interest. See ``ScopeAdapter``.
public struct EmptyRowAdapter: RowAdapter {
    /// Makes an adapter that shows no column.
    public init() {}

    public func _columns(among names: [String]) throws -> _AdaptedColumns { _AdaptedColumns([]) }
}

/// Shows some of the columns, under other names.
///
/// ```swift
/// // [newId: 1, newName: 'Arthur']
/// let adapter = ColumnMapping(["newId": "id", "newName": "name"])
/// ```
public struct ColumnMapping: RowAdapter {
    private let mapping: [String: String]

    /// - Parameter mapping: The names of the columns by those under which they are shown.
    public init(_ mapping: [String: String]) { self.mapping = mapping }

    public func _columns(among names: [String]) throws -> _AdaptedColumns {
        let columns = try mapping.map { shown, name in
            let index = names.firstIndex { CaseInsensitiveName.matches($0, name) }
            guard let index else { throw AdapterError.missing(name, among: names) }
            return _AdaptedColumns.Column(index: index, name: shown)
        }
        return _AdaptedColumns(columns.sorted { ($0.index, $0.name) < ($1.index, $1.name) })
    }
}

/// Shows the columns from one on.
public struct SuffixRowAdapter: RowAdapter {
    private let start: Int

    /// - Parameter index: The place of the first column that is shown, from 0.
    public init(fromIndex index: Int) {
        if index < 0 { Misuse.trap("an adapter cannot begin at a negative column: the first one is 0.") }
        start = index
    }

    public func _columns(among names: [String]) throws -> _AdaptedColumns {
        guard start <= names.count else { throw AdapterError.tooFew(names, wanted: start) }
        return _AdaptedColumns(Array(_AdaptedColumns(all: names).columns[start...]))
    }
}

/// Shows the columns of a range.
public struct RangeRowAdapter: RowAdapter {
    private let range: Range<Int>

    /// - Parameter range: The places of the columns that are shown, from 0.
    public init(_ range: Range<Int>) {
        if range.lowerBound < 0 {
            Misuse.trap("an adapter cannot begin at a negative column: the first one is 0.")
        }
        self.range = range
    }

    /// - Parameter range: The places of the columns that are shown, from 0.
    public init(_ range: ClosedRange<Int>) { self.init(Range(range)) }

    public func _columns(among names: [String]) throws -> _AdaptedColumns {
        guard range.upperBound <= names.count else {
            throw AdapterError.tooFew(names, wanted: range.upperBound)
        }
        return _AdaptedColumns(Array(_AdaptedColumns(all: names).columns[range]))
    }
}

/// Shows all columns, under the names that a function gives them.
public struct RenameColumnAdapter: RowAdapter {
    private let rename: @Sendable (String) -> String

    /// - Parameter rename: Returns the name under which a column is shown.
    public init(_ rename: @escaping @Sendable (String) -> String) { self.rename = rename }

    public func _columns(among names: [String]) throws -> _AdaptedColumns {
        _AdaptedColumns(all: names.map(rename))
    }
}

/// Gives rows parts that have names: see ``Row/scopes``.
///
/// ```swift
/// let adapter = ScopeAdapter(["left": RangeRowAdapter(0..<2), "right": SuffixRowAdapter(fromIndex: 2)])
/// let row = try Row.fetchOne(db, sql: "SELECT 0 AS a, 1 AS b, 2 AS c", adapter: adapter)
/// row?.scopes["right"]    // [c: 2]
/// ```
///
/// A part whose columns are all NULL, and whose own parts are not there, is not there, as a row that was not joined is not.
public struct ScopeAdapter: RowAdapter {
    private let base: any RowAdapter
    private let scopes: [String: any RowAdapter]

    /// Shows all columns, and parts of them.
    ///
    /// - Parameter scopes: What shows the columns of the parts, by the names of these. Parts may have columns in common.
    public init(_ scopes: [String: any RowAdapter]) {
        self.init(base: SuffixRowAdapter(fromIndex: 0), scopes: scopes)
    }

    /// Shows what another adapter shows, and parts of all columns.
    ///
    /// - Parameters:
    ///   - base: What shows the columns of the row.
    ///   - scopes: What shows the columns of the parts, which are those of the statement, and not those of the base.
    public init(base: any RowAdapter, scopes: [String: any RowAdapter]) {
        (self.base, self.scopes) = (base, scopes)
    }

    public func _columns(among names: [String]) throws -> _AdaptedColumns {
        var shown = try base._columns(among: names)
        shown.scopes.removeAll { scopes[$0.name] != nil }
        shown.scopes += try scopes.sorted { $0.key < $1.key }.map {
            ($0.key, try $0.value._columns(among: names))
        }
        return shown
    }
}

extension RowAdapter {
    /// Returns an adapter that shows the same columns, and parts of all those that it is given.
    ///
    /// - Parameter scopes: What shows the columns of the parts, by the names of these. A part that has the name of one that is
    ///   there takes its place.
    public func addingScopes(_ scopes: [String: any RowAdapter]) -> any RowAdapter {
        scopes.isEmpty ? self : ScopeAdapter(base: self, scopes: scopes)
    }

    /// Returns an adapter that another one gives the columns that this one shows.
    ///
    /// - Parameter next: The adapter that gets the columns that this one shows, under the names that this one gives them. It
    ///   does not see the parts of this one.
    public func followed(by next: some RowAdapter) -> any RowAdapter {
        ChainedAdapter(first: self, next: next)
    }
}

/// Shows what one adapter shows of the columns that another one shows.
private struct ChainedAdapter: RowAdapter {
    let first: any RowAdapter
    let next: any RowAdapter

    func _columns(among names: [String]) throws -> _AdaptedColumns {
        let shown = try first._columns(among: names)
        return try next._columns(among: shown.columns.map(\.name)).placed(among: shown)
    }
}

/// Returns adapters that split the columns of a row: one for each number of columns, and one for the rest.
///
/// ```swift
/// let adapters = splittingRowAdapters(columnCounts: [4, 2])
/// // the first four columns, the next two, and all others
/// ```
///
/// - Parameter columnCounts: The numbers of columns, from left to right, each 0 or more: a negative one stops the program.
public func splittingRowAdapters(columnCounts: [Int]) -> [any RowAdapter] {
    var start = 0
    var adapters: [any RowAdapter] = []
    for count in columnCounts {
        if count < 0 { Misuse.trap("a part of a row cannot have a negative number of columns.") }
        adapters.append(RangeRowAdapter(start..<start + count))
        start += count
    }
    return adapters + [SuffixRowAdapter(fromIndex: start)]
}

private enum AdapterError {
    static func missing(_ name: String, among names: [String]) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "an adapter maps the column \(name), which is not among \(names.joined(separator: ", "))"
        )
    }

    static func tooFew(_ names: [String], wanted: Int) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "an adapter needs \(wanted) columns, and there are \(names.count): "
                + names.joined(separator: ", "))
    }
}

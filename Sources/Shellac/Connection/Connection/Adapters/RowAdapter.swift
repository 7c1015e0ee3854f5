/// A transformation of a statement's columns: it selects, renames or groups them.
///
/// ```swift
/// let sql = "SELECT player.*, team.* FROM player JOIN team ON team.id = player.teamID"
/// let columnCounts = try [db.columns(in: "player").count, db.columns(in: "team").count]
/// let adapters = splittingRowAdapters(columnCounts: columnCounts)
/// let row = try Row.fetchOne(db, sql: sql, adapter: ScopeAdapter(["player": adapters[0], "team": adapters[1]]))
/// row?.scopes["team"]?["name"] as String?
/// ```
///
/// Everything that is fetched with an adapter only sees the adapted columns: rows, values, and
/// decoded structs. ``ScopeAdapter`` gives rows named parts: see ``Row/scopes``.
public protocol RowAdapter: Sendable {
    /// Returns the adapted columns.
    ///
    /// - Parameter names: The names of the original columns.
    /// - Throws: a ``DatabaseError`` if the adapter names a missing column.
    func _columns(among names: [String]) throws -> _AdaptedColumns
}

/// The columns of an adapter's result.
public struct _AdaptedColumns: Sendable {
    /// A column: its index among the original columns, and its name.
    struct Column: Sendable {
        var index: Int
        var name: String
    }
    var columns: [Column]
    /// The named parts.
    var scopes: [(name: String, columns: _AdaptedColumns)] = []

    init(_ columns: [Column]) { self.columns = columns }

    /// Creates a list of all columns, unchanged.
    init(all names: [String]) { columns = names.enumerated().map { Column(index: $0, name: $1) } }

    /// Returns the same columns, with their indices replaced by those that the other columns have
    /// in the original.
    func placed(among others: _AdaptedColumns) -> _AdaptedColumns {
        var placed = self
        for index in placed.columns.indices {
            placed.columns[index].index = others.columns[placed.columns[index].index].index
        }
        placed.scopes = scopes.map { ($0.name, $0.columns.placed(among: others)) }
        return placed
    }
}

/// An adapter without columns, for a row of which only the parts matter. See ``ScopeAdapter``.
public struct EmptyRowAdapter: RowAdapter {
    /// Creates an adapter without columns.
    public init() {}

    public func _columns(among names: [String]) throws -> _AdaptedColumns { _AdaptedColumns([]) }
}

/// An adapter that selects columns and renames them.
///
/// ```swift
/// // [newId: 1, newName: 'Arthur']
/// let adapter = ColumnMapping(["newId": "id", "newName": "name"])
/// ```
public struct ColumnMapping: RowAdapter {
    private let mapping: [String: String]

    /// - Parameter mapping: The original column names, keyed by the new names.
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

/// An adapter that selects the columns from one on.
public struct SuffixRowAdapter: RowAdapter {
    private let start: Int

    /// - Parameter index: The index of the first selected column, from 0.
    public init(fromIndex index: Int) {
        if index < 0 { Misuse.trap("an adapter cannot begin at a negative column: the first one is 0.") }
        start = index
    }

    public func _columns(among names: [String]) throws -> _AdaptedColumns {
        guard start <= names.count else { throw AdapterError.tooFew(names, wanted: start) }
        return _AdaptedColumns(Array(_AdaptedColumns(all: names).columns[start...]))
    }
}

/// An adapter that selects the columns in a range.
public struct RangeRowAdapter: RowAdapter {
    private let range: Range<Int>

    /// - Parameter range: The indices of the selected columns, from 0.
    public init(_ range: Range<Int>) {
        if range.lowerBound < 0 {
            Misuse.trap("an adapter cannot begin at a negative column: the first one is 0.")
        }
        self.range = range
    }

    /// - Parameter range: The indices of the selected columns, from 0.
    public init(_ range: ClosedRange<Int>) { self.init(Range(range)) }

    public func _columns(among names: [String]) throws -> _AdaptedColumns {
        guard range.upperBound <= names.count else {
            throw AdapterError.tooFew(names, wanted: range.upperBound)
        }
        return _AdaptedColumns(Array(_AdaptedColumns(all: names).columns[range]))
    }
}

/// An adapter that renames all columns with a function.
public struct RenameColumnAdapter: RowAdapter {
    private let rename: @Sendable (String) -> String

    /// - Parameter rename: A function that returns a column's new name.
    public init(_ rename: @escaping @Sendable (String) -> String) { self.rename = rename }

    public func _columns(among names: [String]) throws -> _AdaptedColumns {
        _AdaptedColumns(all: names.map(rename))
    }
}

/// An adapter that gives rows named parts: see ``Row/scopes``.
///
/// ```swift
/// let adapter = ScopeAdapter(["left": RangeRowAdapter(0..<2), "right": SuffixRowAdapter(fromIndex: 2)])
/// let row = try Row.fetchOne(db, sql: "SELECT 0 AS a, 1 AS b, 2 AS c", adapter: adapter)
/// row?.scopes["right"]    // [c: 2]
/// ```
///
/// A part is missing if all its columns are NULL and its own parts are missing. This matches a row
/// that was not joined.
public struct ScopeAdapter: RowAdapter {
    private let base: any RowAdapter
    private let scopes: [String: any RowAdapter]

    /// Creates an adapter with all columns, and parts of them.
    ///
    /// - Parameter scopes: The adapters for the columns of the parts, keyed by the names of the
    ///   parts. Parts may have common columns.
    public init(_ scopes: [String: any RowAdapter]) {
        self.init(base: SuffixRowAdapter(fromIndex: 0), scopes: scopes)
    }

    /// Creates an adapter with the columns of another one, and parts of all columns.
    ///
    /// - Parameters:
    ///   - base: The adapter for the columns of the row.
    ///   - scopes: The adapters for the columns of the parts. Their columns are those of the
    ///     statement, and not those of the base.
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
    /// Returns an adapter with the same columns, and parts of all original columns.
    ///
    /// - Parameter scopes: The adapters for the columns of the parts, keyed by the names of the
    ///   parts. A part replaces an existing one with the same name.
    public func addingScopes(_ scopes: [String: any RowAdapter]) -> any RowAdapter {
        scopes.isEmpty ? self : ScopeAdapter(base: self, scopes: scopes)
    }

    /// Returns an adapter that applies another adapter to the result of this one.
    ///
    /// - Parameter next: The adapter that gets the columns of this one, with their new names. It
    ///   does not get the parts of this one.
    public func followed(by next: some RowAdapter) -> any RowAdapter {
        ChainedAdapter(first: self, next: next)
    }
}

/// An adapter that applies one adapter to the result of another.
private struct ChainedAdapter: RowAdapter {
    let first: any RowAdapter
    let next: any RowAdapter

    func _columns(among names: [String]) throws -> _AdaptedColumns {
        let shown = try first._columns(among: names)
        return try next._columns(among: shown.columns.map(\.name)).placed(among: shown)
    }
}

/// Returns adapters that split a row: one for each given number of columns, and one for the rest.
///
/// ```swift
/// let adapters = splittingRowAdapters(columnCounts: [4, 2])
/// // the first four columns, the next two, and all others
/// ```
///
/// - Parameter columnCounts: The numbers of columns, from left to right, each 0 or more. A negative
///   one stops the program.
///   one stops the program.
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
            message: "an adapter needs \(wanted) columns, but there are only \(names.count): "
                + names.joined(separator: ", "))
    }
}

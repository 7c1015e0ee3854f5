/// A part of a database: tables, some of their columns, some of their rows.
///
/// A region is what a request depends on. A change outside of it does not affect the result of the
/// request. A change inside may have changed it.
///
/// ```swift
/// let scores = DatabaseRegion(table: "player", columns: ["score"])
/// let region = try db.makeStatement(sql: "SELECT name, score FROM player").databaseRegion(db)
/// region.intersection(scores).description  // "player(score)"
/// ```
///
/// The case of names does not matter. A name refers to the tables of that name in all databases of
/// the connection. The region of a table without any column, `player()`, is the presence of its
/// rows: what `SELECT COUNT(*) FROM player` reads.
public struct DatabaseRegion: Hashable, Sendable, CustomStringConvertible {
    /// The part of one table.
    private struct TableRegion: Hashable, Sendable {
        /// The columns, or nil for all columns.
        var columns: Set<CaseInsensitiveName>?
        /// The rows, or nil for all rows.
        var rowIDs: Set<Int64>?
    }

    /// The tables, or nil for the full database.
    private var tables: [CaseInsensitiveName: TableRegion]?

    /// Creates an empty region, which no change affects.
    public init() { tables = [:] }

    private init(tables: [CaseInsensitiveName: TableRegion]?) { self.tables = tables }

    /// The region of all tables.
    public static let fullDatabase = DatabaseRegion(tables: nil)

    /// Creates the region of a whole table.
    ///
    /// - Parameter table: The name of the table. It need not exist.
    public init(table: String) { tables = [CaseInsensitiveName(table): TableRegion()] }

    /// Creates the region of some columns of a table.
    ///
    /// - Parameters:
    ///   - table: The name of the table. It need not exist.
    ///   - columns: The names of the columns. Without any, the region is the presence of the rows.
    public init(table: String, columns: some Sequence<String>) {
        tables = [
            CaseInsensitiveName(table): TableRegion(columns: Set(columns.map(CaseInsensitiveName.init)))
        ]
    }

    /// Creates the region of some rows of a table, with all their columns.
    ///
    /// - Parameters:
    ///   - table: The name of the table. It need not exist.
    ///   - rowIDs: The row IDs. Without any, the region is empty.
    public init(table: String, rowIDs: some Sequence<Int64>) {
        let rowIDs = Set(rowIDs)
        tables = rowIDs.isEmpty ? [:] : [CaseInsensitiveName(table): TableRegion(rowIDs: rowIDs)]
    }

    /// Whether the region is empty, so that no change affects it.
    public var isEmpty: Bool { tables?.isEmpty == true }

    /// Whether the region is the full database.
    public var isFullDatabase: Bool { tables == nil }

    /// The names of the tables in alphabetical order, or nil for the full database.
    public var tableNames: [String]? { tables?.keys.map(\.name).sorted() }

    /// Returns the intersection of both regions.
    ///
    /// - Parameter other: The other region. With the full database, the result is this one.
    public func intersection(_ other: DatabaseRegion) -> DatabaseRegion {
        guard let tables else { return other }
        guard let others = other.tables else { return self }
        var result: [CaseInsensitiveName: TableRegion] = [:]
        for (name, table) in tables {
            guard let other = others[name] else { continue }
            let rowIDs = Self.intersection(table.rowIDs, other.rowIDs)
            // Regions of different columns still share the presence of rows.
            if rowIDs?.isEmpty != true {
                let columns = Self.intersection(table.columns, other.columns)
                result[name] = TableRegion(columns: columns, rowIDs: rowIDs)
            }
        }
        return DatabaseRegion(tables: result)
    }

    private static func intersection<Element>(
        _ a: Set<Element>?, _ b: Set<Element>?
    ) -> Set<Element>? {
        guard let a else { return b }
        return b.map { a.intersection($0) } ?? a
    }

    /// Returns the union of both regions.
    ///
    /// The union of some columns of some rows, and other columns of other rows, has all these
    /// columns of all these rows.
    ///
    /// - Parameter other: The other region. With the full database, the result is the full
    ///   database.
    public func union(_ other: DatabaseRegion) -> DatabaseRegion {
        guard let tables, let others = other.tables else { return .fullDatabase }
        return DatabaseRegion(
            tables: tables.merging(others) { a, b in
                TableRegion(
                    columns: Self.union(a.columns, b.columns), rowIDs: Self.union(a.rowIDs, b.rowIDs))
            })
    }

    private static func union<Element>(_ a: Set<Element>?, _ b: Set<Element>?) -> Set<Element>? {
        guard let a, let b else { return nil }
        return a.union(b)
    }

    /// Adds another region to this one.
    ///
    /// - Parameter other: The region to add, as with ``union(_:)``.
    public mutating func formUnion(_ other: DatabaseRegion) { self = union(other) }

    /// A description of the region: `full database`, `empty`, or the tables, as in `player(*)`,
    /// `player(name,score)[1,2]`.
    public var description: String {
        guard let tables else { return "full database" }
        if tables.isEmpty { return "empty" }
        return tables.sorted { $0.key.name < $1.key.name }.map { name, table in
            let columns = table.columns.map { $0.map(\.name).sorted().joined(separator: ",") } ?? "*"
            let rows = table.rowIDs.map { "[\($0.sorted().map(String.init).joined(separator: ","))]" } ?? ""
            return "\(name.name)(\(columns))\(rows)"
        }.joined(separator: ",")
    }

    // MARK: - Questions

    /// Whether the region contains a table, or some of its rows.
    func contains(table: String) -> Bool {
        guard let tables else { return true }
        return tables[CaseInsensitiveName(table)] != nil
    }

    /// Whether the region contains one of several columns. An update of the row ID moves rows, so
    /// it affects every column.
    func contains(anyOf columns: Set<String>, in table: String) -> Bool {
        guard let tables else { return true }
        guard let region = tables[CaseInsensitiveName(table)] else { return false }
        guard let known = region.columns else { return true }
        return columns.contains { column in
            let name = CaseInsensitiveName(column)
            return known.contains(name) || name == CaseInsensitiveName("rowid")
        }
    }

    /// Whether the region contains a row of a table.
    func contains(rowID: Int64, in table: String) -> Bool {
        guard let tables else { return true }
        guard let region = tables[CaseInsensitiveName(table)] else { return false }
        return region.rowIDs?.contains(rowID) ?? true
    }

    /// Whether the region only contains some rows of a table.
    func isLimitedToRows(in table: String) -> Bool {
        tables?[CaseInsensitiveName(table)]?.rowIDs != nil
    }

    /// Returns the IDs of a table's rows in the region, or nil for all.
    func rowIDs(of table: String) -> Set<Int64>? { tables?[CaseInsensitiveName(table)]?.rowIDs }

    /// Returns the columns of a table in the region, or nil for all.
    func columns(of table: String) -> Set<String>? {
        tables?[CaseInsensitiveName(table)]?.columns.map { Set($0.map(\.name)) }
    }
}

/// A type that reads a part of a database: a request, an SQL query, a statement, or a region
/// itself.
public protocol DatabaseRegionConvertible: SendableMetatype {
    /// Returns the region that is read.
    ///
    /// - Throws: a ``DatabaseError`` if the SQL is wrong, or names something that does not exist.
    func databaseRegion(_ db: Database) throws -> DatabaseRegion
}

extension DatabaseRegion: DatabaseRegionConvertible {
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { self }
}

extension DatabaseRegionConvertible where Self == DatabaseRegion {
    /// The region of all tables.
    public static var fullDatabase: DatabaseRegion { DatabaseRegion.fullDatabase }
}

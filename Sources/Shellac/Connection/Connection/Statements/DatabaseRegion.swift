/// A part of a database: tables, some of their columns, some of their rows.
///
/// It is what a request depends on. A change elsewhere leaves the result of the request as it is; a change inside may
/// have changed it.
///
/// ```swift
/// let scores = DatabaseRegion(table: "player", columns: ["score"])
/// let region = try db.makeStatement(sql: "SELECT name, score FROM player").databaseRegion(db)
/// region.intersection(scores).description  // "player(score)"
/// ```
///
/// Names match without regard to case, and mean the tables of that name in all databases of the connection. The region
/// of a table without any column, `player()`, is the presence of its rows: what `SELECT COUNT(*) FROM player` reads.
public struct DatabaseRegion: Hashable, Sendable, CustomStringConvertible {
    /// The part of one table.
    private struct TableRegion: Hashable, Sendable {
        /// Nil for all columns.
        var columns: Set<CaseInsensitiveName>?
        /// Nil for all rows.
        var rowIDs: Set<Int64>?
    }

    /// Nil for the full database.
    private var tables: [CaseInsensitiveName: TableRegion]?

    /// Creates the region that nothing modifies.
    public init() { tables = [:] }

    private init(tables: [CaseInsensitiveName: TableRegion]?) { self.tables = tables }

    /// All tables.
    public static let fullDatabase = DatabaseRegion(tables: nil)

    /// Creates the region of a whole table.
    ///
    /// - Parameter table: The name of the table. Nobody checks that there is one.
    public init(table: String) { tables = [CaseInsensitiveName(table): TableRegion()] }

    /// Creates the region of some columns of a table.
    ///
    /// - Parameters:
    ///   - table: The name of the table. Nobody checks that there is one.
    ///   - columns: The names of the columns. Without any, it is the presence of the rows.
    public init(table: String, columns: some Sequence<String>) {
        tables = [
            CaseInsensitiveName(table): TableRegion(columns: Set(columns.map(CaseInsensitiveName.init)))
        ]
    }

    /// Creates the region of some rows of a table, with all their columns.
    ///
    /// - Parameters:
    ///   - table: The name of the table. Nobody checks that there is one.
    ///   - rowIDs: The row ids. Without any, it is the empty region.
    public init(table: String, rowIDs: some Sequence<Int64>) {
        let rowIDs = Set(rowIDs)
        tables = rowIDs.isEmpty ? [:] : [CaseInsensitiveName(table): TableRegion(rowIDs: rowIDs)]
    }

    /// Whether nothing modifies the region.
    public var isEmpty: Bool { tables?.isEmpty == true }

    /// Whether it is the full database.
    public var isFullDatabase: Bool { tables == nil }

    /// The names of the tables, in order, or nil for the full database.
    public var tableNames: [String]? { tables?.keys.map(\.name).sorted() }

    /// Returns what is in both regions.
    ///
    /// - Parameter other: The other region. With the full database, the result is this one.
    public func intersection(_ other: DatabaseRegion) -> DatabaseRegion {
        guard let tables else { return other }
        guard let others = other.tables else { return self }
        var result: [CaseInsensitiveName: TableRegion] = [:]
        for (name, table) in tables {
            guard let other = others[name] else { continue }
            let rowIDs = Self.intersection(table.rowIDs, other.rowIDs)
            // Regions of different columns have the presence of rows in common.
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

    /// Returns what is in one of the regions, at least.
    ///
    /// Some columns of some rows, and other columns of other rows, make all these columns of all these rows.
    ///
    /// - Parameter other: The other region. With the full database, the result is that.
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
    /// - Parameter other: The region that is added, as ``union(_:)`` does it.
    public mutating func formUnion(_ other: DatabaseRegion) { self = union(other) }

    /// `full database`, `empty`, or the tables: `player(*)`, `player(name,score)[1,2]`.
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

    /// Whether a table is in the region, with some rows.
    func contains(table: String) -> Bool {
        guard let tables else { return true }
        return tables[CaseInsensitiveName(table)] != nil
    }

    /// Whether the region has one of some columns. An update of the row id moves rows, and so it concerns each column.
    func contains(anyOf columns: Set<String>, in table: String) -> Bool {
        guard let tables else { return true }
        guard let region = tables[CaseInsensitiveName(table)] else { return false }
        guard let known = region.columns else { return true }
        return columns.contains { column in
            let name = CaseInsensitiveName(column)
            return known.contains(name) || name == CaseInsensitiveName("rowid")
        }
    }

    /// Whether a row of a table is in the region.
    func contains(rowID: Int64, in table: String) -> Bool {
        guard let tables else { return true }
        guard let region = tables[CaseInsensitiveName(table)] else { return false }
        return region.rowIDs?.contains(rowID) ?? true
    }

    /// Whether only some rows of a table are in the region.
    func isLimitedToRows(in table: String) -> Bool {
        tables?[CaseInsensitiveName(table)]?.rowIDs != nil
    }

    /// Returns the ids of the rows of a table that are in the region: nil for all.
    func rowIDs(of table: String) -> Set<Int64>? { tables?[CaseInsensitiveName(table)]?.rowIDs }

    /// Returns the columns of a table that are in the region: nil for all.
    func columns(of table: String) -> Set<String>? {
        tables?[CaseInsensitiveName(table)]?.columns.map { Set($0.map(\.name)) }
    }
}

/// A reader of a part of a database: a request, an SQL query, a statement, a region itself.
public protocol DatabaseRegionConvertible: SendableMetatype {
    /// Returns the region that is read.
    ///
    /// - Throws: a ``DatabaseError`` when the SQL is wrong, or names what there is not.
    func databaseRegion(_ db: Database) throws -> DatabaseRegion
}

extension DatabaseRegion: DatabaseRegionConvertible {
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { self }
}

extension DatabaseRegionConvertible where Self == DatabaseRegion {
    /// All tables.
    public static var fullDatabase: DatabaseRegion { DatabaseRegion.fullDatabase }
}

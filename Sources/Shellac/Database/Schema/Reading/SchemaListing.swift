/// The declarations of one database of a connection: `main`, `temp`, or an attached one.
///
/// Everything in it is forgotten at once: see ``SchemaCache``.
final class SchemaListing {
    /// An object of the schema: a row of its `sqlite_schema`.
    struct Object {
        let name: String
        let tableName: String
        let sql: String
        /// Whether the object has a page. Views and virtual tables have none: see "The Schema
        /// Table".
        let hasPages: Bool
    }

    /// The kinds of objects, as `sqlite_schema` names them.
    enum Kind: String {
        case table, view, index, trigger
    }

    let name: String
    /// Whether this is `temp`, which only this connection uses.
    let isTemporary: Bool

    /// The version of the schema that all of this belongs to, once something has been read.
    var version: Int64?
    /// The statement that reads the version, kept after its first use.
    @exclusivity(unchecked) private var keptVersionStatement: Statement?

    private var objects: [Kind: [CaseInsensitiveName: Object]]?
    private var order: [(kind: Kind, name: String)] = []
    var tables: [CaseInsensitiveName: TableSchema] = [:]
    var foreignKeys: [CaseInsensitiveName: [ForeignKeyInfo]] = [:]

    init(name: String) {
        self.name = name
        isTemporary = CaseInsensitiveName.matches(name, "temp")
    }

    /// Whether the version of the schema has changed since it was read.
    func isOutdated(_ db: Database) throws -> Bool {
        guard let version else { return false }
        return try versionStatement(db).readInteger() != version
    }

    /// Returns a statement that reads the version of the schema, and that is not in use.
    func versionStatement(_ db: Database) throws -> Statement {
        if let keptVersionStatement, !keptVersionStatement.isInUse { return keptVersionStatement }
        return try makeVersionStatement(db)
    }

    @inline(never)
    private func makeVersionStatement(_ db: Database) throws -> Statement {
        let statement = try db.cachedStatement(
            sql: "PRAGMA \(name.quotedDatabaseIdentifier).schema_version")
        if keptVersionStatement == nil { keptVersionStatement = statement }
        return statement
    }

    /// Whether the objects have been read.
    var isLoaded: Bool { objects != nil }

    /// Reads the objects.
    func load(_ db: Database) throws {
        guard objects == nil else { return }
        let table = "\(name.quotedDatabaseIdentifier).sqlite_master"
        let rows = try Row.fetchAll(
            db.makeStatement(
                sql: "SELECT type, name, tbl_name, sql, rootpage FROM \(table) ORDER BY rowid"))
        var objects: [Kind: [CaseInsensitiveName: Object]] = [:]
        for row in rows {
            guard let kind = Kind(rawValue: try row["type"] ?? ""), let name = try row["name"] as String?
            else {
                continue  // written by hand
            }
            objects[kind, default: [:]][CaseInsensitiveName(name)] = Object(
                name: name, tableName: try row["tbl_name"] ?? name, sql: try row["sql"] ?? "",
                hasPages: try row["rootpage"] as Int? ?? 0 != 0)
            order.append((kind, name))
        }
        // The schema tables do not list themselves.
        for name in isTemporary
            ? ["sqlite_temp_schema", "sqlite_temp_master"] : ["sqlite_schema", "sqlite_master"]
        {
            objects[.table, default: [:]][CaseInsensitiveName(name)] = Object(
                name: name, tableName: name, sql: "", hasPages: true)
        }
        self.objects = objects
    }

    func object(_ kind: Kind, _ name: String) -> Object? { objects?[kind]?[CaseInsensitiveName(name)] }

    /// Returns the objects of the given kind, oldest first.
    func objects(_ kind: Kind) -> [Object] {
        order.compactMap { $0.kind == kind ? object(kind, $0.name) : nil }
    }
}

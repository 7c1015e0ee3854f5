// The schema cache of a connection, invalidated by schema changes of any connection.

import Synchronization

/// The schemas of a connection's databases, as far as it knows them.
///
/// ## The life of an answer
///
/// An answer is read once, and kept until the schema may have changed. That is noticed in two ways:
///
/// - *This connection* changed it. The transaction log counts the statements that change the schema, and the
///   rollbacks and failures that undo them. When the count has moved on, everything is forgotten. The version below
///   would not do: a table created, rolled back, and another created in its place gives the same version twice.
/// - *Another connection* changed it. SQLite keeps a version of the schema in the database file ("PRAGMA
///   schema_version" in its documentation). It is compared when the schema is first needed in a transaction. From
///   then on the transaction sees one state of the database, and asking is an integer comparison. Outside of a
///   transaction the version is compared at each call.
///
/// Only those databases are asked for their version that answers came from: an attached one that nobody needed is
/// not locked. `temp` belongs to this connection, and has no version that others could change.
///
/// While an answer is being read, the statement that read the version stays unfinished. It keeps its read
/// transaction open, so that columns and indexes belong to the same state of the database.
///
/// What the C interface changes in a transaction, behind our back, is found out in the next one.
final class SchemaCache {
    private unowned(unsafe) let database: Database  // which owns this

    /// Changes whenever something has been forgotten.
    private(set) var generation = nextGeneration()

    private static let lastGeneration = Atomic<UInt64>(0)
    /// Returns a number that no other cache has, so that a connection may get a new cache.
    private static func nextGeneration() -> UInt64 { lastGeneration.add(1, ordering: .relaxed).newValue }

    /// The count of the transaction log that the answers belong to.
    private var changeCount: UInt

    /// The databases, in the order in which SQLite looks for a name ("Database Object Name Resolution").
    @exclusivity(unchecked) private var listings: [SchemaListing]?
    private var functions: [CaseInsensitiveName: TableSchema] = [:]

    init(_ database: Database) {
        self.database = database
        changeCount = database.transactionLog.schemaChangeCount
    }

    // MARK: - Validity

    /// Forgets what may no longer hold.
    func validate() throws {
        if database.knownSchema.held == 0 { try compareVersions(database.transactionLog) }
    }

    @inline(never)
    private func compareVersions(_ log: TransactionLog) throws {
        // A closed database, a lost transaction, and a cancelled access answer nothing.
        try database.checkObstruction(for: nil)
        if changeCount != log.schemaChangeCount { forget() }
        if try database.asking({ try listings?.contains { try $0.isOutdated(database) } }) == true {
            forget()
        }
        if log.isOpen { database.knownSchema.hold(generation) }
    }

    private func forget() {
        generation = Self.nextGeneration()
        database.knownSchema.forget()
        changeCount = database.transactionLog.schemaChangeCount
        listings = nil
        functions = [:]
    }

    /// Makes the generation change with the schema of a database, also if nothing was asked of it. Returns whether it
    /// did not do so before.
    func follow(_ name: String) throws -> Bool {
        try validate()
        let known = listings?.first { CaseInsensitiveName.matches($0.name, name) }
        if let known, known.version != nil || known.isTemporary { return false }
        _ = try contains(.table, "sqlite_schema", in: name)
        return true
    }

    // MARK: - Answers

    /// Returns a table or view, or nil where there is none.
    func table(_ name: String, in schemaName: String? = nil) throws -> TableSchema? {
        try validate()
        let key = CaseInsensitiveName(name)
        if let known = knownTable(key, in: schemaName) { return known }
        if schemaName == nil, let function = functions[key] { return function }
        let table = try search(in: schemaName) { listing -> TableSchema? in
            if let known = listing.tables[key] { return known }
            let kind: TableSchema.Kind
            let object: SchemaListing.Object
            if let table = listing.object(.table, name) {
                (object, kind) = (table, table.hasPages ? .table : .virtualTable)
            } else if let view = listing.object(.view, name) {
                (object, kind) = (view, .view)
            } else {
                return nil
            }
            let table = try database.asking {
                try TableSchema(database, name: object.name, in: listing.name, kind: kind, sql: object.sql)
            }
            listing.tables[key] = table
            return table
        }
        if let table { return table }
        guard schemaName == nil else { return nil }
        let function = try database.asking {
            try TableSchema(database, name: name, in: "main", kind: .tableValuedFunction)
        }
        guard !function.allColumns.isEmpty else { return nil }
        functions[key] = function
        return function
    }

    /// Returns the tables of a name, in all databases.
    func tables(named name: String) throws -> [TableSchema] {
        try databaseNames().compactMap { try table(name, in: $0) }
    }

    /// Returns the names of the databases: `temp`, `main`, and those that are attached.
    func databaseNames() throws -> [String] {
        try validate()
        return try (listings ?? listDatabases()).map(\.name)
    }

    /// Returns a table that has been read.
    private func knownTable(_ key: CaseInsensitiveName, in schemaName: String?) -> TableSchema? {
        let known = lookUp(in: schemaName) { listing -> TableSchema?? in
            if let table = listing.tables[key] { return .some(table) }
            // A table that has not been read yet hides those of the same name.
            let isThere =
                listing.object(.table, key.name) != nil || listing.object(.view, key.name) != nil
            return isThere ? .some(nil) : nil
        }
        return (known ?? nil) ?? nil
    }

    /// Whether there is an object of a kind.
    func contains(_ kind: SchemaListing.Kind, _ name: String, in schemaName: String?) throws -> Bool {
        try answer(in: schemaName) { $0.object(kind, name) == nil ? nil : true } ?? false
    }

    /// Returns an object of a kind. Nil where there is none.
    func object(
        _ kind: SchemaListing.Kind, _ name: String, in schemaName: String?
    ) throws -> SchemaListing.Object? { try answer(in: schemaName) { $0.object(kind, name) } }

    /// Returns the objects of a kind in one database.
    func objects(_ kind: SchemaListing.Kind, in schemaName: String) throws -> [SchemaListing.Object] {
        try answer(in: schemaName) { $0.objects(kind) } ?? []
    }

    /// Returns the triggers on a table, those of the connection included.
    func triggers(on table: TableSchema) throws -> [SchemaListing.Object] {
        let places =
            CaseInsensitiveName.matches(table.schemaName, "temp") ? ["temp"] : [table.schemaName, "temp"]
        return try places.flatMap { try objects(.trigger, in: $0) }.filter {
            CaseInsensitiveName.matches($0.tableName, table.name)
        }
    }

    /// Whether a table says what is to be done about conflicts, so that an INSERT may leave rows out or replace others: see "The ON
    /// CONFLICT Clause".
    func hasConflictClause(_ table: TableSchema) throws -> Bool {
        let sql = try object(.table, table.name, in: table.schemaName)?.sql ?? ""
        let tokens = SQLTokens(sql)
        return tokens.meaningful.contains { token in
            guard case .word = token.kind else { return false }
            return CaseInsensitiveName.matches(tokens.text(token.range), "CONFLICT")
        }
    }

    /// Returns the foreign keys of a table.
    func foreignKeys(of table: TableSchema) throws -> [ForeignKeyInfo] {
        try validate()
        let key = CaseInsensitiveName(table.name)
        if let known = lookUp(in: table.schemaName, { $0.foreignKeys[key] }) ?? nil { return known }
        let keys = try search(in: table.schemaName) { listing -> [ForeignKeyInfo]? in
            let pragma = "PRAGMA \(listing.name.quotedDatabaseIdentifier).foreign_key_list"
            let rows = try Row.fetchAll(
                database.makeStatement(sql: "\(pragma)(\(table.name.quotedDatabaseIdentifier))"))
            // The list begins with the youngest one.
            let keys = try Dictionary(grouping: rows) { try $0["id"] as Int }.sorted { $0.key > $1.key }
                .map { id, rows in
                    let destination: String = try rows[0]["table"]
                    return try ForeignKeyInfo(
                        rows, id: id, originTable: table.name, destinationTable: destination,
                        primaryKey: { try self.table(destination, in: listing.name)?.primaryKey })
                }
            listing.foreignKeys[key] = keys
            return keys
        }
        return keys ?? []
    }

    /// Returns an answer that the lists of objects give.
    private func answer<Answer>(
        in schemaName: String?, _ answer: (SchemaListing) -> Answer?
    ) throws -> Answer? {
        try validate()
        if let known = lookUp(in: schemaName, answer) { return known }
        return try search(in: schemaName, answer)
    }

    /// Looks into what has been read. Returns nil when something must be read first.
    private func lookUp<Answer>(
        in schemaName: String?, _ answer: (SchemaListing) -> Answer?
    ) -> Answer?? {
        guard let listings else { return nil }
        var isNameKnown = schemaName == nil
        for listing in listings {
            if let schemaName {
                guard CaseInsensitiveName.matches(schemaName, listing.name) else { continue }
                isNameKnown = true
            }
            guard listing.isLoaded else { return nil }
            if let answer = answer(listing) { return .some(answer) }
        }
        return isNameKnown ? .some(nil) : nil
    }

    /// Looks into one database, or into all, until there is an answer.
    ///
    /// - Throws: a ``DatabaseError`` when there is no database of the name.
    private func search<Answer>(
        in schemaName: String?, _ answer: (SchemaListing) throws -> Answer?
    ) throws -> Answer? {
        try database.asking { try searchAsking(in: schemaName, answer) }
    }

    private func searchAsking<Answer>(
        in schemaName: String?, _ answer: (SchemaListing) throws -> Answer?
    ) throws -> Answer? {
        while true {
            let listings = try self.listings ?? listDatabases()
            let searched = listings.filter { listing in
                schemaName.map { CaseInsensitiveName.matches($0, listing.name) } ?? true
            }
            if let schemaName, searched.isEmpty {
                throw DatabaseError(message: "unknown database \(schemaName)")
            }
            if let found = try search(searched, answer) { return found.answer }
        }
    }

    /// Returns nil when another connection has changed the schema since its version was compared.
    private func search<Answer>(
        _ listings: [SchemaListing], _ answer: (SchemaListing) throws -> Answer?
    ) throws -> (answer: Answer?, Void)? {
        // Unfinished statements: they hold the state of the databases until all is read.
        var versions: [DatabaseCursor<Int64>] = []
        defer { withExtendedLifetime(versions) {} }
        for listing in listings {
            if !listing.isTemporary {
                let cursor = try Int64.fetchCursor(listing.versionStatement(database))
                let version = try cursor.next()
                versions.append(cursor)
                if let known = listing.version, known != version {
                    forget()
                    return nil
                }
                listing.version = version
            }
            try listing.load(database)
            if let answer = try answer(listing) { return (answer, ()) }
        }
        return (nil, ())
    }

    private func listDatabases() throws -> [SchemaListing] {
        let names = try database.asking {
            try Row.fetchAll(database.makeStatement(sql: "PRAGMA database_list")).map {
                try $0["name"] as String
            }
        }
        // The list has main first, then temp if anything was in it, then the attached ones.
        let attached = names.filter {
            !CaseInsensitiveName.matches($0, "main") && !CaseInsensitiveName.matches($0, "temp")
        }
        let listings = (["temp", "main"] + attached).map(SchemaListing.init)
        self.listings = listings
        return listings
    }
}

extension Slot<SchemaCache> {
    static var schemaCache: Self { Slot(4, until: .closing) }
}

extension Database {
    /// The schemas that this connection knows.
    var schema: SchemaCache {
        checkAccess()
        return object(in: .schemaCache)?.object ?? installSchemaCache()
    }

    @inline(never)
    private func installSchemaCache() -> SchemaCache {
        knownSchema.release()
        let cache = SchemaCache(self)
        fill(.schemaCache, with: cache)
        return cache
    }

    /// Whether the schema is known without looking.
    var holdsSchema: Bool { knownSchema.held != 0 }

    /// A number that changes whenever the schema may have changed.
    ///
    /// What was learnt of the schema under a number holds as long as this returns the same number. Inside a
    /// transaction that has asked before, asking is a comparison of integers.
    var schemaGeneration: UInt64 {
        get throws { knownSchema.held != 0 ? knownSchema.held : try validSchemaGeneration() }
    }

    @inline(never)
    private func validSchemaGeneration() throws -> UInt64 {
        let schema = schema
        try schema.validate()
        return schema.generation
    }

    /// Returns what is known of a table or a view.
    ///
    /// - Throws: a ``DatabaseError`` when there is none of that name.
    func tableSchema(_ name: String, in schemaName: String? = nil) throws -> TableSchema {
        guard let table = try schema.table(name, in: schemaName) else {
            throw DatabaseError(message: "no such table: \(schemaName.map { $0 + "." } ?? "")\(name)")
        }
        return table
    }
}

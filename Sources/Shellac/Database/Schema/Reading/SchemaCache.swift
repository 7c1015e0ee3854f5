// The schema cache of a connection, invalidated by schema changes of any connection.

import Synchronization

/// The schemas of a connection's databases, as far as they have been read.
///
/// ## The life of an answer
///
/// An answer is read once, and kept until the schema may have changed. The cache detects that in
/// two ways:
///
/// - *This connection* changed it. The transaction log counts the statements that change the
///   schema, and the rollbacks and failures that undo them. When the count has changed, the cache
///   forgets everything. The version below is not enough. If a table is created, rolled back, and
///   another created in its place, the same version appears twice.
/// - *Another connection* changed it. SQLite keeps a version of the schema in the database file
///   ("PRAGMA schema_version" in its documentation). The cache compares it when a transaction first
///   needs the schema. From then on the transaction sees one state of the database, and the check
///   is an integer comparison. Outside of a transaction the cache compares the version at each
///   call.
///
/// The cache reads the version only of databases that gave answers, so an unused attached database
/// is not locked. `temp` belongs to this connection, and has no version that others could change.
///
/// While the cache reads an answer, the statement that read the version remains unfinished. It
/// keeps its read transaction open, so that columns and indexes belong to the same state of the
/// database.
///
/// A schema change made directly through the C interface in a transaction is detected in the next
/// transaction.
final class SchemaCache {
    private unowned(unsafe) let database: Database  // owns this

    /// A number that changes whenever the cache forgets something.
    private(set) var generation = nextGeneration()

    private static let lastGeneration = Atomic<UInt64>(0)
    /// Returns a number that no other cache has, so that a connection can get a new cache.
    private static func nextGeneration() -> UInt64 { lastGeneration.add(1, ordering: .relaxed).newValue }

    /// The count of the transaction log that the answers belong to.
    private var changeCount: UInt

    /// The databases, in the order in which SQLite looks for a name ("Database Object Name
    /// Resolution").
    @exclusivity(unchecked) private var listings: [SchemaListing]?
    private var functions: [CaseInsensitiveName: TableSchema] = [:]

    init(_ database: Database) {
        self.database = database
        changeCount = database.transactionLog.schemaChangeCount
    }

    // MARK: - Validity

    /// Forgets answers that may be outdated.
    func validate() throws {
        if database.knownSchema.held == 0 { try compareVersions(database.transactionLog) }
    }

    @inline(never)
    private func compareVersions(_ log: TransactionLog) throws {
        // A closed database, a lost transaction, or a cancelled access stops here with an error.
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

    /// Ensures that the generation changes with the schema of a database, even if nothing was read
    /// from it. Returns whether it did not do so before.
    func follow(_ name: String) throws -> Bool {
        try validate()
        let known = listings?.first { CaseInsensitiveName.matches($0.name, name) }
        if let known, known.version != nil || known.isTemporary { return false }
        _ = try contains(.table, "sqlite_schema", in: name)
        return true
    }

    // MARK: - Answers

    /// Returns a table or view, or nil if there is none.
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

    /// Returns the tables with the given name in all databases.
    func tables(named name: String) throws -> [TableSchema] {
        try databaseNames().compactMap { try table(name, in: $0) }
    }

    /// Returns the names of the databases: `temp`, `main`, and the attached ones.
    func databaseNames() throws -> [String] {
        try validate()
        return try (listings ?? listDatabases()).map(\.name)
    }

    /// Returns a table that has already been read.
    private func knownTable(_ key: CaseInsensitiveName, in schemaName: String?) -> TableSchema? {
        let known = lookUp(in: schemaName) { listing -> TableSchema?? in
            if let table = listing.tables[key] { return .some(table) }
            // A table that has not been read yet hides later ones of the same name.
            let isThere =
                listing.object(.table, key.name) != nil || listing.object(.view, key.name) != nil
            return isThere ? .some(nil) : nil
        }
        return (known ?? nil) ?? nil
    }

    /// Whether there is an object of the given kind.
    func contains(_ kind: SchemaListing.Kind, _ name: String, in schemaName: String?) throws -> Bool {
        try answer(in: schemaName) { $0.object(kind, name) == nil ? nil : true } ?? false
    }

    /// Returns an object of the given kind, or nil if there is none.
    func object(
        _ kind: SchemaListing.Kind, _ name: String, in schemaName: String?
    ) throws -> SchemaListing.Object? { try answer(in: schemaName) { $0.object(kind, name) } }

    /// Returns the objects of the given kind in one database.
    func objects(_ kind: SchemaListing.Kind, in schemaName: String) throws -> [SchemaListing.Object] {
        try answer(in: schemaName) { $0.objects(kind) } ?? []
    }

    /// Returns the triggers on a table, including the temporary ones of the connection.
    func triggers(on table: TableSchema) throws -> [SchemaListing.Object] {
        let places =
            CaseInsensitiveName.matches(table.schemaName, "temp") ? ["temp"] : [table.schemaName, "temp"]
        return try places.flatMap { try objects(.trigger, in: $0) }.filter {
            CaseInsensitiveName.matches($0.tableName, table.name)
        }
    }

    /// Whether the definition of a table has a conflict clause, so that an INSERT may leave out
    /// rows or replace others. See "The ON CONFLICT Clause".
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
            // The list begins with the newest one.
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

    /// Returns an answer that can be found in the lists of objects.
    private func answer<Answer>(
        in schemaName: String?, _ answer: (SchemaListing) -> Answer?
    ) throws -> Answer? {
        try validate()
        if let known = lookUp(in: schemaName, answer) { return known }
        return try search(in: schemaName, answer)
    }

    /// Looks up an answer in the listings read so far. Returns nil if something must be read first.
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

    /// Searches one database, or all of them, until one has an answer.
    ///
    /// - Throws: a ``DatabaseError`` if there is no database of that name.
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

    /// Searches the given databases. Returns nil if another connection has changed the schema since
    /// its version was compared.
    private func search<Answer>(
        _ listings: [SchemaListing], _ answer: (SchemaListing) throws -> Answer?
    ) throws -> (answer: Answer?, Void)? {
        // These statements remain unfinished: they hold the state of the databases until everything
        // is read.
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
        // The list has main first, then temp if it was ever used, then the attached databases.
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
    /// The schema cache of this connection.
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

    /// Whether the schema is known to be valid without a check.
    var holdsSchema: Bool { knownSchema.held != 0 }

    /// A number that changes whenever the schema may have changed.
    ///
    /// Everything read from the schema under a number is valid while this returns the same number.
    /// If the transaction has already checked the schema, getting the number is an integer
    /// comparison.
    var schemaGeneration: UInt64 {
        get throws { knownSchema.held != 0 ? knownSchema.held : try validSchemaGeneration() }
    }

    @inline(never)
    private func validSchemaGeneration() throws -> UInt64 {
        let schema = schema
        try schema.validate()
        return schema.generation
    }

    /// Returns the schema of a table or a view.
    ///
    /// - Throws: a ``DatabaseError`` if there is none of that name.
    func tableSchema(_ name: String, in schemaName: String? = nil) throws -> TableSchema {
        guard let table = try schema.table(name, in: schemaName) else {
            throw DatabaseError(message: "no such table: \(schemaName.map { $0 + "." } ?? "")\(name)")
        }
        return table
    }
}

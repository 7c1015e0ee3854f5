// Creates, drops and rebuilds full-text indexes, and makes them follow changes of the schema.

extension Database {
    // MARK: - Full-text indexes

    /// Creates a full-text index, and fills it with the words of all rows.
    ///
    /// ```swift
    /// migrator.registerMigration("search") { db in
    ///     try db.create(fullText: Note.search)
    /// }
    /// ```
    ///
    /// The index follows all writes from then on, by records and by SQL, and by other programs that
    /// have the tokenizer. It follows
    /// ``rebuild(table:in:options:copying:body:)``, new names, and VACUUM. It is dropped along with
    /// the table by ``drop(table:in:)``.
    ///
    /// - Parameters:
    ///   - index: The index.
    ///   - options: Options of the table, such as `.ifNotExists`.
    /// - Throws: a ``DatabaseError`` if the running SQLite lacks FTS5, or if the table has no
    ///   INTEGER PRIMARY KEY, or if a column holds no text. Nothing has changed then.
    public func create(fullText index: FullTextIndex, options: VirtualTableOptions = []) throws {
        try create(fullText: index, options: options, storage: FullTextStorage())
    }

    func create(fullText index: FullTextIndex, options: VirtualTableOptions, storage: FullTextStorage) throws
    {
        checkAccess()
        guard TokenizerModule.api(of: self) != nil else { throw TokenizerModule.missingFTS5() }
        let table = try tableSchema(index.tableName)
        if options.contains(.ifNotExists), try schema.contains(.table, index.name, in: table.schemaName) {
            return
        }
        let columns = try index.checkedColumns(of: table)
        let objects = try FullTextObjects(name: index.name, table: table, columns: columns)
        try inSavepoint {
            for sql in objects.creation(index, storage) { try execute(definition: sql) }
            try createTriggers(of: objects)
            for sql in objects.refilling { try executeQuietly(sql) }
            return .commit
        }
    }

    /// Drops a full-text index.
    ///
    /// - Parameter index: The index. Only its name matters.
    /// - Throws: a ``DatabaseError`` if there is no such index.
    public func drop(fullText index: FullTextIndex) throws {
        checkAccess()
        let schemaName = try schemaName(of: index)
        try inSavepoint {
            try dropObjects(of: index.name, in: schemaName)
            return .commit
        }
    }

    /// Drops all that belongs to an index, as far as it is there.
    private func dropObjects(of index: String, in schemaName: String) throws {
        try dropTriggers(in: schemaName) { $0.name.hasPrefix(FullTextObjects.triggerPrefix(index)) }
        for sql in FullTextObjects.removal(of: index, in: schemaName) { try execute(definition: sql) }
    }

    func dropTriggers(in schemaName: String, where isDropped: (SchemaListing.Object) -> Bool) throws {
        for trigger in try schema.objects(.trigger, in: schemaName) where isDropped(trigger) {
            try execute(definition: "DROP TRIGGER \(trigger.name.quoted(in: schemaName))")
        }
    }

    /// Fills a full-text index again with the words of all rows, and creates its triggers again if
    /// they are missing or differ.
    ///
    /// Call it after a tokenizer of your own has changed, and for an index that the drift check or
    /// `shellac doctor` found out of step.
    ///
    /// - Parameter index: The index.
    /// - Throws: a ``DatabaseError`` if there is no such index, or if its table is gone.
    public func rebuild(fullText index: FullTextIndex) throws {
        checkAccess()
        let schemaName = try schemaName(of: index)
        guard let objects = try FullTextObjects(existing: index.name, in: schemaName, self) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "the full-text index \(index.name) has lost its table: drop it with drop(fullText:)")
        }
        try inSavepoint {
            try createTriggers(of: objects)
            for sql in objects.refilling { try executeQuietly(sql) }
            return .commit
        }
    }

    /// Returns the database with an index.
    func schemaName(of index: FullTextIndex) throws -> String {
        let view = FullTextObjects.viewName(index.name)
        if let name = try schema.databaseNames().first(where: { try schema.contains(.view, view, in: $0) }) {
            return name
        }
        throw DatabaseError(
            resultCode: .SQLITE_ERROR,
            message:
                "there is no full-text index \(index.name) of the table \(index.tableName): create it with "
                + "create(fullText:)")
    }

    /// Drops the triggers that are not as the schema requires, and creates the missing ones.
    private func createTriggers(of objects: FullTextObjects) throws {
        let place = objects.table.schemaName
        let prefix = FullTextObjects.triggerPrefix(objects.name)
        let wanted = try objects.triggers(self)
        let present = try schema.objects(.trigger, in: place).filter { $0.name.hasPrefix(prefix) }
        for trigger in present
        where !wanted.contains(where: { $0.name == trigger.name && $0.sql == trigger.sql }) {
            try execute(definition: "DROP TRIGGER \(trigger.name.quoted(in: place))")
        }
        for (name, sql) in wanted where !present.contains(where: { $0.name == name && $0.sql == sql }) {
            let rest = sql.dropFirst("CREATE TRIGGER ".count)
            try execute(definition: "CREATE TRIGGER \(place.quotedDatabaseIdentifier).\(rest)")
        }
    }

    private func executeQuietly(_ sql: String) throws { try makeOwnStatement(sql: sql).execute() }

    /// Makes a statement of which the advisor says nothing.
    func makeOwnStatement(sql: String) throws -> Statement {
        let statement = try makeStatement(sql: sql)
        statement.bypassAdvice()
        return statement
    }
}

extension FullTextIndex {
    /// Returns the columns as the table spells them.
    ///
    /// - Throws: a ``DatabaseError`` if there is none, if one is missing, or if one holds no text.
    fileprivate func checkedColumns(of table: TableSchema) throws -> [String] {
        func refuse(_ reason: String) -> DatabaseError {
            DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the full-text index \(name) of the table \(tableName) cannot be created: \(reason)")
        }
        if columns.isEmpty { throw refuse("it names no columns") }
        if Set(columns.map(CaseInsensitiveName.init)).count < columns.count {
            throw refuse("it names a column twice")
        }
        for column in weights.keys where !columns.contains(where: { CaseInsensitiveName.matches($0, column) })
        {
            throw refuse("it has a weight for \(column), which it does not name")
        }
        if let (column, weight) = weights.first(where: { !$0.value.isFinite }) {
            throw refuse("the weight of \(column) is \(weight)")
        }
        return try columns.map { name in
            guard let column = table.column(named: name) else {
                let nearest =
                    table.columns.map(\.name).nearest(to: name).map { " (did you mean \($0)?)" } ?? ""
                throw refuse("the table has no column \(name)\(nearest)")
            }
            let isText =
                column.affinity == .text || column.type.isEmpty || column.isDeclared(as: "any", "json")
            guard isText else {
                throw refuse("the column \(column.name) is declared \(column.type), and holds no text")
            }
            return column.name
        }
    }
}

extension ColumnInfo {
    /// Whether the declared type contains a word.
    fileprivate func isDeclared(as words: String...) -> Bool {
        let type = type.lowercased()
        return words.contains { type.contains($0) }
    }
}

// MARK: - Changes of the schema

extension Database: IndexMaintenance {
    func hasMaintainedIndexes(in schemaName: String) throws -> Bool {
        try schema.objects(.view, in: schemaName).contains { $0.name.hasPrefix(FullTextObjects.ownPrefix) }
    }

    func suspendIndexes(of table: String, in schemaName: String) throws {
        try dropTriggers(in: schemaName) {
            $0.name.hasPrefix(FullTextObjects.ownPrefix) && CaseInsensitiveName.matches($0.tableName, table)
        }
    }

    func followIndexes(in schemaName: String, rewritten: String?) throws {
        for name in try FullTextObjects.names(self, in: schemaName) {
            guard let objects = try FullTextObjects(existing: name, in: schemaName, self),
                try schema.contains(.table, name, in: schemaName)
            else {
                // The table of the rows, or that of the index, was dropped.
                try dropObjects(of: name, in: schemaName)
                continue
            }
            try createTriggers(of: objects)
            if let rewritten, CaseInsensitiveName.matches(rewritten, objects.table.name) {
                for sql in objects.refilling { try executeQuietly(sql) }
            }
        }
    }
}

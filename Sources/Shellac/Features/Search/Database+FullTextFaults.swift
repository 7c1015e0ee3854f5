// Finds out whether full-text indexes are in step with the rows of their tables.

extension Database {
    /// Returns the faults of all full-text indexes of a database, by their names. The value is nil
    /// for an index without a fault.
    package func fullTextIndexes(in schemaName: String = "main") throws -> [(
        name: String, usesWords: Bool, fault: String?
    )] {
        checkAccess()
        return try FullTextObjects.names(self, in: schemaName).map { name in
            let sql = try schema.object(.table, name, in: schemaName)?.sql ?? ""
            let usesWords = sql.contains("tokenize='''\(WordTokenizer.name)'' ")
            guard let objects = try FullTextObjects(existing: name, in: schemaName, self) else {
                return (name, usesWords, "its table is gone. Call drop(fullText:)")
            }
            return (name, usesWords, try fault(of: objects))
        }
    }

    /// Returns the reason why an index is not in step. Nil if it is.
    ///
    /// The words of the rows are compared only if the connection may write. (FTS5's check is a
    /// command, though it writes nothing.)
    func fault(of objects: FullTextObjects) throws -> String? {
        guard try objects.arePresent(self) else {
            return "its triggers are missing or differ. Call rebuild(fullText:)"
        }
        do {
            let (missing, superfluous) = (objects.countOfMissing, objects.countOfSuperfluous)
            let counts = try (count(missing), count(superfluous))
            if counts.0 > 0 || counts.1 > 0 {
                return "it lacks \(counts.0) of the rows, and has \(counts.1) that are gone. "
                    + "Call rebuild(fullText:)"
            }
            if !isReadOnlyScope, !configuration.readonly {
                try makeStatement(sql: objects.integrityCheck).execute()
            }
            return nil
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return "its words are not those of the rows. Call rebuild(fullText:)"
        } catch let error as DatabaseError
            where [.SQLITE_READONLY, .SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode)
        {
            return nil
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return "it cannot be read (\(error.message ?? "\(error.resultCode)"))"
        }
    }

    private func count(_ sql: String) throws -> Int {
        try Int.fetchOne(makeOwnStatement(sql: sql)) ?? 0
    }
}

extension FullTextObjects {
    private var sizes: String { "\(name)_docsize".quoted(in: table.schemaName) }
    private var rows: String { table.name.quoted(in: table.schemaName) }
    private var rowID: String { (table.primaryKey.rowIDColumn ?? "rowid").quotedDatabaseIdentifier }

    /// A query for the number of rows that the index lacks.
    var countOfMissing: String {
        "SELECT COUNT(*) FROM \(rows) AS t WHERE NOT EXISTS (SELECT 1 FROM \(sizes) AS d WHERE d.id = t.\(rowID))"
    }

    /// A query for the number of rows in the index that the table lacks.
    var countOfSuperfluous: String {
        "SELECT COUNT(*) FROM \(sizes) AS d WHERE NOT EXISTS (SELECT 1 FROM \(rows) AS t WHERE t.\(rowID) = d.id)"
    }

    /// The command of FTS5 that compares an index with its texts. See "The 'integrity-check'
    /// Command" in the SQLite documentation.
    var integrityCheck: String {
        let index = name.quotedDatabaseIdentifier
        return
            "INSERT INTO \(name.quoted(in: table.schemaName)) (\(index), rank) VALUES ('integrity-check', 1)"
    }
}

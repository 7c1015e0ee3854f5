// Opening blobs that are read and written in pieces.

import CSQLite

extension Database {
    /// Reads a blob in pieces.
    ///
    /// ```swift
    /// try dbQueue.read { db in
    ///     try db.readBlob("content", of: "file", rowID: 7) { blob in
    ///         try blob.forEachPiece { piece in try file.write(contentsOf: piece) }
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - column: The column of the blob. Texts are read as their bytes.
    ///   - table: The table, which must have row IDs.
    ///   - rowID: The row.
    ///   - schemaName: The database of the table: `main`, `temp`, or the name of an attached one.
    ///   - body: A function that gets the blob, which is open until the function returns.
    /// - Throws: A ``DatabaseError`` that names the table and the column if there is no such blob.
    ///   Errors of the function.
    public func readBlob<T>(
        _ column: String, of table: String, rowID: Int64, in schemaName: String = "main",
        _ body: (borrowing DatabaseBlob) throws -> T
    ) throws -> T {
        checkAccess()
        let place = DatabaseBlob.Handle.Place(schema: schemaName, table: table, column: column)
        // A statement, so that a function that follows its reads follows this one.
        try execute(sql: "SELECT \(place.quotedColumn) FROM \(place.quotedTable) LIMIT 0")
        return try withBlob(place, rowID: rowID, isWritable: false, body)
    }

    /// Writes a blob in pieces, all of them or none: an error undoes what has been written.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try db.execute(sql: "INSERT INTO file (name) VALUES ('film')")
    ///     try db.writeBlob("content", of: "file", rowID: db.lastInsertedRowID, count: size) { blob in
    ///         var offset = 0
    ///         while let piece = try source.read(upToCount: 65_536), !piece.isEmpty {
    ///             try blob.write(piece, at: offset)
    ///             offset += piece.count
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// A blob that is open cannot grow or shrink. With `count`, the value is first replaced with so
    /// many zeros, which takes no memory: see "zeroblob" in the SQLite documentation.
    ///
    /// Observers of the column are notified, but not of the row. SQLite runs no triggers for the
    /// pieces, so everything that depends on triggers misses them. Columns with an index or a
    /// foreign key cannot be written in pieces.
    ///
    /// - Parameters:
    ///   - column: The column of the blob.
    ///   - table: The table, which must have row IDs.
    ///   - rowID: The row.
    ///   - count: The number of zeros that replace the value first. Nil to keep the value.
    ///   - schemaName: The database of the table: `main`, `temp`, or the name of an attached one.
    ///   - body: A function that gets the blob, which is open until the function returns.
    /// - Throws: A ``DatabaseError`` that names the table and the column if there is no such blob,
    ///   or if it cannot be written. Errors of the function.
    public func writeBlob<T>(
        _ column: String, of table: String, rowID: Int64, count: Int? = nil, in schemaName: String = "main",
        _ body: (borrowing DatabaseBlob) throws -> T
    ) throws -> T {
        checkAccess()
        let place = DatabaseBlob.Handle.Place(schema: schemaName, table: table, column: column)
        var result: T?
        try inSavepoint {
            if let count {
                try replace(place, rowID, withZeros: count)
            } else {
                // It changes no row. But it takes the lock, and reports a write, as blobs do not.
                try execute(
                    sql:
                        "UPDATE \(place.quotedTable) SET \(place.quotedColumn) = \(place.quotedColumn) WHERE 0"
                )
            }
            result = try withBlob(place, rowID: rowID, isWritable: true, body)
            try notifyUpdate(of: place)
            return .commit
        }
        guard let result else { throw lostTransaction ?? closedError() }
        return result
    }

    /// Notifies the observers of the column.
    private func notifyUpdate(of place: DatabaseBlob.Handle.Place) throws {
        guard let broker, !broker.observers.isEmpty else { return }
        let kinds = try DatabaseRegion(table: place.table, columns: [place.column]).eventKinds(self)
        broker.tellUndetectedChanges(kinds.filter { if case .update = $0 { true } else { false } })
    }

    /// Replaces a value with zeros.
    private func replace(_ place: DatabaseBlob.Handle.Place, _ rowID: Int64, withZeros count: Int) throws {
        if count < 0 {
            throw DatabaseError(
                resultCode: .SQLITE_RANGE,
                message: "the blob \(place.table).\(place.column) cannot have \(count) bytes")
        }
        // A column may have one of the names of the row ID.
        let columns = Set(try columns(in: place.table, in: place.schema).map { $0.name.lowercased() })
        let name = TableSchema.rowIDNames.first { !columns.contains($0) } ?? "rowid"
        try execute(
            sql: "UPDATE \(place.quotedTable) SET \(place.quotedColumn) = zeroblob(?) WHERE \(name) = ?",
            arguments: [count, rowID])
    }

    private func withBlob<T>(
        _ place: DatabaseBlob.Handle.Place, rowID: Int64, isWritable: Bool,
        _ body: (borrowing DatabaseBlob) throws -> T
    ) throws -> T {
        let handle = try DatabaseBlob.Handle(self, place, rowID: rowID, isWritable: isWritable)
        defer { handle.close() }
        return try body(DatabaseBlob(handle))
    }
}

extension DatabaseBlob.Handle.Place {
    fileprivate var quotedTable: String {
        "\(schema.quotedDatabaseIdentifier).\(table.quotedDatabaseIdentifier)"
    }
    fileprivate var quotedColumn: String { column.quotedDatabaseIdentifier }
}

// Records are read from the rows of other tables that came with a row.

extension Row {
    /// The record of a joined row: the nearest one of this key.
    ///
    /// ```swift
    /// struct PlayerInfo: FetchableRecord {
    ///     var player: Player
    ///     var team: Team?
    ///
    ///     init(row: Row) throws {
    ///         player = try Player(row: row)
    ///         team = try row["team"]
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter key: The key of the table that was joined: its name in the singular, unless it was given another one. Or the
    ///   name of a part, as a ``ScopeAdapter`` gives it.
    /// - Throws: a ``RowDecodingError`` where no row was joined, and what the record throws.
    public subscript<Joined: FetchableRecord>(_ key: String) -> Joined {
        get throws {
            guard let row = scopesTree[key] else { throw missingRow(key, Joined.self) }
            return try Joined(row: row)
        }
    }

    /// The record of a joined row, or nil where none was joined: the nearest one of this key.
    ///
    /// - Parameter key: The key of the table that was joined: its name in the singular, unless it was given another one. Or the
    ///   name of a part, as a ``ScopeAdapter`` gives it.
    /// - Throws: what the record throws.
    public subscript<Joined: FetchableRecord>(_ key: String) -> Joined? {
        get throws { try scopesTree[key].map { try Joined(row: $0) } }
    }

    /// The records of rows that were fetched besides: see `including(all:)`.
    ///
    /// - Parameter key: The key of the rows: the name of their table in the plural, unless they were given another one.
    /// - Throws: a ``RowDecodingError`` where none were fetched under this key, and what a record throws.
    public subscript<Joined: FetchableRecord>(_ key: String) -> [Joined] {
        get throws {
            guard let rows = prefetchedRows[key] else { throw missingRow(key, [Joined].self) }
            return try rows.map { try Joined(row: $0) }
        }
    }

    /// The records of rows that were fetched besides, as a set: see `including(all:)`.
    ///
    /// - Parameter key: The key of the rows: the name of their table in the plural, unless they were given another one.
    /// - Throws: a ``RowDecodingError`` where none were fetched under this key, and what a record throws.
    public subscript<Joined: FetchableRecord & Hashable>(_ key: String) -> Set<Joined> {
        get throws { Set(try self[key] as [Joined]) }
    }

    /// The error of a row that was not joined with this one, or of rows that were not fetched along with it.
    func missingRow(_ key: String, _ type: any Any.Type) -> RowDecodingError {
        RowDecodingError(
            reason: scopesTree.names.contains(key) ? .unexpectedNull : .columnNotFound, columnName: key,
            columnIndex: nil, expectedType: type,
            databaseValue: nil,
            row: Array(self), sql: layout.sql)
    }
}

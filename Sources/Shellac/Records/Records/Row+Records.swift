// Reads records from the rows of other tables that came with a row.

extension Row {
    /// The record of a joined row, the nearest one with this key.
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
    /// - Parameter key: The key of the joined table: its name in the singular, unless the request
    ///   declares another key. Or the name of a part, as defined by a ``ScopeAdapter``.
    /// - Throws: a ``RowDecodingError`` if no row was joined, and any error of the record.
    public subscript<Joined: FetchableRecord>(_ key: String) -> Joined {
        get throws {
            guard let row = scopesTree[key] else { throw missingRow(key, Joined.self) }
            return try Joined(row: row)
        }
    }

    /// The record of a joined row, the nearest one with this key, or nil if none was joined.
    ///
    /// - Parameter key: The key of the joined table: its name in the singular, unless the request
    ///   declares another key. Or the name of a part, as defined by a ``ScopeAdapter``.
    /// - Throws: any error of the record.
    public subscript<Joined: FetchableRecord>(_ key: String) -> Joined? {
        get throws { try scopesTree[key].map { try Joined(row: $0) } }
    }

    /// The records of prefetched rows: see `including(all:)`.
    ///
    /// - Parameter key: The key of the rows: the name of their table in the plural, unless they
    ///   were given another key.
    /// - Throws: a ``RowDecodingError`` if none were fetched under this key, and any error of a
    ///   record.
    public subscript<Joined: FetchableRecord>(_ key: String) -> [Joined] {
        get throws {
            guard let rows = prefetchedRows[key] else { throw missingRow(key, [Joined].self) }
            return try rows.map { try Joined(row: $0) }
        }
    }

    /// The records of prefetched rows, as a set: see `including(all:)`.
    ///
    /// - Parameter key: The key of the rows: the name of their table in the plural, unless they
    ///   were given another key.
    /// - Throws: a ``RowDecodingError`` if none were fetched under this key, and any error of a
    ///   record.
    public subscript<Joined: FetchableRecord & Hashable>(_ key: String) -> Set<Joined> {
        get throws { Set(try self[key] as [Joined]) }
    }

    /// Returns the error for a row that was not joined with this one, or for rows that were not
    /// prefetched.
    func missingRow(_ key: String, _ type: any Any.Type) -> RowDecodingError {
        RowDecodingError(
            reason: scopesTree.names.contains(key) ? .unexpectedNull : .columnNotFound, columnName: key,
            columnIndex: nil, expectedType: type,
            databaseValue: nil,
            row: Array(self), sql: layout.sql)
    }
}

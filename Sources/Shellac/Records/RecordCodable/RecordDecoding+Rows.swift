// Decodes properties that are records of the row itself, or of rows that came with it.

extension RecordDecoding {
    /// Decodes a property from the rows that came with the row. Nil if none came under its name.
    func decodeRows<Value: Decodable>(_ type: Value.Type, of key: String) throws -> Value? {
        if type is any DatabaseValueConvertible.Type, row.hasColumn(key) { return nil }
        if let optional = type as? any OptionalOfRows.Type {
            guard row.scopesTree.names.contains(key) || rows(ofList: key) != nil else { return nil }
            return try optional.decodeWrapped(of: key, by: self) as? Value
        }
        if let list = type as? any ListOfRows.Type, let rows = rows(ofList: key) {
            return try list.decode(rows, of: key, by: self) as? Value
        }
        // A table that is joined only to reach other tables has a scope without columns.
        guard let row = row.scopesTree[key], row.count > 0 else { return nil }
        return .some(try decodeRow(row, as: type, of: [ColumnKey(key)]))
    }

    /// Returns the rows of a list: none if the row that would have them was not joined. Nil if
    /// there is no such list.
    private func rows(ofList key: String) -> [Row]? {
        row.prefetchedRows[key] ?? (row.missesList(key) ? [] : nil)
    }

    /// Decodes a property whose type is a record of the row itself. Nil if it is not.
    func decodeOwnRow<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        guard type is any FetchableRecord.Type else { return nil }
        // A record of another table would take columns of the same name, although its row was not
        // fetched.
        if let table = type as? any TableRecord.Type {
            let isOwn =
                // An adapter does not know the table.
                if let attached = row.attached, !attached.table.isEmpty {
                    CaseInsensitiveName.matches(attached.table, table.databaseTableName)
                } else {
                    row.layout.namesTable(
                        ofType: UInt(bitPattern: ObjectIdentifier(table)), { table.databaseTableName })
                }
            if !isOwn { return nil }
        }
        return .some(try decodeRow(row, as: type, of: []))
    }

    /// Decodes a row.
    ///
    /// - Parameter path: The keys of the properties that it is decoded for.
    func decodeRow<Value: Decodable>(
        _ row: Row, as: Value.Type, of path: [any CodingKey]
    ) throws -> Value {
        if let type = Value.self as? any FetchableRecord.Type, let value = try type.init(row: row) as? Value {
            return value
        }
        let decoding = RecordDecoding(row: row, record: record)
        return try Value(from: RecordDecoder(decoding: decoding, codingPath: path))
    }
}

/// A list of values decoded from rows. A cast finds it.
private protocol ListOfRows {
    static func decode(_ rows: [Row], of key: String, by decoding: RecordDecoding) throws -> Self
}

extension Array: ListOfRows where Element: Decodable {
    fileprivate static func decode(
        _ rows: [Row], of key: String, by decoding: RecordDecoding
    ) throws -> Self {
        try rows.map { try decoding.decodeRow($0, as: Element.self, of: [ColumnKey(key)]) }
    }
}

extension Set: ListOfRows where Element: Decodable {
    fileprivate static func decode(
        _ rows: [Row], of key: String, by decoding: RecordDecoding
    ) throws -> Self { try Set([Element].decode(rows, of: key, by: decoding)) }
}

/// An optional of a value decoded from rows. A cast finds it.
private protocol OptionalOfRows {
    static func decodeWrapped(of key: String, by decoding: RecordDecoding) throws -> Self
}

extension Optional: OptionalOfRows where Wrapped: Decodable {
    fileprivate static func decodeWrapped(of key: String, by decoding: RecordDecoding) throws -> Self {
        try decoding.decodeRows(Wrapped.self, of: key)
    }
}

// The properties of a `Decodable` type that are no columns: records of the row itself, and of rows that came with it.

extension RecordDecoding {
    /// Decodes a property from the rows that came with the row. Nil where none came under its name.
    func decodeRows<Value: Decodable>(_ type: Value.Type, of key: String) throws -> Value? {
        if type is any DatabaseValueConvertible.Type, row.hasColumn(key) { return nil }
        if let optional = type as? any OptionalOfRows.Type {
            guard row.scopesTree.names.contains(key) || row.prefetchedRows[key] != nil else { return nil }
            return try optional.decodeWrapped(of: key, by: self) as? Value
        }
        if let rows = row.prefetchedRows[key], let list = type as? any ListOfRows.Type {
            return try list.decode(rows, by: self) as? Value
        }
        // A table that is joined for others behind it has a scope without columns.
        guard let row = row.scopesTree[key], row.count > 0 else { return nil }
        return .some(try decodeRow(row, as: type))
    }

    /// Decodes a property whose type is a record of the row itself. Nil where it is none.
    func decodeOwnRow<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        guard type is any FetchableRecord.Type else { return nil }
        // The record of another table would take what has the same name: that was forgotten to be fetched.
        if let table = type as? any TableRecord.Type {
            let isOwn =
                if let attached = row.attached {
                    CaseInsensitiveName.matches(attached.table, table.databaseTableName)
                } else {
                    row.layout.namesTable(
                        ofType: UInt(bitPattern: ObjectIdentifier(table)), { table.databaseTableName })
                }
            if !isOwn { return nil }
        }
        return .some(try decodeRow(row, as: type))
    }

    /// Decodes a row.
    fileprivate func decodeRow<Value: Decodable>(_ row: Row, as: Value.Type) throws -> Value {
        if let type = Value.self as? any FetchableRecord.Type, let value = try type.init(row: row) as? Value {
            return value
        }
        return try Value(from: RecordDecoder(decoding: RecordDecoding(row: row, record: record)))
    }
}

/// A list of what rows are decoded as, which a cast finds.
private protocol ListOfRows {
    static func decode(_ rows: [Row], by decoding: RecordDecoding) throws -> Self
}

extension Array: ListOfRows where Element: Decodable {
    fileprivate static func decode(_ rows: [Row], by decoding: RecordDecoding) throws -> Self {
        try rows.map { try decoding.decodeRow($0, as: Element.self) }
    }
}

extension Set: ListOfRows where Element: Decodable {
    fileprivate static func decode(_ rows: [Row], by decoding: RecordDecoding) throws -> Self {
        try Set(rows.map { try decoding.decodeRow($0, as: Element.self) })
    }
}

/// An optional of what rows are decoded as, which a cast finds.
private protocol OptionalOfRows {
    static func decodeWrapped(of key: String, by decoding: RecordDecoding) throws -> Self
}

extension Optional: OptionalOfRows where Wrapped: Decodable {
    fileprivate static func decodeWrapped(of key: String, by decoding: RecordDecoding) throws -> Self {
        try decoding.decodeRows(Wrapped.self, of: key)
    }
}

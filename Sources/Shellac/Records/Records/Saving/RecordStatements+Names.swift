// Conversion between names and places of the columns that records of a type encode.

extension RecordStatements {
    /// Returns the names of the given columns.
    func names(of mask: ColumnMask) -> Set<String> {
        if let lastColumns, lastColumns.mask == mask { return lastColumns.names }
        let names = Set(layout.names.indices.lazy.filter(mask.contains).map { self.layout.names[$0] })
        lastColumns = (mask, names)
        return names
    }

    /// Returns the columns with the given names.
    func columns(named names: Set<String>) throws -> ColumnMask {
        // If the set is identical to the last one, Swift compares no names. If only Swift treats
        // several column names as equal, the set has one of them. It then means all columns
        // that the update has named.
        if let lastColumns, lastColumns.names == names,
            hasASCIINames || lastColumns.mask.count > names.count
        {
            return lastColumns.mask
        }
        var mask = ColumnMask()
        for name in names {
            guard let column = layout.column(named: name) else {
                throw RecordError.columnNotEncoded(databaseTableName: plan.tableName, column: name)
            }
            mask.insert(column)
        }
        return mask
    }
}

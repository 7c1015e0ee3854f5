// Some of the columns that records of a type encode, by their names and by their places.

extension RecordStatements {
    /// The names of some columns.
    func names(of mask: ColumnMask) -> Set<String> {
        if let lastColumns, lastColumns.mask == mask { return lastColumns.names }
        let names = Set(layout.names.indices.lazy.filter(mask.contains).map { self.layout.names[$0] })
        lastColumns = (mask, names)
        return names
    }

    /// The columns of some names.
    func columns(named names: Set<String>) throws -> ColumnMask {
        // The same set, and not only an equal one, is known without a comparison of names.
        // One of several columns whose names are equal for Swift alone stands for all that an update has named.
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

// Facts about the columns that records of a type encode: the key among them, and their names.

/// The columns of the primary key among those that records encode.
struct EncodedKey {
    /// Their places, in the order of the key. Empty unless all are encoded.
    let columns: [Int]
    let mask: ColumnMask
    /// Whether each row that is found by a key holds exactly the record's values in it.
    let isExact: Bool
    /// Whether it may hold a date, because it is not a row id.
    let mayHoldDate: Bool

    init(columns: [Int], isExact: Bool, isRowID: Bool) {
        (self.columns, self.isExact) = (columns, isExact)
        mask = ColumnMask(columns)
        mayHoldDate = !isRowID && !columns.isEmpty
    }
}

/// The names of the columns that records encode.
struct ColumnNames {
    let all: Set<String>
    /// Whether names that Swift treats as equal always have the same bytes.
    let areASCII: Bool
    /// Whether one of them is a name of the row id, whatever the table's columns are.
    let includeRowIDName: Bool
    /// The columns that were requested last, and their names. Records of a type often change in
    /// the same columns.
    fileprivate var last: (mask: ColumnMask, names: Set<String>)?

    init(_ names: [String]) {
        all = Set(names)
        areASCII = names.allSatisfy { $0.utf8.allSatisfy { $0 < 128 } }
        includeRowIDName = names.contains { name in
            TableSchema.rowIDNames.contains { CaseInsensitiveName.matches($0, name) }
        }
    }
}

extension RecordStatements {
    /// Returns the names of the given columns.
    func names(of mask: ColumnMask) -> Set<String> {
        if let last = names.last, last.mask == mask { return last.names }
        let found = Set(layout.names.indices.lazy.filter(mask.contains).map { self.layout.names[$0] })
        names.last = (mask, found)
        return found
    }

    /// Returns the columns with the given names.
    func columns(named names: Set<String>) throws -> ColumnMask {
        // If the set is identical to the last one, Swift compares no names. If only Swift treats
        // several column names as equal, the set has one of them. It then means all columns
        // that the update has named.
        if let last = self.names.last, last.names == names,
            self.names.areASCII || last.mask.count > names.count
        {
            return last.mask
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

/// A row in which rows of the same columns are read, one at a time.
struct RowReading {
    private var row: LiveRow?
    fileprivate var isReading = false

    /// Returns the row. Nil if it is being read.
    fileprivate mutating func begin(_ layout: RowLayout) -> LiveRow? {
        if isReading { return nil }
        let row = row ?? .make(layout: layout)
        (self.row, isReading) = (row, true)
        return row
    }

    /// Returns the row's memory.
    func end() { row?.recycle() }
}

extension RecordStatements {
    /// Runs a function with a row over packed columns. The row is valid until the function returns.
    func withRow<Result>(on packed: PackedRow, _ body: (Row) throws -> Result) rethrows -> Result {
        defer { withExtendedLifetime(packed) {} }
        guard let row = reading.begin(layout) else { return try body(Row(packed)) }
        defer { reading.isReading = false }
        return try row.standing(on: packed.bytes) { try body(Row(row)) }
    }
}

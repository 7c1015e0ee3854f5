// The values that the row of an update must hold, compared by SQLite in the statement that writes.

import CSQLite

/// A choice of the columns in which a row must still hold the values that a record remembers. An
/// upper layer makes it.
protocol UpdateCondition: Sendable {
    /// Returns the values that the row of a record must hold.
    ///
    /// - Parameter mask: The columns that are about to be written.
    /// - Throws: an error if the record does not remember one of these columns, so that it is
    ///   unknown whether it was changed.
    func expectedRow(of record: Record, writing mask: ColumnMask, by writer: RecordWriter) throws
        -> ExpectedRow
}

/// The columns of a row that must hold the expected values.
struct ExpectedColumns: Hashable {
    /// The columns that the record encodes.
    var encoded = ColumnMask()
    /// The columns that it does not encode, but remembers. Nil for none, as in most updates,
    /// because nil is copied without reference counting.
    var others: [String]?
}

/// The values that a row must hold when a record updates it: the values that the record remembers.
///
/// There is no version column. If the value is the same, it does not matter whether the row was
/// written meanwhile. SQLite compares the values in the statement that writes. A second statement
/// runs only if nothing was written, and finds the reason.
///
/// Each writer has one instance, which is set for each update that expects values. So its
/// references are counted once, and not at each call that passes it on.
final class ExpectedRow {
    @exclusivity(unchecked) private(set) var columns = ExpectedColumns()
    @exclusivity(unchecked) private var row: PackedRow?
    /// The places of the columns in the row. Nil if they are as in the record.
    @exclusivity(unchecked) private var places: [Int]?
    /// The columns that the record needs to remember, but does not. Nil for none.
    @exclusivity(unchecked) private(set) var unknown: [String]?

    /// Expects columns of a row that has them at the same places as the record.
    @inline(__always)
    func set(_ encoded: ColumnMask, of row: PackedRow) {
        columns.encoded = encoded
        self.row = row
    }

    func set(
        _ columns: ExpectedColumns, of row: PackedRow?, in places: [Int], unknown: [String]?
    ) {
        (self.columns, self.row, self.places, self.unknown) = (columns, row, places, unknown)
    }

    /// Releases the row. A row without another owner can then be overwritten in place, without an
    /// allocation.
    @inline(__always)
    func clear() {
        row = nil
        if columns.others != nil { columns.others = nil }
        if places != nil { places = nil }
        if unknown != nil { unknown = nil }
    }

    /// Whether these are the same columns.
    @inline(__always)
    func hasColumns(_ others: ExpectedColumns?) -> Bool {
        guard let others else { return false }
        // Usually, there are none of the second kind.
        if columns.others != nil || others.others != nil { return columns == others }
        return columns.encoded == others.encoded
    }

    /// The expected values.
    var values: [DatabaseValue] {
        var values: [DatabaseValue] = []
        eachValue { values.append($0.view.databaseValue) }
        return values
    }

    /// Binds the expected values.
    func bind(to pointer: OpaquePointer, from first: Int32) -> Int32 {
        var (code, parameter) = (SQLITE_OK, first)
        eachValue { value in
            let bound = value.bind(to: pointer, at: parameter)
            if bound != SQLITE_OK { code = bound }
            parameter &+= 1
        }
        return code
    }

    /// Calls a function with each value, in place.
    @inline(__always)
    private func eachValue(_ body: (PackedValue) -> Void) {
        // Nothing called here releases the row.
        guard let row = row.map({ Unretained($0) }) else { return }
        row.use { row in
            guard places == nil else { return eachPlace { body(row.column($0)) } }
            row.bytes.eachColumn(in: columns.encoded, body)
        }
    }

    @inline(never)
    private func eachPlace(_ body: (Int) -> Void) {
        for place in places ?? [] { body(place) }
    }

    /// The names of the columns, in the order of the values.
    func names(encodedAs layout: RowLayout) -> [String] {
        let encoded = layout.names.indices.filter(columns.encoded.contains).map { layout.names[$0] }
        return encoded + (columns.others ?? [])
    }
}

extension RecordWriter {
    /// Whether the record has the key of a row of the same columns, to the last byte.
    func hasKey(of row: PackedRow) -> Bool {
        withStatements { statements in
            statements.key.columns.allSatisfy { columns.column($0).isStored(as: row.column($0), in: nil) }
        }
    }

    /// Checks that the record's row holds the expected values.
    @inline(never)
    func checkRow(isAs expected: ExpectedRow) throws {
        guard hasKey else { throw notFound }
        let (names, count) = (expected.names(encodedAs: columns.layout), Int32(expected.values.count))
        let statement = try statements.comparison(with: expected.columns)
        try statement.begin {
            let code = expected.bind(to: $0, from: 1)
            let bound = bindKey(to: $0, from: 1 + count)
            return bound == SQLITE_OK ? code : bound
        }
        defer { statement.abandon() }
        guard try statement.step() else { throw notFound }
        let row = Array(Row(statement.row).copy())
        let stale = zip(names, row).filter { $1.1 != true.databaseValue }.map(\.0)
        let unknown = expected.unknown ?? []
        if stale.isEmpty && unknown.isEmpty { return }
        throw RecordError.stale(
            columns: stale + unknown,
            row: CurrentRow(databaseTableName: plan.tableName, columns: Array(row.dropFirst(names.count))))
    }
}

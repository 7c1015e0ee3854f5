// Optimistic locking by column values: an update that writes only if the row is unchanged.

import CSQLite

/// The columns that an update is to find as the record remembers them, or else it writes nothing: see
/// ``Record/update(_:ifUnchanged:)``.
public struct UnchangedColumns: Hashable, Sendable {
    private enum Form: Hashable {
        case changed, all
        case named(Set<String>)

        var names: Set<String>? { if case .named(let names) = self { names } else { nil } }
    }
    private let form: Form

    /// The columns that are about to be written: what somebody else has written to the others stays.
    public static let changedColumns = UnchangedColumns(form: .changed)

    /// All columns that the record remembers: what it writes may depend on each of them.
    public static let all = UnchangedColumns(form: .all)

    /// Some columns.
    ///
    /// - Parameter names: The names of columns that the record encodes, or of others of its table that it remembers. Another one
    ///   throws ``RecordError/columnNotEncoded(databaseTableName:column:)``.
    public static func columns(_ names: Set<String>) -> Self { UnchangedColumns(form: .named(names)) }

    /// Some columns.
    ///
    /// - Parameter columns: Columns that the record encodes, or others of its table that it remembers. Another one throws
    ///   ``RecordError/columnNotEncoded(databaseTableName:column:)``.
    public static func columns(_ columns: [Column]) -> Self { .columns(Set(columns.map(\.name))) }
}

/// The columns of a row that are to hold what is expected.
struct ExpectedColumns: Hashable {
    /// Those that the record encodes.
    var encoded = ColumnMask()
    /// Those that it does not, but remembers. Nil for none, as in most updates: nil is copied without being counted.
    var others: [String]?
}

/// What a row is to hold where a record updates it: what the record remembers.
///
/// There is no column with a version: to have read the same value again is as good as to know that nobody has written it. SQLite
/// compares, in the statement that writes; a second one is needed only where nothing was written, and tells why.
///
/// Each writer has one of these, which is set for each update that expects something: what it refers to is counted once then, and not by
/// whoever hands it on.
final class ExpectedRow {
    @exclusivity(unchecked) private(set) var columns = ExpectedColumns()
    @exclusivity(unchecked) private var row: PackedRow?
    /// Where the columns stand in the row. Nil where they stand as in the record.
    @exclusivity(unchecked) private var places: [Int]?
    /// Those that the record is to remember, and does not. Nil for none.
    @exclusivity(unchecked) private(set) var unknown: [String]?

    /// Expects columns of a row that stand in it as in the record.
    @inline(__always)
    fileprivate func set(_ encoded: ColumnMask, of row: PackedRow) {
        columns.encoded = encoded
        self.row = row
    }

    fileprivate func set(
        _ columns: ExpectedColumns, of row: PackedRow?, in places: [Int], unknown: [String]?
    ) {
        (self.columns, self.row, self.places, self.unknown) = (columns, row, places, unknown)
    }

    /// Lets go of the row: what nobody else has is written over, and need not be allocated again.
    @inline(__always)
    func clear() {
        row = nil
        if columns.others != nil { columns.others = nil }
        if places != nil { places = nil }
        if unknown != nil { unknown = nil }
    }

    /// Whether these are the columns.
    @inline(__always)
    func hasColumns(_ others: ExpectedColumns?) -> Bool {
        guard let others else { return false }
        // Mostly, there are none of the second kind.
        if columns.others != nil || others.others != nil { return columns == others }
        return columns.encoded == others.encoded
    }

    /// The values.
    var values: [DatabaseValue] {
        var values: [DatabaseValue] = []
        eachValue { values.append($0.view.databaseValue) }
        return values
    }

    /// Binds the values.
    func bind(to pointer: OpaquePointer, from first: Int32) -> Int32 {
        var (code, parameter) = (SQLITE_OK, first)
        eachValue { value in
            let bound = value.bind(to: pointer, at: parameter)
            if bound != SQLITE_OK { code = bound }
            parameter &+= 1
        }
        return code
    }

    /// Calls a function with each value, where it stands.
    @inline(__always)
    private func eachValue(_ body: (PackedValue) -> Void) {
        // Nothing that this calls lets go of the row.
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
    /// Returns what the row of a record is to hold. Nil for a record of a struct, which remembers nothing.
    ///
    /// - Parameter mask: The columns that are about to be written.
    /// - Throws: ``RecordError/stale(columns:row:)`` where the record does not remember one of these columns, so that nobody
    ///   knows whether it was changed, and ``RecordError/recordNotFound(databaseTableName:key:)`` where there is no row.
    @inline(never)
    func expectedRow(
        _ unchanged: UnchangedColumns, of record: Record?, writing mask: ColumnMask
    ) throws -> ExpectedRow? {
        guard let record else { return nil }
        let row = record.snapshot
        if let row, unchanged == .changedColumns, !withPlan({ $0.isFilled }),
            columns.layout.hasSameNames(as: row.layout), hasKey(of: row)
        {
            // As most are: nothing has to be looked for.
            let written = mask.subtracting(exactKey)
            expectation.clear()
            expectation.set(written, of: row)
            return expectation
        }
        let known = row.flatMap { hasOtherKey(than: $0) ? nil : $0 }
        let expected = expectation
        try unchanged.expect(known, of: Swift.type(of: record), writing: mask, by: self, in: expected)
        if expected.unknown != nil { try checkRow(isAs: expected) }
        return expected
    }

    /// Whether the record has the key of a row of the same columns, to the last byte.
    private func hasKey(of row: PackedRow) -> Bool {
        withStatements { statements in
            statements.keyColumns.allSatisfy { columns.column($0).isStored(as: row.column($0), in: nil) }
        }
    }

    /// Checks that the record's row holds what is expected.
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
            row: NewerRow(databaseTableName: plan.tableName, columns: Array(row.dropFirst(names.count))))
    }
}

extension UnchangedColumns {
    /// Says what a row is to hold.
    ///
    /// - Parameters:
    ///   - known: What the record remembers of the row. Nil for nothing.
    ///   - written: The columns that are about to be written.
    /// - Throws: ``RecordError/columnNotEncoded(databaseTableName:column:)`` for a column that is not there.
    fileprivate func expect(
        _ known: PackedRow?, of type: Record.Type, writing written: ColumnMask, by writer: RecordWriter,
        in row: ExpectedRow
    ) throws {
        let layout = writer.columns.layout
        var (expected, places, unknown) = (ExpectedColumns(), [Int](), [String]())
        func knownPlace(_ name: String) -> Int? { known?.layout.column(named: name) }
        func expect(_ column: Int) {
            if let place = knownPlace(layout.names[column]) {
                expected.encoded.insert(column)
                places.append(place)
            } else {
                unknown.append(layout.names[column])
            }
        }
        // By the key, the row is found. The dates are written by whoever writes the row, and counters by whoever writes others.
        let leftOut =
            form.names == nil
            ? writer.namesOfExactKey + type.databaseStamps.columns
                + writer.plan.table.counterMarks.map(\.column)
            : []
        func isLeftOut(_ name: String) -> Bool {
            leftOut.contains { CaseInsensitiveName.matches($0, name) }
        }
        let named = try form.names.map { try writer.columns(named: $0, isKnown: { knownPlace($0) != nil }) }
        for (column, name) in layout.names.enumerated() where !isLeftOut(name) {
            let isExpected =
                named?.encoded.contains(column)
                ?? (written.contains(column) || form == .all && knownPlace(name) != nil)
            if isExpected { expect(column) }
        }
        var others = named?.others ?? []
        if form == .all, let known {
            let table = writer.plan.table
            others = known.layout.names.enumerated().filter { place, name in
                layout.column(named: name) == nil && knownPlace(name) == place
                    && table.column(named: name)?.isGenerated == false && !isLeftOut(name)
            }.map(\.element)
        }
        expected.others = others.isEmpty ? nil : others
        row.set(
            expected, of: known, in: places + others.compactMap(knownPlace),
            unknown: unknown.isEmpty ? nil : unknown)
    }
}

extension RecordWriter {
    /// Returns columns that were named: those that the record encodes, and others of the table that it remembers.
    fileprivate func columns(named names: Set<String>, isKnown: (String) -> Bool) throws -> ExpectedColumns {
        var columns = ExpectedColumns()
        for name in names.sorted() {
            if let column = self.columns.layout.column(named: name) {
                columns.encoded.insert(column)
            } else if isKnown(name), plan.table.column(named: name) != nil {
                columns.others = (columns.others ?? []) + [name]
            } else {
                throw RecordError.columnNotEncoded(databaseTableName: plan.tableName, column: name)
            }
        }
        return columns
    }
}

// Optimistic locking by column values: an update that writes only if the row is unchanged.

import CSQLite

/// The columns in which a row must still hold the values that the record remembers.
///
/// Otherwise, an update writes nothing: see ``Record/update(_:checking:)``.
public struct ConflictCheck: Hashable, Sendable {
    private enum Form: Hashable {
        case changed, all
        case named(Set<String>)

        var names: Set<String>? { if case .named(let names) = self { names } else { nil } }
    }
    private let form: Form

    /// The columns that are about to be written. Changes of other writers to other columns are
    /// kept.
    public static let changedColumns = ConflictCheck(form: .changed)

    /// All columns that the record remembers. Use this if the written values may depend on each of
    /// them.
    public static let all = ConflictCheck(form: .all)

    /// Returns the columns with the given names.
    ///
    /// - Parameter names: The names of columns that the record encodes, or of others of its table
    ///   that it remembers. Any other name throws
    ///   ``RecordError/columnNotEncoded(databaseTableName:column:)``.
    public static func columns(_ names: Set<String>) -> Self { ConflictCheck(form: .named(names)) }

    /// Returns the given columns.
    ///
    /// - Parameter columns: Columns that the record encodes, or others of its table that it
    ///   remembers. Any other column throws
    ///   ``RecordError/columnNotEncoded(databaseTableName:column:)``.
    public static func columns(_ columns: [Column]) -> Self { .columns(Set(columns.map(\.name))) }
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
    fileprivate func set(_ encoded: ColumnMask, of row: PackedRow) {
        columns.encoded = encoded
        self.row = row
    }

    fileprivate func set(
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
    /// Returns the values that the row of a record must hold. Nil for a struct, which remembers
    /// nothing.
    ///
    /// - Parameter mask: The columns that are about to be written.
    /// - Throws: ``RecordError/stale(columns:row:)`` if the record does not remember one of these
    ///   columns, so that it is unknown whether it was changed.
    ///   ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row.
    @inline(never)
    func expectedRow(
        _ unchanged: ConflictCheck, of record: Record?, writing mask: ColumnMask
    ) throws -> ExpectedRow? {
        guard let record else { return nil }
        let row = record.snapshot
        if let row, unchanged == .changedColumns, !withPlan({ $0.rules.fillColumns }),
            columns.layout.hasSameNames(as: row.layout), hasKey(of: row)
        {
            // This is the common case, which needs no lookups.
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

extension ConflictCheck {
    /// Sets the values that a row must hold.
    ///
    /// - Parameters:
    ///   - known: The row that the record remembers. Nil for none.
    ///   - written: The columns that are about to be written.
    /// - Throws: ``RecordError/columnNotEncoded(databaseTableName:column:)`` if there is no such
    ///   column.
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
        // The row is found by its key. Other writers change shared columns without a conflict.
        let leftOut =
            form.names == nil
            ? writer.namesOfExactKey + writer.plan.rules.flatMap(\.sharedColumns)
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
    /// Returns the named columns: the ones that the record encodes, and others of the table that it
    /// remembers.
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

@available(*, unavailable, renamed: "ConflictCheck")
public typealias UnchangedColumns = ConflictCheck

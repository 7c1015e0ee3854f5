// Optimistic locking by column values: an update that writes only if the row is unchanged.

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

extension ConflictCheck: UpdateCondition {
    @inline(never)
    func expectedRow(of record: Record, writing mask: ColumnMask, by writer: RecordWriter) throws
        -> ExpectedRow
    {
        let (row, expected) = (record.snapshot, writer.expectation)
        if let row, form == .changed, !writer.withPlan({ $0.rules.fillColumns }),
            writer.columns.layout.hasSameNames(as: row.layout), writer.hasKey(of: row)
        {
            // This is the common case, which needs no lookups.
            expected.clear()
            expected.set(mask.subtracting(writer.exactKey), of: row)
            return expected
        }
        let known = row.flatMap { writer.hasOtherKey(than: $0) ? nil : $0 }
        try expect(known, of: Swift.type(of: record), writing: mask, by: writer, in: expected)
        if expected.unknown != nil { try writer.checkRow(isAs: expected) }
        return expected
    }

    /// Sets the values that a row must hold.
    ///
    /// - Parameters:
    ///   - known: The row that the record remembers. Nil for none.
    ///   - written: The columns that are about to be written.
    /// - Throws: ``RecordError/columnNotEncoded(databaseTableName:column:)`` if there is no such
    ///   column.
    private func expect(
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

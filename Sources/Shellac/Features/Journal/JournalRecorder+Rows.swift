// Writes the rows that SQLite's hook reports into the buffer of the transaction.

import CSQLite

extension JournalRecorder: PreUpdateListener {
    func rowWillChange(_ row: ChangingRow) {
        guard !isPaused, let number = number(of: row), let table = tables[number].table else { return }
        if sqlite3_get_autocommit(database.pointer) != 0 { return noteUnkeptChange() }
        if runs.isEmpty { noteUnknownCaller() }
        hasUncheckedRows = true
        let start = buffer.count
        let earlier = (table: lastTable, hasChanges: tables[number].hasChanges, mustJoin: mustJoin)
        let isIndirect: UInt8 = (Self.depth?(database.pointer) ?? 0) > 0 ? 1 : 0
        beginChange(of: number, table)
        switch row.operation {
        case SQLITE_INSERT:
            buffer.append(ChangesetFormat.insert)
            buffer.append(isIndirect)
            appendRow(row, table, before: false)
            noteKey(row.finalRowID, number, table)
        case SQLITE_DELETE:
            buffer.append(ChangesetFormat.delete)
            buffer.append(isIndirect)
            appendRow(row, table, before: true)
            noteKey(row.initialRowID, number, table)
        default:
            let isKeyKept = table.hasRowIDKey ? row.initialRowID == row.finalRowID : true
            let place = buffer.count
            if isKeyKept {
                buffer.append(ChangesetFormat.update)
                buffer.append(isIndirect)
                switch appendUpdate(row, table) {
                case .changed: return noteKey(row.initialRowID, number, table)
                case .same:
                    buffer.cut(to: start)
                    lastTable = earlier.table
                    tables[number].hasChanges = earlier.hasChanges
                    mustJoin = earlier.mustJoin
                    return
                case .keyChanged: buffer.cut(to: place)
                }
            }
            buffer.append(ChangesetFormat.delete)
            buffer.append(isIndirect)
            appendRow(row, table, before: true)
            buffer.append(ChangesetFormat.insert)
            buffer.append(isIndirect)
            appendRow(row, table, before: false)
            mustJoin = true
        }
    }

    /// Returns the number of a kept table. Most rows belong to the same table as the row before.
    @inline(__always)
    private func number(of row: ChangingRow) -> Int? {
        guard strcmp(row.schema, "main") == 0 else { return nil }
        if lastTable >= 0, isName(row.table, ofTable: lastTable) { return lastTable }
        for number in tables.indices where number != lastTable && isName(row.table, ofTable: number) {
            return number
        }
        return nil
    }

    @inline(__always)
    private func isName(_ name: UnsafePointer<CChar>, ofTable number: Int) -> Bool {
        guard let table = tables[number].table else { return false }
        return table.reportedName.withUnsafeBufferPointer { strcmp(name, $0.baseAddress.unsafelyUnwrapped) }
            == 0
    }

    /// Writes the heading of a table, unless the last change has the same table.
    @inline(__always)
    private func beginChange(of number: Int, _ table: JournaledTable) {
        if number == lastTable { return }
        lastTable = number
        if tables[number].hasChanges { mustJoin = true }
        tables[number].hasChanges = true
        table.heading.withUnsafeBytes { buffer.append($0) }
    }

    /// Notes the key of a change. As long as the keys grow, no row has two changes.
    @inline(__always)
    private func noteKey(_ rowID: Int64, _ number: Int, _ table: JournaledTable) {
        if mustJoin { return }
        if !tables[number].hasKeys {
            tables[number].hasKeys = true
            tables[number].lastRowID = rowID
        } else if table.hasRowIDKey, rowID > tables[number].lastRowID {
            tables[number].lastRowID = rowID
        } else {
            mustJoin = true
        }
    }

    // MARK: - Values

    /// Writes all values of a row.
    private func appendRow(_ row: ChangingRow, _ table: JournaledTable, before: Bool) {
        let isInsertion = row.operation == SQLITE_INSERT
        let rowID = before ? row.initialRowID : row.finalRowID
        table.columns.withUnsafeBufferPointer { columns in
            for index in columns.indices {
                let column = UnsafePointer(columns.baseAddress.unsafelyUnwrapped + index)
                if column.pointee.isRowID {
                    buffer.append(ChangesetFormat.integer, UInt64(bitPattern: rowID))
                    continue
                }
                let place =
                    before
                    ? column.pointee.oldIndex
                    : isInsertion ? column.pointee.insertedIndex : column.pointee.updatedIndex
                let value = row.sqliteValue(before: before, at: place)
                Self.append(value, of: column, isOld: before, to: &buffer)
                if column.pointee.isKey, isNull(value) { refuse(.keyIsNull(table: table.name)) }
            }
        }
    }

    private func isNull(_ value: OpaquePointer?) -> Bool {
        value == nil || sqlite3_value_type(value) == SQLITE_NULL
    }

    private enum UpdateResult { case changed, same, keyChanged }

    /// Writes the values that an update changes: the old ones here, the new ones to the scratch
    /// buffer, which follows.
    private func appendUpdate(_ row: ChangingRow, _ table: JournaledTable) -> UpdateResult {
        scratch.cut(to: 0)
        var isChanged = false
        let isSame: Bool = table.columns.withUnsafeBufferPointer { columns in
            for index in columns.indices {
                let column = UnsafePointer(columns.baseAddress.unsafelyUnwrapped + index)
                if column.pointee.isRowID {
                    buffer.append(ChangesetFormat.integer, UInt64(bitPattern: row.initialRowID))
                    scratch.append(ChangesetFormat.undefined)
                    continue
                }
                let old = row.sqliteValue(before: true, at: column.pointee.oldIndex)
                let new = row.sqliteValue(before: false, at: column.pointee.updatedIndex)
                let (oldStart, newStart) = (buffer.count, scratch.count)
                var isSame = Self.areSameBytes(old, new)
                if !isSame || column.pointee.isKey {
                    Self.append(old, of: column, isOld: true, to: &buffer)
                    Self.append(new, of: column, isOld: false, to: &scratch)
                    if !isSame {
                        isSame = ChangesetValues.same(
                            UnsafeRawBufferPointer(rebasing: buffer.bytes[oldStart...]),
                            UnsafeRawBufferPointer(rebasing: scratch.bytes[newStart...]))
                    }
                }
                if column.pointee.isKey {
                    if !isSame { return false }
                    if isNull(old) { refuse(.keyIsNull(table: table.name)) }
                    scratch.cut(to: newStart)
                    scratch.append(ChangesetFormat.undefined)
                } else if isSame {
                    buffer.cut(to: oldStart)
                    scratch.cut(to: newStart)
                    buffer.append(ChangesetFormat.undefined)
                    scratch.append(ChangesetFormat.undefined)
                } else {
                    isChanged = true
                }
            }
            return true
        }
        guard isSame else { return .keyChanged }
        guard isChanged else { return .same }
        buffer.append(scratch.bytes)
        return .changed
    }

    /// Whether two texts or blobs have the same bytes. Then they need not be copied.
    @inline(__always)
    private static func areSameBytes(_ old: OpaquePointer?, _ new: OpaquePointer?) -> Bool {
        let type = sqlite3_value_type(old)
        guard type == SQLITE_TEXT || type == SQLITE_BLOB, sqlite3_value_type(new) == type else {
            return false
        }
        let (first, second) = (bytes(of: old, type), bytes(of: new, type))
        guard first.count == second.count else { return false }
        guard let a = first.baseAddress, let b = second.baseAddress else { return true }
        return memcmp(a, b, first.count) == 0
    }

    /// The bytes of a text or a blob.
    @inline(__always)
    private static func bytes(of value: OpaquePointer?, _ type: Int32) -> UnsafeRawBufferPointer {
        // (The text is converted before its bytes are counted.)
        let start =
            type == SQLITE_TEXT
            ? UnsafeRawPointer(sqlite3_value_text(value))
            : sqlite3_value_blob(value).map { UnsafeRawPointer($0) }
        let count = Int(sqlite3_value_bytes(value))
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
    }

    /// Writes a value that SQLite reports, in the class in which it is stored: see
    /// ``StoredColumns``.
    @inline(__always)
    static func append(
        _ value: OpaquePointer?, of column: UnsafePointer<JournaledTable.Column>, isOld: Bool,
        to buffer: inout ChangesetBytes
    ) {
        let type = sqlite3_value_type(value)
        switch type {
        case SQLITE_INTEGER:
            let integer = sqlite3_value_int64(value)
            if column.pointee.isReal {
                buffer.append(ChangesetFormat.real, Double(integer).bitPattern)
            } else {
                buffer.append(ChangesetFormat.integer, UInt64(bitPattern: integer))
            }
        case SQLITE_FLOAT:
            let double = sqlite3_value_double(value)
            // (SQLite stores the smallest integer as a real number, if it was one.)
            if column.pointee.isIntegral, let integer = Int64(exactly: double), integer > .min {
                buffer.append(ChangesetFormat.integer, UInt64(bitPattern: integer))
            } else {
                buffer.append(ChangesetFormat.real, double.bitPattern)
            }
        case SQLITE_TEXT: buffer.append(ChangesetFormat.text, bytes(of: value, type))
        case SQLITE_BLOB: buffer.append(ChangesetFormat.blob, bytes(of: value, type))
        default:
            if isOld, let older = column.pointee.valueOfOlderRows,
                column.pointee.isNotNull
                    || PreUpdateFunctions.nullOfOlderRows != nil
                        && value == PreUpdateFunctions.nullOfOlderRows
            {
                buffer.append(value: older)
            } else {
                buffer.append(ChangesetFormat.null)
            }
        }
    }

    /// `sqlite3_preupdate_depth()`: 0 for a change by a statement, more inside of triggers and
    /// foreign key actions.
    static let depth: (@convention(c) (OpaquePointer?) -> Int32)? =
        Features.symbol("sqlite3_preupdate_depth").map {
            unsafeBitCast($0, to: (@convention(c) (OpaquePointer?) -> Int32).self)
        }
}

extension ChangesetBytes {
    /// Adds a value.
    mutating func append(value: DatabaseValue) {
        switch value.storage {
        case .null: append(ChangesetFormat.null)
        case .int64(let integer): append(ChangesetFormat.integer, UInt64(bitPattern: integer))
        case .double(let double): append(ChangesetFormat.real, double.bitPattern)
        case .string(var text): text.withUTF8 { append(ChangesetFormat.text, UnsafeRawBufferPointer($0)) }
        case .blob(let data): data.withUnsafeBytes { append(ChangesetFormat.blob, $0) }
        }
    }
}

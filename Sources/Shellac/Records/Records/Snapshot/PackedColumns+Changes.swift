// Finds the columns that differ from a record's snapshot, and builds the snapshot after a save.

import CSQLite

// A record's encoded columns compared with the row that it remembers.

extension PackedColumns {
    /// Returns the columns whose values differ from a row.
    @inline(__always)
    func changes(from row: PackedRow) -> ColumnMask {
        let isSameOrder = isLaid(outAs: row)
        if isSameOrder, bytes.isSame(as: row.bytes) { return ColumnMask() }
        return isSameOrder ? changesInOrder(from: row).mask : changesByName(from: row)
    }

    /// Returns the columns whose values differ from a row, and whether all others have exactly its
    /// bytes. If the columns were compared with the row when they were packed, the comparison
    /// continues from there. Columns that the record neither read nor changed are left out.
    @inline(__always)
    func changesAndExactness(from row: PackedRow) -> (mask: ColumnMask, isExact: Bool) {
        guard isLaid(outAs: row) else { return (changesToWrite(from: row), false) }
        var changes = changesInOrder(from: row, startingAt: firstChange)
        // These columns may be all that the record has, while some of them are still unread.
        if row.layout.unread != nil { changes.isExact = false }
        return changes
    }

    private func changesInOrder(
        from row: PackedRow, startingAt start: (column: Int, offset: Int)? = nil
    ) -> (mask: ColumnMask, isExact: Bool) {
        var (mask, isExact) = (ColumnMask(), true)
        let (new, old) = (bytes, row.bytes)
        // Everything before the first change equals the row.
        var column = start?.column ?? 0
        let distance = (columns: column, payloads: start.map { $0.offset - count } ?? 0)
        var (place, oldPlace) = (new.cursor.moved(by: distance), old.cursor.moved(by: distance))
        if start != nil {
            mask.insert(column)
            place.advance()
            oldPlace.advance()
            column &+= 1
            // Usually, it is the only change.
            if new.isSame(from: place, as: old, from: oldPlace) { return (mask, isExact) }
        }
        while column < count {
            let (value, oldValue) = (place.next(), oldPlace.next())
            if !value.isSame(as: oldValue) {
                if value.isStoredDifferently(as: oldValue, in: row.layout.affinity(ofColumn: column)) {
                    isExact = false
                } else {
                    mask.insert(column)
                }
            }
            column &+= 1
        }
        return (mask, isExact)
    }

    func changesByName(from row: PackedRow) -> ColumnMask {
        var mask = ColumnMask()
        eachColumn { column, value in
            if let position = row.layout.column(named: layout.names[column]),
                value.isStored(as: row.column(position), in: row.layout.affinity(ofColumn: position))
            {
                return
            }
            mask.insert(column)
        }
        return mask
    }

    /// Returns the values of a row for some of the columns. A value is nil if the row lacks it.
    func oldValues(of mask: ColumnMask, in row: PackedRow?) -> [String: DatabaseValue?] {
        var values: [String: DatabaseValue?] = [:]
        for (column, name) in layout.names.enumerated() where mask.contains(column) {
            let old = row?.layout.column(named: name).flatMap { row?.storedValue(at: $0) }
            values.updateValue(old, forKey: name)
        }
        return values
    }

    /// Returns the row that a record remembers after some of its columns were saved. The others are
    /// as they were, or unknown.
    ///
    /// - Parameter unread: The columns that the record had not read, and that are still unknown.
    func row(
        saving mask: ColumnMask, in row: PackedRow?, unread: UnreadColumns?,
        previous: consuming PackedRow.PreviousState?
    ) -> PackedRow {
        // If a program made the record from a row, the row's layout may have no facts about the
        // table.
        let knowsKey = row.map { !$0.layout.key.isEmpty || layout.key.isEmpty } ?? false
        if let row, knowsKey, row.layout.unread == nil, layout.hasSameNames(as: row.layout) {
            return self.row(savingInOrder: mask, in: row, previous: previous)
        }
        // The source of each column of the new row: one of these columns, or else a column of the
        // old row.
        var names = row?.layout.names ?? []
        var affinities = row.map { row in (0..<row.count).map(row.layout.affinity(ofColumn:)) } ?? []
        var sources: [Int?] = Array(repeating: nil, count: names.count)
        for (column, name) in layout.names.enumerated() where mask.contains(column) {
            if let position = row?.layout.column(named: name) {
                sources[position] = column
                affinities[position] = affinities[position] ?? layout.affinity(ofColumn: column)
            } else {
                names.append(name)
                affinities.append(layout.affinity(ofColumn: column))
                sources.append(column)
            }
        }
        let newLayout: RowLayout
        if let row, knowsKey, row.count == names.count, unread === row.layout.unread {
            newLayout = row.layout
        } else {
            newLayout = RowLayout(
                names: names, sql: row?.layout.sql, affinities: affinities, key: layout.key, unread: unread)
        }
        var pieces: [PackedValue] = []
        pieces.reserveCapacity(names.count)
        row?.bytes.eachColumn { pieces.append($1) }
        var columns: [PackedValue] = []
        columns.reserveCapacity(count)
        eachColumn { columns.append($1) }
        for (position, source) in sources.enumerated() {
            guard let source else { continue }
            if position < pieces.count {
                pieces[position] = columns[source]
            } else {
                pieces.append(columns[source])
            }
        }
        defer { withExtendedLifetime(row) {} }
        return PackedRow.make(newLayout, copying: pieces, previous: previous)
    }
}

extension PackedColumns {
    /// Builds the row from an old row that has the same columns in the same order.
    private func row(
        savingInOrder mask: ColumnMask, in row: PackedRow, previous: consuming PackedRow.PreviousState?
    )
        -> PackedRow
    {
        var byteCount = row.byteCount
        var old = row.bytes.cursor
        eachColumn { column, value in
            let oldValue = old.next()
            if mask.contains(column) { byteCount += value.byteCount - oldValue.byteCount }
        }
        return PackedRow.make(row.layout, byteCount: byteCount, previous: previous) {
            var copy = PackedCursor(writing: $0, count: count)
            copy.copyTags(of: row.bytes)
            // The bytes between two saved columns are copied in one step.
            var old = row.bytes.cursor
            var start = old
            eachColumn { column, value in
                let place = old
                old.advance()
                if mask.contains(column) {
                    copy.copyPayloads(from: start, to: place)
                    copy.copy(value)
                    start = old
                }
            }
            copy.copyPayloads(from: start, to: old)
        }
    }
}

extension PackedRow {
    /// Makes a row from columns that are stored elsewhere.
    static func make(
        _ layout: RowLayout, copying pieces: [PackedValue], previous: consuming PreviousState? = nil
    ) -> PackedRow {
        let length = pieces.reduce(pieces.count) { $0 + $1.byteCount }
        return make(layout, byteCount: length, previous: previous) {
            var place = PackedCursor(writing: $0, count: pieces.count)
            for piece in pieces { place.copy(piece) }
        }
    }
}

extension RowLayout {
    /// Whether another layout has the same names, in the same order.
    func hasSameNames(as other: RowLayout) -> Bool { self === other || hasEqualNames(other) }

    private func hasEqualNames(_ other: RowLayout) -> Bool {
        guard count == other.count else { return false }
        // The raw bytes of short names are equal if the names are.
        if memcmp(bits, other.bits, count * MemoryLayout<NameBits>.stride) == 0 { return true }
        return zip(names, other.names).allSatisfy { $0.hasSameBytes(as: $1) }
    }
}

extension PackedBytes {
    /// Whether other bytes are the same.
    @inline(__always)
    func isSame(as other: PackedBytes) -> Bool {
        byteCount == other.byteCount && memcmp(start, other.start, byteCount) == 0
    }

    /// Whether the columns after a place are the same as others after another place, byte for byte.
    @inline(__always)
    func isSame(from place: PackedCursor, as other: PackedBytes, from otherPlace: PackedCursor) -> Bool {
        let (rest, otherRest) = (rest(behind: place), other.rest(behind: otherPlace))
        return rest.payloads == otherRest.payloads && rest.columns == otherRest.columns
            && memcmp(place.payload, otherPlace.payload, rest.payloads) == 0
            && memcmp(place.tagPlace, otherPlace.tagPlace, rest.columns) == 0
    }

    private func rest(behind place: PackedCursor) -> (columns: Int, payloads: Int) {
        let end = cursor.moved(by: (columns: count, payloads: byteCount - count))
        return place.distance(to: end)
    }
}

extension PackedValue {
    /// Whether storing the value in a column results in the stored value.
    func isStored(as stored: PackedValue, in affinity: @autoclosure () -> ColumnAffinity?) -> Bool {
        isSame(as: stored) || isStoredDifferently(as: stored, in: affinity())
    }

    /// Whether two columns have the same bytes. A date's encoded text is the same as a text.
    @inline(__always)
    fileprivate func isSame(as old: PackedValue) -> Bool {
        guard tag == old.tag || tag == .dateText && old.tag == .shortText else { return false }
        // The old value may be shorter, and at the end of its memory.
        let length = byteCount
        return length == old.byteCount && (length == 0 || memcmp(payload, old.payload, length) == 0)
    }

    @inline(never)
    fileprivate func isStoredDifferently(as old: PackedValue, in affinity: ColumnAffinity?) -> Bool {
        if isInteger, old.isInteger, affinity != .real { return false }
        if isDate, let date = StoredDate(view), date.isEqual(to: StoredDate(old.view)) { return true }
        return ColumnAffinity.isStored(view.databaseValue, as: old.view.databaseValue, in: affinity)
    }
}

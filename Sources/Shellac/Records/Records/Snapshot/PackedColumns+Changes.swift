// Finds the columns that differ from a record's snapshot, and builds the one after a save.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

// What a record has encoded, beside what it remembers of its row.

extension PackedColumns {
    /// The columns whose values are not those of a row.
    @inline(__always)
    func changes(from row: PackedRow) -> ColumnMask {
        let isSameOrder = isLaid(outAs: row)
        if isSameOrder, bytes.isSame(as: row.bytes) { return ColumnMask() }
        return isSameOrder ? changesInOrder(from: row).mask : changesByName(from: row)
    }

    /// The columns whose values are not those of the row that the columns were compared with when they were packed, if
    /// they were, and whether all others have the very bytes of the row's. Those that the record never read, nor
    /// changed, are left out.
    @inline(__always)
    func changesAndExactness(from row: PackedRow) -> (mask: ColumnMask, isExact: Bool) {
        guard isLaid(outAs: row) else { return (changesToWrite(from: row), false) }
        var changes = changesInOrder(from: row, startingAt: firstChange)
        // What these columns hold may be all that the record has, and some of them unread all the same.
        if row.layout.unread != nil { changes.isExact = false }
        return changes
    }

    private func changesInOrder(
        from row: PackedRow, startingAt start: (column: Int, offset: Int)? = nil
    ) -> (mask: ColumnMask, isExact: Bool) {
        var (mask, isExact) = (ColumnMask(), true)
        let (new, old) = (bytes, row.bytes)
        // What stands before the first change is the row's.
        var column = start?.column ?? 0
        let distance = (columns: column, payloads: start.map { $0.offset - count } ?? 0)
        var (place, oldPlace) = (new.cursor.moved(by: distance), old.cursor.moved(by: distance))
        if start != nil {
            mask.insert(column)
            place.advance()
            oldPlace.advance()
            column &+= 1
            // Mostly it is the only one.
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

    /// The values that a row has, or does not have, for some of the columns.
    func oldValues(of mask: ColumnMask, in row: PackedRow?) -> [String: DatabaseValue?] {
        var values: [String: DatabaseValue?] = [:]
        for (column, name) in layout.names.enumerated() where mask.contains(column) {
            let old = row?.layout.column(named: name).flatMap { row?.storedValue(at: $0) }
            values.updateValue(old, forKey: name)
        }
        return values
    }

    /// The row that a record remembers after some of its columns were saved: the others are as they were, or unknown.
    ///
    /// - Parameter unread: What the record had not read, nor is known now.
    func row(
        saving mask: ColumnMask, in row: PackedRow?, unread: UnreadColumns?,
        previous: consuming PackedRow.PreviousState?
    ) -> PackedRow {
        // A row that a program made a record of may have a layout that knows nothing of the table.
        let knowsKey = row.map { !$0.layout.key.isEmpty || layout.key.isEmpty } ?? false
        if let row, knowsKey, row.layout.unread == nil, layout.hasSameNames(as: row.layout) {
            return self.row(savingInOrder: mask, in: row, previous: previous)
        }
        // Where each column of the new row comes from: one of these, or else one of the old row.
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
    /// Compares with an old row that has the same columns.
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
            // What lies between two saved columns is copied at once.
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
    /// Makes a row of columns that stand elsewhere.
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
        // The raw bytes of short names are equal where the names are.
        if memcmp(bits, other.bits, count * MemoryLayout<NameBits>.stride) == 0 { return true }
        return zip(names, other.names).allSatisfy { $0.hasSameBytes(as: $1) }
    }
}

extension PackedBytes {
    /// Whether others are the same, byte for byte.
    @inline(__always)
    func isSame(as other: PackedBytes) -> Bool {
        byteCount == other.byteCount && memcmp(start, other.start, byteCount) == 0
    }

    /// Whether the columns behind a place are the same as others behind another, byte for byte.
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
    /// Whether a column that was given the value holds another one.
    func isStored(as stored: PackedValue, in affinity: @autoclosure () -> ColumnAffinity?) -> Bool {
        isSame(as: stored) || isStoredDifferently(as: stored, in: affinity())
    }

    /// Whether two columns have the same bytes. What an encoder made of a date is no different from a text.
    @inline(__always)
    fileprivate func isSame(as old: PackedValue) -> Bool {
        guard tag == old.tag || tag == .dateText && old.tag == .shortText else { return false }
        // The old one may be shorter, and stand at the end of its memory.
        let length = byteCount
        return length == old.byteCount && (length == 0 || memcmp(payload, old.payload, length) == 0)
    }

    @inline(never)
    fileprivate func isStoredDifferently(as old: PackedValue, in affinity: ColumnAffinity?) -> Bool {
        if isInteger, old.isInteger { return false }
        if isDate, let date = StoredDate(view), date.isEqual(to: StoredDate(old.view)) { return true }
        return ColumnAffinity.isStored(view.databaseValue, as: old.view.databaseValue, in: affinity)
    }
}

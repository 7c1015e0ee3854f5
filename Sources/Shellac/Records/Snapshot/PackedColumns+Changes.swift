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
        let (new, old) = (bytes, row.byteCount)
        let isSameOrder = isLaid(outAs: row)
        if isSameOrder, new.count == old, let start = new.baseAddress, memcmp(start, row.bytes, old) == 0 {
            return ColumnMask()
        }
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

    @inline(__always)
    private func changesInOrder(
        from row: PackedRow, startingAt start: (column: Int, offset: Int)? = nil
    ) -> (mask: ColumnMask, isExact: Bool) {
        var (mask, isExact) = (ColumnMask(), true)
        guard let tags = bytes.baseAddress else { return (mask, isExact) }
        let oldTags = row.bytes
        // What stands before the first change is the row's.
        var column = start?.column ?? 0
        let offset = start?.offset ?? count
        var (payload, old) = (tags + offset, oldTags + offset)
        if start != nil {
            mask.insert(column)
            payload += PackedTag.length(tags.load(fromByteOffset: column, as: UInt8.self), payload)
            old += PackedTag.length(oldTags.load(fromByteOffset: column, as: UInt8.self), old)
            column &+= 1
            // Mostly it is the only one.
            let (rest, oldRest) = (tags + bytes.count - payload, oldTags + row.byteCount - old)
            if rest == oldRest, memcmp(payload, old, rest) == 0,
                memcmp(tags + column, oldTags + column, count - column) == 0
            {
                return (mask, isExact)
            }
        }
        while column < count {
            let tag = tags.load(fromByteOffset: column, as: UInt8.self)
            let oldTag = oldTags.load(fromByteOffset: column, as: UInt8.self)
            if !PackedTag.isSame(tag, payload, as: oldTag, old) {
                let affinity = row.layout.affinity(ofColumn: column)
                if PackedTag.isStoredDifferently(tag, payload, as: oldTag, old, in: affinity) {
                    isExact = false
                } else {
                    mask.insert(column)
                }
            }
            payload += PackedTag.length(tag, payload)
            old += PackedTag.length(oldTag, old)
            column &+= 1
        }
        return (mask, isExact)
    }

    func changesByName(from row: PackedRow) -> ColumnMask {
        var mask = ColumnMask()
        eachColumn { column, tag, payload in
            if let position = row.layout.column(named: layout.names[column]) {
                let old = row.column(position)
                let affinity = row.layout.affinity(ofColumn: position)
                if PackedTag.isStored(tag, payload, as: old.tag, old.payload, in: affinity) { return }
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
        saving mask: ColumnMask, in row: PackedRow?, unread: UnreadColumns?, past: consuming PackedRow.Past?
    ) -> PackedRow {
        // A row that a program made a record of may have a layout that knows nothing of the table.
        let knowsKey = row.map { !$0.layout.key.isEmpty || layout.key.isEmpty } ?? false
        if let row, knowsKey, row.layout.unread == nil, layout.hasSameNames(as: row.layout) {
            return self.row(savingInOrder: mask, in: row, past: past)
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
        var pieces: [(tag: UInt8, payload: UnsafeRawPointer)] = []
        pieces.reserveCapacity(names.count)
        if let row {
            PackedTag.eachColumn(row.bytes, count: row.count) { _, tag, payload in
                pieces.append((tag, payload))
            }
        }
        var columns: [(tag: UInt8, payload: UnsafeRawPointer)] = []
        columns.reserveCapacity(count)
        eachColumn { _, tag, payload in columns.append((tag, payload)) }
        for (position, source) in sources.enumerated() {
            guard let source else { continue }
            if position < pieces.count {
                pieces[position] = columns[source]
            } else {
                pieces.append(columns[source])
            }
        }
        defer { withExtendedLifetime(row) {} }
        return PackedRow.make(newLayout, copying: pieces, past: past)
    }
}

extension PackedColumns {
    /// The same, where the old row has the same columns.
    private func row(savingInOrder mask: ColumnMask, in row: PackedRow, past: consuming PackedRow.Past?)
        -> PackedRow
    {
        let (count, oldTags) = (count, row.bytes)
        var byteCount = row.byteCount
        var old = oldTags + count
        eachColumn { column, tag, payload in
            let oldLength = PackedTag.length(oldTags.load(fromByteOffset: column, as: UInt8.self), old)
            if mask.contains(column) { byteCount += PackedTag.length(tag, payload) - oldLength }
            old += oldLength
        }
        return PackedRow.make(row.layout, byteCount: byteCount, past: past) { tags in
            tags.copyMemory(from: oldTags, byteCount: count)
            var place = tags + count
            func copy(_ bytes: UnsafeRawPointer, to end: UnsafeRawPointer) {
                place.copyMemory(from: bytes, byteCount: end - bytes)
                place += end - bytes
            }
            // What lies between two saved columns is copied at once.
            var old = oldTags + count
            var start = old
            eachColumn { column, tag, payload in
                let oldEnd = old + PackedTag.length(oldTags.load(fromByteOffset: column, as: UInt8.self), old)
                if mask.contains(column) {
                    copy(start, to: old)
                    tags.storeBytes(of: tag, toByteOffset: column, as: UInt8.self)
                    copy(payload, to: payload + PackedTag.length(tag, payload))
                    start = oldEnd
                }
                old = oldEnd
            }
            copy(start, to: old)
        }
    }
}

extension PackedRow {
    /// Makes a row of columns that stand elsewhere.
    fileprivate static func make(
        _ layout: RowLayout, copying pieces: [(tag: UInt8, payload: UnsafeRawPointer)], past: consuming Past?
    ) -> PackedRow {
        let length = pieces.reduce(pieces.count) { $0 + PackedTag.length($1.tag, $1.payload) }
        return make(layout, byteCount: length, past: past) { tags in
            var payload = tags + pieces.count
            for (column, piece) in pieces.enumerated() {
                let length = PackedTag.length(piece.tag, piece.payload)
                tags.storeBytes(of: piece.tag, toByteOffset: column, as: UInt8.self)
                payload.copyMemory(from: piece.payload, byteCount: length)
                payload += length
            }
        }
    }
}

extension RowLayout {
    /// Whether another layout has the same names, in the same order.
    @inline(__always)
    func hasSameNames(as other: RowLayout) -> Bool { self === other || hasEqualNames(other) }

    private func hasEqualNames(_ other: RowLayout) -> Bool {
        guard count == other.count else { return false }
        // The raw bytes of short names are equal where the names are.
        if memcmp(bits, other.bits, count * MemoryLayout<NameBits>.stride) == 0 { return true }
        return zip(names, other.names).allSatisfy { $0.hasSameBytes(as: $1) }
    }
}

extension PackedTag {
    /// Whether a column that was given a value holds another one.
    @inline(__always)
    static func isStored(
        _ tag: UInt8, _ payload: UnsafeRawPointer, as oldTag: UInt8, _ old: UnsafeRawPointer,
        in affinity: @autoclosure () -> ColumnAffinity?
    ) -> Bool {
        isSame(tag, payload, as: oldTag, old)
            || isStoredDifferently(tag, payload, as: oldTag, old, in: affinity())
    }

    /// Whether two columns have the same bytes. What an encoder made of a date is no different from a text.
    @inline(__always)
    fileprivate static func isSame(
        _ tag: UInt8, _ payload: UnsafeRawPointer, as oldTag: UInt8, _ old: UnsafeRawPointer
    ) -> Bool {
        guard tag == oldTag || tag == dateText && oldTag == shortText else { return false }
        // The old one may be shorter, and stand at the end of its memory.
        let length = length(tag, payload)
        return length == self.length(oldTag, old) && (length == 0 || memcmp(payload, old, length) == 0)
    }

    @inline(never)
    fileprivate static func isStoredDifferently(
        _ tag: UInt8, _ payload: UnsafeRawPointer, as oldTag: UInt8, _ old: UnsafeRawPointer,
        in affinity: ColumnAffinity?
    ) -> Bool {
        if isInteger(tag), isInteger(oldTag) { return false }
        if isDate(tag), let date = StoredDate(tag, payload), date.isEqual(to: StoredDate(oldTag, old)) {
            return true
        }
        return ColumnAffinity.isStored(
            databaseValue(tag, payload), as: databaseValue(oldTag, old), in: affinity)
    }
}

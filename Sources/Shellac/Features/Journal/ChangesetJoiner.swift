// Joins the changes of each row of a changeset into one.

import CSQLite

/// Joins changes, so that each row has one at most, and each table one heading.
///
/// The changes come in order of time. SQLite's change groups join the changes of a row in the
/// same way (`sqlite3changegroup_add()`), and so do its sessions:
///
/// ```
/// before    after     joined
/// insert    update    insert with the new values
/// insert    delete    nothing
/// update    update    update from the first old to the last new values, or nothing
/// update    delete    delete with the first old values
/// delete    insert    update of the columns that differ, or nothing
/// ```
///
/// The changes of a row are found by a hash of its key. A joined row that is no longer needed is
/// kept, since a later change may need its place.
struct ChangesetJoiner: ~Copyable {
    typealias Format = ChangesetFormat

    /// The change of a row. (A million changes have a million of these, so they are small.)
    private struct Entry {
        /// The places of the values, and where the new ones begin.
        var start: UInt32
        var middle: UInt32
        var end: UInt32
        let hash: UInt32
        /// The next row of the table.
        var next: Int32 = -1
        let table: UInt16
        var operation: UInt8
        var marks: Marks

        struct Marks: OptionSet {
            let rawValue: UInt8
            static let indirect = Marks(rawValue: 1)
            /// The change has been undone by a later one.
            static let dropped = Marks(rawValue: 2)
            /// The places are among the joined values.
            static let joined = Marks(rawValue: 4)
        }
    }

    private struct Table {
        let heading: ChangesetReader.Heading
        var first: Int32 = -1
        var last: Int32 = -1
    }

    private let bytes: UnsafeRawBufferPointer
    private var tables: [Table] = []
    private var entries: [Entry] = []
    /// The indices of entries, by their hash, or -1.
    private var slots: [Int32] = []
    private var joined = ChangesetBytes()

    private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Joins the changes of a changeset.
    ///
    /// - Throws: a ``ChangesetError`` if the bytes are no changeset, or if a table has different
    ///   columns in two places.
    static func join(
        _ bytes: UnsafeRawBufferPointer, into output: inout ChangesetBytes
    ) throws(ChangesetError) {
        guard bytes.count <= Format.mostBytes else { throw .tooLarge }
        var joiner = ChangesetJoiner(bytes)
        try joiner.addChanges()
        joiner.write(to: &output)
    }

    // MARK: - Changes come

    private mutating func addChanges() throws(ChangesetError) {
        var reader = ChangesetReader(bytes)
        var known: ChangesetReader.Heading?
        var table = 0
        while let change = try reader.next() {
            guard let heading = reader.heading else { break }
            if known?.range != heading.range {
                table = try number(of: heading)
                known = heading
            }
            try add(change, table)
        }
    }

    /// Returns the number of a table.
    private mutating func number(of heading: ChangesetReader.Heading) throws(ChangesetError) -> Int {
        for (index, table) in tables.enumerated() where isName(of: heading, thatOf: table.heading) {
            let columns = UnsafeRawBufferPointer(rebasing: bytes[heading.columns])
            let others = UnsafeRawBufferPointer(rebasing: bytes[table.heading.columns])
            guard ChangesetValues.same(columns, others) else {
                throw .differentColumns(table: String(decoding: bytes[heading.nameRange], as: UTF8.self))
            }
            return index
        }
        guard tables.count < UInt16.max else { throw .tooLarge }
        tables.append(Table(heading: heading))
        return tables.count - 1
    }

    /// Whether two tables are the same. SQLite ignores the case of their names.
    private func isName(of a: ChangesetReader.Heading, thatOf b: ChangesetReader.Heading) -> Bool {
        guard a.nameRange.count == b.nameRange.count else { return false }
        return zip(bytes[a.nameRange], bytes[b.nameRange]).allSatisfy {
            CaseInsensitiveName.folded($0) == CaseInsensitiveName.folded($1)
        }
    }

    private mutating func add(_ change: ChangesetReader.Place, _ table: Int) throws(ChangesetError) {
        let heading = tables[table].heading
        let row = change.operation == Format.insert ? change.final.lowerBound : change.initial.lowerBound
        let hash = hashOfKey(in: bytes, from: row, heading)
        if entries.count * 2 >= slots.count { growSlots() }
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while slots[slot] >= 0 {
            let index = Int(slots[slot])
            if entries[index].hash == hash, Int(entries[index].table) == table,
                hasKey(entries[index], equalTo: row, heading)
            {
                return try join(change, to: index, heading)
            }
            slot = (slot + 1) & mask
        }
        guard entries.count < Int32.max else { throw .tooLarge }
        let index = Int32(entries.count)
        slots[slot] = index
        entries.append(
            Entry(
                start: UInt32(change.initial.lowerBound), middle: UInt32(change.final.lowerBound),
                end: UInt32(change.final.upperBound), hash: hash, table: UInt16(table),
                operation: change.operation, marks: change.isIndirect ? .indirect : []))
        if tables[table].last >= 0 {
            entries[Int(tables[table].last)].next = index
        } else {
            tables[table].first = index
        }
        tables[table].last = index
    }

    private mutating func growSlots() {
        slots = Array(repeating: -1, count: max(16, slots.count * 2))
        let mask = slots.count - 1
        for (index, entry) in entries.enumerated() {
            var slot = Int(entry.hash) & mask
            while slots[slot] >= 0 { slot = (slot + 1) & mask }
            slots[slot] = Int32(index)
        }
    }

    // MARK: - Keys

    private func hashOfKey(
        in bytes: UnsafeRawBufferPointer, from start: Int, _ heading: ChangesetReader.Heading
    ) -> UInt32 {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
        func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
            hash ^= hash >> 32
        }
        var values = ChangesetValues(bytes, from: start)
        for column in heading.columns {
            let value = values.next()
            guard self.bytes[column] != 0 else { continue }
            var offset = 0
            while value.count - offset >= 8 {
                mix(value.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                offset += 8
            }
            while offset < value.count {
                mix(UInt64(value[offset]))
                offset += 1
            }
        }
        return UInt32(truncatingIfNeeded: hash)
    }

    private func values(of entry: Entry, from offset: UInt32) -> ChangesetValues {
        ChangesetValues(entry.marks.contains(.joined) ? joined.bytes : bytes, from: Int(offset))
    }

    /// Whether an entry is about the row whose values begin at an offset.
    private func hasKey(_ entry: Entry, equalTo start: Int, _ heading: ChangesetReader.Heading) -> Bool {
        var mine = values(of: entry, from: entry.operation == Format.insert ? entry.middle : entry.start)
        var others = ChangesetValues(bytes, from: start)
        for column in heading.columns {
            let (value, other) = (mine.next(), others.next())
            if bytes[column] != 0, !ChangesetValues.same(value, other) { return false }
        }
        return true
    }

    // MARK: - Changes of one row

    private mutating func join(
        _ change: ChangesetReader.Place, to index: Int, _ heading: ChangesetReader.Heading
    ) throws(ChangesetError) {
        var entry = entries[index]
        let isIndirect = entry.marks.contains(.indirect) && change.isIndirect
        defer {
            if isIndirect { entry.marks.insert(.indirect) } else { entry.marks.remove(.indirect) }
            entries[index] = entry
        }
        if entry.marks.contains(.dropped) {
            entry.start = UInt32(change.initial.lowerBound)
            entry.middle = UInt32(change.final.lowerBound)
            entry.end = UInt32(change.final.upperBound)
            entry.operation = change.operation
            entry.marks = []
            return
        }
        switch (entry.operation, change.operation) {
        case (Format.insert, Format.update): try update(&entry, insertedBefore: true, change, heading)
        case (Format.insert, Format.delete): entry.marks.insert(.dropped)
        case (Format.update, Format.update): try update(&entry, insertedBefore: false, change, heading)
        case (Format.update, Format.delete): try delete(&entry, change, heading)
        case (Format.delete, Format.insert): try insertAgain(&entry, change, heading)
        // Only changesets of different databases have such changes. The first one counts.
        default: break
        }
    }

    /// Sets the values of an entry to those that were just joined.
    private func take(
        _ entry: inout Entry, _ operation: UInt8, from start: Int, _ middle: Int
    ) throws(ChangesetError) {
        guard joined.count <= UInt32.max else { throw .tooLarge }
        entry.start = UInt32(start)
        entry.middle = UInt32(middle)
        entry.end = UInt32(joined.count)
        entry.operation = operation
        entry.marks.insert(.joined)
    }

    /// Makes an update of a row, or drops the entry if it changes nothing.
    ///
    /// - Parameter next: Returns the old and the new value of the next column. They may be among
    ///   the joined values, which must not move meanwhile.
    private mutating func joinUpdate(
        _ entry: inout Entry, _ heading: ChangesetReader.Heading,
        next: () -> (old: UnsafeRawBufferPointer, new: UnsafeRawBufferPointer)
    ) throws(ChangesetError) {
        var old = ChangesetBytes()
        var new = ChangesetBytes()
        var isNeeded = false
        for column in heading.columns {
            let values = next()
            if bytes[column] != 0 {
                old.append(values.old)
                new.append(Format.undefined)
            } else if ChangesetValues.same(values.old, values.new) {
                old.append(Format.undefined)
                new.append(Format.undefined)
            } else {
                old.append(values.old)
                new.append(values.new)
                isNeeded = true
            }
        }
        guard isNeeded else {
            // (The entry still has a row with the key.)
            entry.marks.insert(.dropped)
            return
        }
        let start = joined.count
        joined.append(old.bytes)
        let middle = joined.count
        joined.append(new.bytes)
        try take(&entry, Format.update, from: start, middle)
    }

    /// An update of a row that was inserted or updated before.
    private mutating func update(
        _ entry: inout Entry, insertedBefore: Bool, _ change: ChangesetReader.Place,
        _ heading: ChangesetReader.Heading
    ) throws(ChangesetError) {
        var before = values(of: entry, from: entry.start)
        var between = values(of: entry, from: entry.middle)
        var later = ChangesetValues(bytes, from: change.initial.lowerBound)
        var after = ChangesetValues(bytes, from: change.final.lowerBound)
        func isDefined(_ value: UnsafeRawBufferPointer) -> Bool { value[0] != Format.undefined }
        if insertedBefore {
            var row = ChangesetBytes()
            for _ in heading.columns {
                let (old, new) = (between.next(), after.next())
                row.append(isDefined(new) ? new : old)
            }
            let start = joined.count
            joined.append(row.bytes)
            return try take(&entry, Format.insert, from: start, start)
        }
        try joinUpdate(&entry, heading) {
            let (first, second) = (before.next(), later.next())
            let (third, fourth) = (between.next(), after.next())
            return (isDefined(first) ? first : second, isDefined(fourth) ? fourth : third)
        }
    }

    /// A deletion of a row that was updated before.
    private mutating func delete(
        _ entry: inout Entry, _ change: ChangesetReader.Place, _ heading: ChangesetReader.Heading
    ) throws(ChangesetError) {
        var before = values(of: entry, from: entry.start)
        var later = ChangesetValues(bytes, from: change.initial.lowerBound)
        var row = ChangesetBytes()
        for _ in heading.columns {
            let (first, second) = (before.next(), later.next())
            row.append(first[0] != Format.undefined ? first : second)
        }
        let start = joined.count
        joined.append(row.bytes)
        try take(&entry, Format.delete, from: start, joined.count)
    }

    /// An insertion of a row that was deleted before.
    private mutating func insertAgain(
        _ entry: inout Entry, _ change: ChangesetReader.Place, _ heading: ChangesetReader.Heading
    ) throws(ChangesetError) {
        var before = values(of: entry, from: entry.start)
        var after = ChangesetValues(bytes, from: change.final.lowerBound)
        try joinUpdate(&entry, heading) { (before.next(), after.next()) }
    }

    // MARK: - Writing

    private func write(to output: inout ChangesetBytes) {
        for table in tables {
            var isOpen = false
            var next = table.first
            while next >= 0 {
                let entry = entries[Int(next)]
                next = entry.next
                if entry.marks.contains(.dropped) { continue }
                if !isOpen {
                    output.append(UnsafeRawBufferPointer(rebasing: bytes[table.heading.range]))
                    isOpen = true
                }
                output.append(entry.operation)
                output.append(entry.marks.contains(.indirect) ? 1 : 0)
                let source = entry.marks.contains(.joined) ? joined.bytes : bytes
                output.append(UnsafeRawBufferPointer(rebasing: source[Int(entry.start)..<Int(entry.end)]))
            }
        }
    }
}

// Finds out which changes of a failed statement remain, by reading the rows.

import CSQLite

/// A comparison of changes with the rows that they are about.
///
/// A statement that has failed may leave all of its changes, none of them, or those that
/// functions made inside of it. Each row is read by its key, and shows which.
struct JournalAgreement {
    private let database: Database
    private let tables: [JournaledTable]

    init(_ database: Database, _ tables: [JournaledTable]) {
        self.database = database
        self.tables = tables
    }

    /// Adds the changes that remain, with one at most for each row.
    ///
    /// - Throws: an error if the rows do not show it.
    func add(_ changes: borrowing ChangesetBytes, to buffer: inout ChangesetBytes) throws {
        var joined = ChangesetBytes()
        try ChangesetJoiner.join(changes.bytes, into: &joined)
        var reader = ChangesetReader(joined.bytes)
        var heading: ChangesetReader.Heading?
        var isOpen = false
        var comparison: Comparison?
        while let place = try reader.next() {
            if reader.heading != heading, let next = reader.heading {
                heading = next
                isOpen = false
                comparison = try Comparison(database, table(of: next, in: joined.bytes))
            }
            guard let heading, let comparison else { break }
            var remaining = ChangesetBytes()
            try comparison.remainder(of: place, heading, in: joined.bytes, into: &remaining)
            if remaining.isEmpty { continue }
            if !isOpen {
                buffer.append(UnsafeRawBufferPointer(rebasing: joined.bytes[heading.range]))
                isOpen = true
            }
            buffer.append(remaining.bytes)
        }
    }

    private func table(
        of heading: ChangesetReader.Heading, in bytes: UnsafeRawBufferPointer
    ) throws -> JournaledTable {
        let name = String(decoding: bytes[heading.nameRange], as: UTF8.self)
        guard let table = tables.first(where: { $0.name == name }),
            table.heading.elementsEqual(bytes[heading.range])
        else { throw JournalError.unknownChanges(table: name) }
        return table
    }

    /// The rows of a table, read by their keys.
    private final class Comparison {
        private let table: JournaledTable
        private let statement: OpaquePointer
        private let database: Database

        init(_ database: Database, _ table: JournaledTable) throws {
            self.database = database
            self.table = table
            var prepared: OpaquePointer?
            let code = database.asking {
                sqlite3_prepare_v2(database.pointer, table.selection, -1, &prepared, nil)
            }
            guard code == SQLITE_OK, let prepared else { throw database.error(code, sql: table.selection) }
            statement = prepared
        }

        deinit { sqlite3_finalize(statement) }

        /// Adds the remainder of a change.
        func remainder(
            of place: ChangesetReader.Place, _ heading: ChangesetReader.Heading,
            in bytes: UnsafeRawBufferPointer, into output: inout ChangesetBytes
        ) throws {
            var row = ChangesetBytes()
            let isThere = try read(place, in: bytes, into: &row)
            func add(_ operation: UInt8) {
                output.append(operation)
                output.append(place.isIndirect ? 1 : 0)
            }
            switch (place.operation, isThere) {
            case (ChangesetFormat.insert, false), (ChangesetFormat.delete, false):
                // The insertion was undone. The deletion remains, with the values that were
                // there.
                if place.operation == ChangesetFormat.insert { return }
                add(ChangesetFormat.delete)
                output.append(UnsafeRawBufferPointer(rebasing: bytes[place.initial]))
            case (ChangesetFormat.insert, true):
                add(ChangesetFormat.insert)
                output.append(row.bytes)
            case (ChangesetFormat.update, true), (ChangesetFormat.delete, true):
                var update = ChangesetBytes()
                if Self.compare(place, heading, in: bytes, with: row, into: &update) {
                    add(ChangesetFormat.update)
                    output.append(update.bytes)
                }
            default: throw JournalError.unknownChanges(table: table.name)
            }
        }

        /// Writes the update from the old values of a change to a present row. Returns whether
        /// something differs.
        private static func compare(
            _ place: ChangesetReader.Place, _ heading: ChangesetReader.Heading,
            in bytes: UnsafeRawBufferPointer, with row: borrowing ChangesetBytes,
            into output: inout ChangesetBytes
        ) -> Bool {
            var old = ChangesetValues(bytes, from: place.initial.lowerBound)
            var present = ChangesetValues(row.bytes, from: 0)
            var new = ChangesetBytes()
            var differs = false
            for column in heading.columns {
                let (value, now) = (old.next(), present.next())
                if bytes[column] != 0 {
                    output.append(value)
                    new.append(ChangesetFormat.undefined)
                } else if value[0] == ChangesetFormat.undefined || ChangesetValues.same(value, now) {
                    output.append(ChangesetFormat.undefined)
                    new.append(ChangesetFormat.undefined)
                } else {
                    output.append(value)
                    new.append(now)
                    differs = true
                }
            }
            output.append(new.bytes)
            return differs
        }

        /// Reads the row of a change. Returns whether it is there.
        private func read(
            _ place: ChangesetReader.Place, in bytes: UnsafeRawBufferPointer,
            into row: inout ChangesetBytes
        ) throws -> Bool {
            defer {
                sqlite3_reset(statement)
                sqlite3_clear_bindings(statement)
            }
            let start =
                place.operation == ChangesetFormat.insert ? place.final.lowerBound : place.initial.lowerBound
            var values = ChangesetValues(bytes, from: start)
            try values.bind(table.key, ofColumns: table.columns.count, to: statement, database)
            let code = database.asking { sqlite3_step(statement) }
            if code == SQLITE_DONE { return false }
            guard code == SQLITE_ROW else { throw database.error(code, sql: table.selection) }
            table.columns.withUnsafeBufferPointer { columns in
                for index in columns.indices {
                    JournalRecorder.append(
                        sqlite3_column_value(statement, Int32(index)),
                        of: columns.baseAddress.unsafelyUnwrapped + index, isOld: false, to: &row)
                }
            }
            return true
        }
    }
}

extension ChangesetValues {
    /// Binds the values of a key, which are among those of all columns, to the first parameters.
    mutating func bind(
        _ columns: [Int], ofColumns count: Int, to statement: OpaquePointer, after offset: Int = 0,
        _ database: Database
    ) throws {
        for column in 0..<count {
            let value = next()
            guard let place = columns.firstIndex(of: column) else { continue }
            try database.check(value.bindChangesetValue(to: statement, at: Int32(offset + place + 1)))
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Binds a value of a changeset to a parameter. Texts and blobs are not copied.
    func bindChangesetValue(to statement: OpaquePointer?, at index: Int32) -> Int32 {
        switch self[0] {
        case ChangesetFormat.integer:
            return sqlite3_bind_int64(statement, index, Int64(bitPattern: ChangesetValues.bits(of: self)))
        case ChangesetFormat.real:
            return sqlite3_bind_double(statement, index, Double(bitPattern: ChangesetValues.bits(of: self)))
        case ChangesetFormat.text:
            let text = ChangesetValues.payload(of: self)
            return sqlite3_bind_text64(
                statement, index, text.baseAddress?.assumingMemoryBound(to: CChar.self),
                sqlite3_uint64(text.count), shellac_static(), UInt8(SQLITE_UTF8))
        case ChangesetFormat.blob:
            let blob = ChangesetValues.payload(of: self)
            if blob.isEmpty { return sqlite3_bind_zeroblob(statement, index, 0) }
            return sqlite3_bind_blob64(
                statement, index, blob.baseAddress, sqlite3_uint64(blob.count), shellac_static())
        default: return sqlite3_bind_null(statement, index)
        }
    }
}

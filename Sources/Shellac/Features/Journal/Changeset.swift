// Changes of rows as a value: read from bytes in SQLite's format, and iterated.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Changes of rows, with the values before and after.
///
/// ```swift
/// for change in changeset {
///     print(change.operation, change.table, change.key)
/// }
/// ```
///
/// Its ``data`` have the format of SQLite's session extension. So every program with SQLite's
/// `sqlite3changeset_…` functions reads them, and a changeset from such a program is read here.
/// See "The Session Extension" in the SQLite documentation. Shellac itself does not need that
/// extension.
///
/// A changeset has the names of tables, but not those of columns, whose values are in the order
/// of the table's declaration. Generated columns are left out. See ``described(_:)`` for a text
/// with names.
///
/// Changes of one row come in order of time. If the changeset was made by the journal, by a
/// session or by ``concatenated(with:)``, each row has one at most.
public struct Changeset: Hashable, Sendable {
    /// The bytes, in SQLite's format.
    public let data: Data

    /// Creates a changeset without changes.
    public init() { data = Data() }

    /// Creates a changeset from bytes, all of which are checked.
    ///
    /// - Parameter data: The bytes of a changeset, in SQLite's format. Patchsets lack the old
    ///   values, and are refused.
    /// - Throws: ``ChangesetError/malformed(offset:reason:)`` for other bytes, with the first
    ///   place that makes no sense.
    public init(data: Data) throws {
        try data.withUnsafeBytes { bytes in
            var reader = ChangesetReader(bytes)
            while try reader.next() != nil {}
        }
        // (A slice begins at another index than 0.)
        self.data = data.startIndex == 0 ? data : Data(data)
    }

    /// Takes bytes that this layer has written, or that were checked.
    init(unchecked bytes: UnsafeRawBufferPointer) { data = Data(bytes) }

    /// Whether there is no change.
    public var isEmpty: Bool {
        data.withUnsafeBytes { bytes in
            var reader = ChangesetReader(bytes)
            return (try? reader.next()) == nil
        }
    }

    /// The names of the changed tables, in the order of their first changes.
    public var tables: [String] {
        var names: [String] = []
        for change in self where names.last != change.table && !names.contains(change.table) {
            names.append(change.table)
        }
        return names
    }

    /// Calls a function for the place of each change.
    func forEachPlace(
        _ body: (UnsafeRawBufferPointer, ChangesetReader.Heading, ChangesetReader.Place) throws -> Void
    ) rethrows {
        try data.withUnsafeBytes { bytes in
            var reader = ChangesetReader(bytes)
            // (The bytes were checked.)
            while let place = try? reader.next(), let heading = reader.heading {
                try body(bytes, heading, place)
            }
        }
    }
}

extension Changeset: Sequence {
    /// The changes of a changeset, one after the other.
    public struct Iterator: IteratorProtocol {
        private let data: Data
        private var reader: (offset: Int, heading: ChangesetReader.Heading?) = (0, nil)
        private var table = ""

        fileprivate init(_ data: Data) { self.data = data }

        /// Returns the next change, or nil at the end.
        public mutating func next() -> Change? {
            let (state, name) = (reader, table)
            let found = data.withUnsafeBytes {
                bytes -> (Change, (offset: Int, heading: ChangesetReader.Heading?))? in
                var reader = ChangesetReader(bytes, from: state.offset, state.heading)
                // (The bytes were checked.)
                guard let place = try? reader.next(), let heading = reader.heading else { return nil }
                let table =
                    heading.range == state.heading?.range
                    ? name : String(decoding: bytes[heading.nameRange], as: UTF8.self)
                return (Change(bytes, heading, place, table: table), (reader.offset, heading))
            }
            guard let (change, position) = found else { return nil }
            reader = position
            table = change.table
            return change
        }
    }

    /// Returns an iterator over the changes.
    public func makeIterator() -> Iterator { Iterator(data) }

    /// The number of changes. It is found by going through all of them.
    public var count: Int {
        var count = 0
        forEachPlace { _, _, _ in count += 1 }
        return count
    }
}

extension Changeset {
    /// The change of a row.
    public struct Change: Hashable, Sendable {
        /// The kinds of changes.
        public enum Operation: String, Hashable, Sendable {
            /// The row was inserted.
            case insert
            /// The row was updated. Its key is the same as before.
            case update
            /// The row was deleted.
            case delete
        }

        /// The name of the table.
        public let table: String
        /// The kind of the change.
        public let operation: Operation
        /// Whether triggers or foreign keys made the change, and no statement of the program.
        public let isIndirect: Bool
        /// The values before the change, in the order of the columns. An insertion has none. The
        /// values of an update are nil in the columns that stayed the same, except for the key.
        public let initialValues: [DatabaseValue?]
        /// The values after the change, in the order of the columns. A deletion has none. The
        /// values of an update are nil in the columns that stayed the same, the key included.
        public let finalValues: [DatabaseValue?]
        /// The places of the key's columns, in the order of the key.
        public let keyColumns: [Int]

        /// The values of the primary key, in its order.
        public var key: [DatabaseValue] {
            let row = operation == .insert ? finalValues : initialValues
            return keyColumns.map { row[$0] ?? .null }
        }

        /// The number of columns.
        public var columnCount: Int { Swift.max(initialValues.count, finalValues.count) }

        /// The places of the columns that an update has changed, or of all columns.
        public var changedColumns: [Int] {
            guard operation == .update else { return Array(0..<columnCount) }
            return finalValues.indices.filter { finalValues[$0] != nil || initialValues[$0] != nil }
                .filter { !keyColumns.contains($0) }
        }

        init(
            _ bytes: UnsafeRawBufferPointer, _ heading: ChangesetReader.Heading,
            _ place: ChangesetReader.Place, table: String
        ) {
            self.table = table
            isIndirect = place.isIndirect
            switch place.operation {
            case ChangesetFormat.insert: operation = .insert
            case ChangesetFormat.update: operation = .update
            default: operation = .delete
            }
            func row(_ range: Range<Int>) -> [DatabaseValue?] {
                if range.isEmpty { return [] }
                var values = ChangesetValues(bytes, from: range.lowerBound)
                return (0..<heading.columnCount).map { _ in DatabaseValue(changesetValue: values.next()) }
            }
            initialValues = row(place.initial)
            finalValues = row(place.final)
            keyColumns = heading.keyColumns(in: bytes)
        }
    }
}

extension ChangesetReader.Heading {
    /// The places of the key's columns, in the order of the key.
    func keyColumns(in bytes: UnsafeRawBufferPointer) -> [Int] {
        // (Some writers mark each column of the key with 1. Their order is that of the columns.)
        (0..<columnCount).filter { bytes[columns.lowerBound + $0] != 0 }
            .sorted { (bytes[columns.lowerBound + $0], $0) < (bytes[columns.lowerBound + $1], $1) }
    }
}

extension DatabaseValue {
    /// Reads a value of a changeset, or returns nil if it is undefined.
    init?(changesetValue value: UnsafeRawBufferPointer) {
        switch ChangesetValues.type(of: value) {
        case ChangesetFormat.undefined: return nil
        case ChangesetFormat.integer: self.init(.int64(Int64(bitPattern: ChangesetValues.bits(of: value))))
        case ChangesetFormat.real: self.init(.double(Double(bitPattern: ChangesetValues.bits(of: value))))
        case ChangesetFormat.text:
            self.init(.string(String(decoding: ChangesetValues.payload(of: value), as: UTF8.self)))
        case ChangesetFormat.blob: self.init(.blob(Data(ChangesetValues.payload(of: value))))
        default: self.init(.null)
        }
    }
}

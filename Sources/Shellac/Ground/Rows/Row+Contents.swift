// The contents of a row: names, values, uncopied blobs, iteration, equality, description.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Row {
    /// The number of columns.
    public var count: Int { isLive ? live.count : owned.layout.names.count }

    /// Whether the row has no columns.
    public var isEmpty: Bool { count == 0 }

    /// The names of the columns, from left to right. There may be duplicates.
    public var columnNames: [String] { layout.names }

    /// The values, from left to right.
    public var databaseValues: [DatabaseValue] {
        isLive ? (0..<count).map { live.value(at: $0).databaseValue } : owned.databaseValues
    }

    /// Returns the value in a column, or nil if there is no such column.
    ///
    /// - Parameter name: The name of the column, whatever its case. If several columns have it, the
    ///   leftmost is read.
    public func databaseValue(named name: String) -> DatabaseValue? {
        layout.column(named: name).map(databaseValue(inColumn:))
    }

    /// Returns the value in a column, or nil if there is no such column.
    ///
    /// - Parameter index: The index of the column, from 0. It may be out of bounds.
    public func databaseValue(atIndex index: Int) -> DatabaseValue? {
        0..<count ~= index ? databaseValue(inColumn: index) : nil
    }

    /// Whether a column is NULL or missing.
    ///
    /// - Parameter index: The index of the column, from 0.
    public func hasNull(atIndex index: Int) -> Bool { databaseValue(atIndex: index)?.isNull ?? true }

    /// Whether any value is not NULL.
    public var containsNonNullValue: Bool { (0..<count).contains { !databaseValue(inColumn: $0).isNull } }

    /// The values, keyed by column name. Of duplicates, the leftmost counts.
    public var dictionary: [String: DatabaseValue] {
        Dictionary(self, uniquingKeysWith: { leftmost, _ in leftmost })
    }

    private func databaseValue(inColumn column: Int) -> DatabaseValue {
        isLive ? live.value(at: column).databaseValue : owned.databaseValue(at: column)
    }

    // MARK: - Blobs without a copy

    /// Calls a function with the bytes of a blob or a text, without copying them.
    ///
    /// ```swift
    /// let size = try row.withUnsafeData(named: "thumbnail") { data in data?.count ?? 0 }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the column, whatever its case. If several columns have it, the
    ///     leftmost is read.
    ///   - body: A function that gets the bytes, or nil if the column is NULL or missing. The bytes
    ///     are only valid during the call.
    /// - Throws: a ``RowDecodingError`` if the column holds a number, and any error of the
    ///   function.
    public func withUnsafeData<Result>(
        named name: String, _ body: (Data?) throws -> Result
    ) throws -> Result {
        guard let column = layout.column(named: name) else { return try body(nil) }
        return try withUnsafeData(atIndex: column, body)
    }

    /// Calls a function with the bytes of a blob or a text, without copying them.
    ///
    /// - Parameters:
    ///   - index: The index of the column, from 0.
    ///   - body: A function that gets the bytes, or nil if the column is NULL or missing. The bytes
    ///     are only valid during the call.
    /// - Throws: a ``RowDecodingError`` if the column holds a number, and any error of the
    ///   function.
    public func withUnsafeData<Result>(
        atIndex index: Int, _ body: (Data?) throws -> Result
    ) throws -> Result {
        guard 0..<count ~= index else { return try body(nil) }
        return try withExtendedLifetime(packed) {
            switch isLive ? live.value(at: index).view : owned.column(index).view {
            case .null: return try body(nil)
            case .text(let utf8): return try body(Self.data(UnsafeRawBufferPointer(utf8)))
            case .blob(let bytes): return try body(Self.data(bytes))
            case .integer, .real:
                _ = try self[index] as Data  // throws
                return try body(nil)
            }
        }
    }

    private static func data(_ bytes: UnsafeRawBufferPointer) -> Data {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return Data() }
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
    }
}

// MARK: - As a sequence

/// The columns of a row, from left to right.
///
/// ```swift
/// for (name, value) in row {
///     print(name, value)
/// }
/// ```
extension Row: Sequence {
    public typealias Iterator = IndexingIterator<[Element]>
    public typealias Element = (String, DatabaseValue)

    public func makeIterator() -> IndexingIterator<[Element]> {
        Array(zip(columnNames, databaseValues)).makeIterator()
    }

    public var underestimatedCount: Int { count }
}

// MARK: - As a literal

extension Row: ExpressibleByDictionaryLiteral {
    /// Creates a row with the given columns, in order.
    ///
    /// - Parameter elements: The values, each after the name of its column. Names may be
    ///   duplicates, and nil is NULL.
    public init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
        self.init(elements.map { ($0, $1?.databaseValue ?? .null) })
    }
}

// MARK: - As a value

/// Equality of rows. Equal rows have the same columns, with the same names and values in the same
/// order. Rows of other tables that were fetched with them must be equal, too.
extension Row: Hashable {
    public static func == (a: Row, b: Row) -> Bool {
        a.columnNames.elementsEqual(b.columnNames) { $0.utf8.elementsEqual($1.utf8) }
            && a.databaseValues == b.databaseValues && AttachedRows.areEqual(a.attached, b.attached)
    }

    public func hash(into hasher: inout Hasher) {
        for name in columnNames { for byte in name.utf8 { hasher.combine(byte) } }
        hasher.combine(databaseValues)
    }
}

extension Row: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The columns in one line: `[id: 1, name: 'Arthur', score: NULL]`.
    public var description: String {
        guard isLive || packed != nil else { return "Row (its cursor has moved on)" }
        return DatabaseValue.description(of: self)
    }

    /// The columns in one line, followed by the rows of other tables that were fetched with the
    /// row, one per line.
    public var debugDescription: String { ([description] + attachedLines).joined(separator: "\n") }

    public var customMirror: Mirror {
        guard isLive || packed != nil else { return Mirror(self, children: []) }
        return Mirror(self, children: map { (label: $0, value: $1) }, displayStyle: .struct)
    }
}

/// The values of one row of data, as they were read.
///
/// Texts and blobs share one buffer, which is reused.
struct ImportedRow {
    enum Value {
        case null
        case integer(Int64)
        /// A JSON number, and its text.
        case real(Double, Range<Int>)
        /// A JSON number that SQLite can store only as a text.
        case longNumber(Range<Int>)
        case text(Range<Int>)
        /// A CSV value without quotes.
        case plain(Range<Int>)
        case blob(Range<Int>)
    }

    var bytes: [UInt8] = []
    var values: [Value] = []
    /// Whether there is a number that SQLite can store only as a text.
    var hasLongNumber = false

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        hasLongNumber = false
    }

    /// Returns a value in the buffer, as it is passed to a column. `buffer` has all bytes.
    ///
    /// SQLite reads some digits as a neighbouring number, depending on its version. So it gets the
    /// number instead.
    @inline(__always)
    func view(
        at index: Int, in buffer: UnsafeBufferPointer<UInt8>, for column: ImportedColumn
    ) -> ValueView {
        switch values[index] {
        case .null: .null
        case .integer(let integer): .integer(integer)
        case .real(let real, let range):
            column == .text ? .text(UnsafeBufferPointer(rebasing: buffer[range])) : .real(real)
        case .longNumber(let range): .text(UnsafeBufferPointer(rebasing: buffer[range]))
        case .text(let range):
            column == .number
                ? CSVNumber.real(UnsafeBufferPointer(rebasing: buffer[range]))
                : .text(UnsafeBufferPointer(rebasing: buffer[range]))
        case .plain(let range):
            switch column {
            case .text, .unknown: .text(UnsafeBufferPointer(rebasing: buffer[range]))
            case .number: CSVNumber.real(UnsafeBufferPointer(rebasing: buffer[range]))
            case .any: CSVNumber.canonical(UnsafeBufferPointer(rebasing: buffer[range]))
            }
        case .blob(let range): .blob(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: buffer[range])))
        }
    }

    /// Returns a copy of a value.
    func databaseValue(at index: Int, for column: ImportedColumn) -> DatabaseValue {
        bytes.withUnsafeBufferPointer { view(at: index, in: $0, for: column).databaseValue }
    }

    /// Returns the index of the first text that is not UTF-8, or nil if all are.
    func indexOfInvalidText() -> Int? {
        // Most data is ASCII, which is quick to detect.
        let highest = bytes.withUnsafeBufferPointer { $0.reduce(0 as UInt8) { $0 | $1 } }
        guard highest >= 0x80 else { return nil }
        return values.firstIndex { value in
            switch value {
            case .text(let range), .plain(let range):
                return String(validating: bytes[range], as: UTF8.self) == nil
            default: return false
            }
        }
    }
}

/// The conversion of a value by the column that stores it.
enum ImportedColumn {
    /// A column that stores numbers as texts.
    case text
    /// A column that stores texts that look like numbers as numbers.
    case number
    /// A column that stores each value as it is.
    case any
    /// A column of a view or of a virtual table. SQLite converts nothing, and the effect on a value
    /// is unknown.
    case unknown

    init(_ column: ColumnInfo, of table: TableSchema) {
        guard table.kind == .table else {
            self = .unknown
            return
        }
        switch column.affinity {
        case .text: self = .text
        case .blob: self = .any
        case .integer, .real, .numeric: self = .number
        }
    }
}

/// A reader of data rows.
protocol RowReader: AnyObject {
    /// The row that was read last.
    var row: ImportedRow { get }
    /// The names of its values. Nil if the data has none.
    var names: [String]? { get }
    /// A number that changes with the names.
    var generation: Int { get }
    /// The number of the row, from 1 on. `line` is the number of the line in which it begins.
    var rowNumber: Int { get }
    var line: Int { get }
    var bytes: ByteReader { get }

    /// Reads the next row. Returns false at the end.
    func next() throws -> Bool
}

extension RowReader {
    /// Returns an error for the row that is being read, or was read last.
    func error(
        column: String? = nil, _ message: String, underlyingError: (any Error)? = nil
    ) -> ExchangeError {
        ExchangeError(
            row: rowNumber, line: line, column: column, message, underlyingError: underlyingError)
    }

    /// Throws if a number would be stored as a number, but SQLite can store it only as a text.
    func checkNumbers(_ matches: [ColumnMatcher.Match]) throws {
        guard row.hasLongNumber else { return }
        for match in matches where match.type != .text {
            guard case .longNumber(let range) = row.values[match.place] else { continue }
            let number = String(decoding: row.bytes[range], as: UTF8.self)
            let isInteger = !number.utf8.contains { ".eE".utf8.contains($0) }
            throw error(
                column: match.name,
                isInteger
                    ? "\(number) is not a 64-bit integer"
                    : "\(number) is too large for a real number: write an infinity as 9e999")
        }
    }

    func checkTexts() throws {
        guard let index = row.indexOfInvalidText() else { return }
        throw error(
            column: names.flatMap { $0.indices.contains(index) ? $0[index] : nil } ?? "\(index + 1)",
            "the text is not UTF-8: convert the data first")
    }
}

extension ByteReader {
    /// Skips a byte-order mark. UTF-16 data has another one, and is refused.
    func skipByteOrderMark() throws {
        switch try peek() {
        case 0xEF:
            for expected: UInt8 in [0xEF, 0xBB, 0xBF] {
                guard try next() == expected else {
                    throw ExchangeError(line: 1, "the data is not UTF-8: convert it first")
                }
            }
        case 0xFE, 0xFF:
            throw ExchangeError(line: 1, "the data is UTF-16, or is not text: convert it to UTF-8 first")
        default: break
        }
    }
}

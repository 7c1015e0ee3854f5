/// The values of one row of data, as they were read: texts and blobs stand side by side in one buffer, which is used again.
struct ImportedRow {
    enum Value {
        case null
        case integer(Int64)
        case real(Double)
        case text(Range<Int>)
        case blob(Range<Int>)
    }

    var bytes: [UInt8] = []
    var values: [Value] = []

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
    }

    /// Runs a function with a value where it stands. `buffer` is that of all bytes.
    @inline(__always)
    func view(at index: Int, in buffer: UnsafeBufferPointer<UInt8>) -> ValueView {
        switch values[index] {
        case .null: .null
        case .integer(let integer): .integer(integer)
        case .real(let real): .real(real)
        case .text(let range): .text(UnsafeBufferPointer(rebasing: buffer[range]))
        case .blob(let range): .blob(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: buffer[range])))
        }
    }

    /// A copy of a value.
    func databaseValue(at index: Int) -> DatabaseValue {
        bytes.withUnsafeBufferPointer { view(at: index, in: $0).databaseValue }
    }

    /// The index of the first text that is no UTF-8. Nil where all are.
    func indexOfInvalidText() -> Int? {
        // Most data is ASCII, which is seen at once.
        let highest = bytes.withUnsafeBufferPointer { $0.reduce(0 as UInt8) { $0 | $1 } }
        guard highest >= 0x80 else { return nil }
        return values.firstIndex { value in
            guard case .text(let range) = value else { return false }
            return String(validating: bytes[range], as: UTF8.self) == nil
        }
    }
}

/// Reads rows of data.
protocol RowReader: AnyObject {
    /// The row that was read last.
    var row: ImportedRow { get }
    /// The names of its values. Nil where the data has none.
    var names: [String]? { get }
    /// Changes with the names.
    var generation: Int { get }
    /// The number of the row, from 1 on, and of the line in which it begins.
    var rowNumber: Int { get }
    var line: Int { get }
    var bytes: ByteReader { get }

    /// Reads the next row. Returns false at the end.
    func next() throws -> Bool
}

extension RowReader {
    /// An error of the row that is being read, or was read last.
    func error(
        column: String? = nil, _ message: String, underlyingError: (any Error)? = nil
    ) -> ExchangeError {
        ExchangeError(
            row: rowNumber, line: line, column: column, message, underlyingError: underlyingError)
    }

    func checkTexts() throws {
        guard let index = row.indexOfInvalidText() else { return }
        throw error(
            column: names.flatMap { $0.indices.contains(index) ? $0[index] : nil } ?? "\(index + 1)",
            "the text is no UTF-8: convert the data first")
    }
}

extension ByteReader {
    /// Passes over a byte-order mark. Data in UTF-16 has another one, and is refused.
    func skipByteOrderMark() throws {
        switch try peek() {
        case 0xEF:
            for expected: UInt8 in [0xEF, 0xBB, 0xBF] {
                guard try next() == expected else {
                    throw ExchangeError(line: 1, "the data is no UTF-8: convert it first")
                }
            }
        case 0xFE, 0xFF:
            throw ExchangeError(line: 1, "the data is UTF-16, or no text: convert it to UTF-8 first")
        default: break
        }
    }
}

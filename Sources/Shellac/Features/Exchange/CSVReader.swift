/// A reader of CSV rows: see RFC 4180.
final class CSVReader: RowReader {
    let bytes: ByteReader
    private(set) var row = ImportedRow()
    private(set) var names: [String]?
    let generation = 0
    private(set) var rowNumber = 0
    private(set) var line = 1

    private let style: CSVStyle
    /// The table, and the columns that the values belong to, in order, if no line names them.
    private let (tableName, tableColumns): (String, [String])
    /// The number of the present line.
    private var currentLine = 1
    private var isAtStart = true

    init(_ source: ExchangeSource, _ style: CSVStyle, for table: TableSchema) throws {
        bytes = try ByteReader(source)
        self.style = style
        (tableName, tableColumns) = (table.name, table.importedColumns.map(\.name))
    }

    func next() throws -> Bool {
        if isAtStart {
            isAtStart = false
            try bytes.skipByteOrderMark()
            if style.hasHeader { try readHeader() }
        }
        // Errors name this row.
        rowNumber += 1
        guard try readRow(isHeader: false) else {
            rowNumber -= 1
            return false
        }
        let columns = names ?? tableColumns
        guard columns.count == row.values.count else {
            let values = row.values.count == 1 ? "is 1 value" : "are \(row.values.count) values"
            throw error(
                names == nil
                    ? "there \(values) for the \(columns.count) columns of the table \(tableName): "
                        + columns.joined(separator: ", ")
                    : "there \(values) for \(columns.count) columns")
        }
        try checkTexts()
        return true
    }

    private func readHeader() throws {
        guard try readRow(isHeader: true) else {
            throw ExchangeError(line: 1, "there is no line with the names of the columns")
        }
        var names: [String] = []
        for index in row.values.indices {
            guard row.indexOfInvalidText() == nil else {
                throw ExchangeError(
                    line: line, "the names of the columns are not UTF-8: convert the data first")
            }
            guard case .string(let name) = row.databaseValue(at: index, for: .text).storage else { continue }
            names.append(name)
        }
        self.names = names
    }

    /// Reads the values of a row. Returns false at the end of the data.
    private func readRow(isHeader: Bool) throws -> Bool {
        row.removeAll()
        // An empty line is a value if there is a single column. Otherwise it is skipped.
        let isNothing = isHeader || (names ?? tableColumns).count != 1
        while isNothing, let byte = try bytes.peek(),
            byte == CSVStyle.lineFeed || byte == CSVStyle.carriageReturn
        {
            try endLine()
        }
        guard try bytes.peek() != nil else { return false }
        line = currentLine
        while true {
            let start = row.bytes.count
            if try bytes.peek() == CSVStyle.quote {
                try readQuoted()
                row.values.append(.text(start..<row.bytes.count))
            } else {
                let separator = style.separator
                while try !bytes.appendBytes(
                    to: &row.bytes,
                    until: { $0 == separator || $0 == CSVStyle.lineFeed || $0 == CSVStyle.carriageReturn })
                {}
                row.values.append(isHeader ? .text(start..<row.bytes.count) : plainValue(from: start))
            }
            guard let byte = try bytes.peek() else { return true }
            if byte == style.separator {
                _ = try bytes.next()
            } else {
                try endLine()
                return true
            }
        }
    }

    /// Reads a quoted value, which may span several lines.
    private func readQuoted() throws {
        let firstLine = currentLine
        _ = try bytes.next()
        while true {
            let start = row.bytes.count
            while try !bytes.appendBytes(to: &row.bytes, until: { $0 == CSVStyle.quote }) {
                guard try bytes.peek() != nil else { break }
            }
            for index in start..<row.bytes.count where row.bytes[index] == CSVStyle.lineFeed {
                currentLine += 1
            }
            guard try bytes.next() != nil else {
                throw error(column: columnName, "the quote that opens in line \(firstLine) is not closed")
            }
            switch try bytes.peek() {
            case CSVStyle.quote:
                row.bytes.append(CSVStyle.quote)
                _ = try bytes.next()
            case nil, style.separator, CSVStyle.lineFeed, CSVStyle.carriageReturn: return
            default:
                throw error(
                    column: columnName,
                    "there is text after a closing quote: a quote inside of quotes must be doubled")
            }
        }
    }

    /// The column of the value that is being read.
    private var columnName: String? {
        names.flatMap { $0.indices.contains(row.values.count) ? $0[row.values.count] : nil }
    }

    /// Skips the end of a line: LF, CRLF or CR.
    private func endLine() throws {
        if try bytes.next() == CSVStyle.carriageReturn, try bytes.peek() == CSVStyle.lineFeed {
            _ = try bytes.next()
        }
        currentLine += 1
    }

    /// Returns the value of an unquoted text, from a place in the buffer to its end.
    private func plainValue(from start: Int) -> ImportedRow.Value {
        let range = start..<row.bytes.count
        if let null = style.null, row.bytes[range].elementsEqual(null) { return .null }
        guard range.count >= 3, let blob = BlobLiteral.bytes(row.bytes[range]) else { return .plain(range) }
        row.bytes.replaceSubrange(range, with: blob)
        return .blob(start..<start + blob.count)
    }
}

/// A blob in SQL syntax: `x'C0FFEE'`.
enum BlobLiteral {
    /// Returns the bytes of a literal, or nil for other texts.
    static func bytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard let first = text.first, first | 0x20 == UInt8(ascii: "x"), text.count >= 3, text.count % 2 == 1,
            text[text.startIndex + 1] == UInt8(ascii: "'"), text.last == UInt8(ascii: "'")
        else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for byte in text.dropFirst(2).dropLast() {
            guard let digit = hexDigit(byte) else { return nil }
            if let some = high {
                bytes.append(some << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }

    static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case 65...70: byte - 55
        case 97...102: byte - 87
        default: nil
        }
    }
}

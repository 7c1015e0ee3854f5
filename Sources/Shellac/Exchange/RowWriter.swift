/// Writes rows as text.
final class RowWriter {
    private let kind: ExchangeFormat.Kind
    private let writer: ByteWriter
    private var names: [String] = []
    /// What stands in front of each value.
    private var openings: [[UInt8]] = []
    private(set) var rowCount = 0
    private let progress: ((WorkProgress) throws -> Void)?
    private let totalCount: Int?

    /// How many rows there are between two reports of progress.
    static var rowsBetweenReports: Int { 1_000 }

    init(
        _ destination: ExchangeDestination, _ format: ExchangeFormat, totalCount: Int? = nil,
        _ progress: ((WorkProgress) throws -> Void)?
    ) throws {
        kind = format.kind
        writer = try ByteWriter(destination)
        (self.totalCount, self.progress) = (totalCount, progress)
    }

    /// Writes what comes before the rows, whose columns have these names.
    func begin(_ names: [String]) throws {
        self.names = names
        switch kind {
        case .csv(let style):
            let separator = [style.separator]
            openings = names.indices.map { $0 == 0 ? [] : separator }
            guard style.hasHeader else { return }
            for (index, var name) in names.enumerated() {
                writer.bytes.append(contentsOf: openings[index])
                // (An empty name is no NULL.)
                name.withUTF8 { style.append($0, to: &writer.bytes) }
            }
            writer.bytes.append(CSVStyle.lineFeed)
        case .jsonLines, .json:
            var known: Set<CaseInsensitiveName> = []
            for name in names where !known.insert(CaseInsensitiveName(name)).inserted {
                throw ExchangeError(
                    column: name,
                    "two columns have this name, and an object has each key once: name one by AS")
            }
            openings = names.enumerated().map { index, name in
                var (name, opening) = (name, index == 0 ? [] : [UInt8(ascii: ",")])
                name.withUTF8 { JSONText.append($0, to: &opening) }
                return opening + [UInt8(ascii: ":")]
            }
            if kind == .json { writer.bytes.append(UInt8(ascii: "[")) }
        }
    }

    /// Writes a row.
    @inline(__always)
    func write(_ value: (Int) -> ValueView) throws {
        switch kind {
        case .csv(let style):
            for index in openings.indices {
                if index > 0 { writer.bytes.append(style.separator) }
                style.append(value(index), to: &writer.bytes)
            }
        case .jsonLines, .json:
            if kind == .json {
                writer.bytes.append(contentsOf: (rowCount == 0 ? "\n" : ",\n").utf8)
            }
            writer.bytes.append(UInt8(ascii: "{"))
            for index in openings.indices {
                writer.bytes.append(contentsOf: openings[index])
                JSONText.append(value(index), to: &writer.bytes)
            }
            writer.bytes.append(UInt8(ascii: "}"))
        }
        if kind != .json { writer.bytes.append(CSVStyle.lineFeed) }
        rowCount += 1
        try writer.flushIfFull()
        if let progress, rowCount % Self.rowsBetweenReports == 0 {
            try progress(WorkProgress(completed: rowCount, of: totalCount, rows: rowCount))
        }
    }

    /// Writes what comes behind the rows.
    func finish() throws {
        if kind == .json { writer.bytes.append(contentsOf: (rowCount == 0 ? "]\n" : "\n]\n").utf8) }
        try progress?(
            WorkProgress(completed: rowCount, of: totalCount ?? rowCount, rows: rowCount, isCompleted: true))
        try writer.finish()
    }
}

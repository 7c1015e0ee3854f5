/// A writer of rows as text.
final class RowWriter {
    private let kind: ExchangeFormat.Kind
    private let writer: ByteWriter
    private var names: [String] = []
    /// The text before each value.
    private var openings: [[UInt8]] = []
    /// Whether each column has no conversion, as far as is known.
    private var areAny: [Bool] = []
    /// Whether an import of each column may keep a text, although the text is a number.
    private var mayKeepTexts: [Bool] = []
    private(set) var rowCount = 0
    private let progress: ((WorkProgress) throws -> Void)?
    private let totalCount: Int?

    /// The number of rows between two reports of progress.
    static var rowsBetweenReports: Int { 1_000 }

    init(
        _ destination: ExchangeDestination, _ format: ExchangeFormat, totalCount: Int? = nil,
        _ progress: ((WorkProgress) throws -> Void)?
    ) throws {
        kind = format.kind
        writer = try ByteWriter(destination)
        (self.totalCount, self.progress) = (totalCount, progress)
    }

    /// Writes the text before the rows.
    ///
    /// - Parameters:
    ///   - names: The names of the columns.
    ///   - affinities: The affinities of the columns, as far as they are known.
    ///   - declared: The affinities of the columns that a request reads, if these are known better.
    func begin(
        _ names: [String], _ affinities: [ColumnAffinity?], declared: [ColumnAffinity?]? = nil
    ) throws {
        self.names = names
        areAny = affinities.map { $0 == nil || $0 == .blob }
        mayKeepTexts = declared?.map { $0 == nil || $0 == .blob } ?? areAny
        switch kind {
        case .csv(let style):
            let separator = [style.separator]
            openings = names.indices.map { $0 == 0 ? [] : separator }
            guard style.hasHeader else { return }
            for (index, var name) in names.enumerated() {
                writer.bytes.append(contentsOf: openings[index])
                // (An empty name does not mean NULL.)
                name.withUTF8 { style.append($0, isAny: false, to: &writer.bytes) }
            }
            writer.bytes.append(CSVStyle.lineFeed)
        case .jsonLines, .json:
            var known: Set<CaseInsensitiveName> = []
            for name in names where !known.insert(CaseInsensitiveName(name)).inserted {
                throw ExchangeError(
                    column: name,
                    "two columns have this name, but an object can have each key only once: rename one with AS"
                )
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
                let value = value(index)
                if value.isInvalidText { throw invalidText(at: index) }
                let isLikeNull = style.append(value, isAny: areAny[index], to: &writer.bytes)
                if isLikeNull, mayKeepTexts[index] { throw numberLikeNull(at: index) }
            }
        case .jsonLines, .json:
            if kind == .json {
                writer.bytes.append(contentsOf: (rowCount == 0 ? "\n" : ",\n").utf8)
            }
            writer.bytes.append(UInt8(ascii: "{"))
            for index in openings.indices {
                writer.bytes.append(contentsOf: openings[index])
                let value = value(index)
                if value.isInvalidText { throw invalidText(at: index) }
                JSONText.append(value, to: &writer.bytes)
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

    /// Returns the error for a text that an import would refuse.
    private func invalidText(at index: Int) -> ExchangeError {
        ExchangeError(
            row: rowCount + 1, column: names[index],
            "the text is not UTF-8, and so it could not be imported: export it as a blob, with CAST(… AS BLOB)"
        )
    }

    /// Returns the error for a number that equals the word for NULL, in a column that may have no
    /// type. An import could read it as a text.
    private func numberLikeNull(at index: Int) -> ExchangeError {
        ExchangeError(
            row: rowCount + 1, column: names[index],
            "the number equals the word for NULL, and the column is not known to have a type that would "
                + "distinguish them: use another word")
    }

    /// Writes the text after the rows.
    func finish() throws {
        if kind == .json { writer.bytes.append(contentsOf: (rowCount == 0 ? "]\n" : "\n]\n").utf8) }
        try progress?(
            WorkProgress(completed: rowCount, of: totalCount ?? rowCount, rows: rowCount, isCompleted: true))
        try writer.finish()
    }
}

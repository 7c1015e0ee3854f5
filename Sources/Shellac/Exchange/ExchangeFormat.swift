/// How rows are written as text, for other programs: as CSV, or as JSON lines.
///
/// ```swift
/// try dbQueue.read { db in
///     try db.exportRows(of: "player", to: .file("players.csv"))
///     try db.exportRows(of: "player", to: .file("players.jsonl"), as: .jsonLines)
/// }
/// ```
///
/// What is exported is read back as it was: NULL is told from empty text, blobs from texts, and no digit is lost.
public struct ExchangeFormat: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case csv(CSVStyle)
        case jsonLines
        case json
    }

    let kind: Kind

    /// Values between commas, as RFC 4180 has them, with the names of the columns in the first line.
    ///
    /// | Value | Written as |
    /// | --- | --- |
    /// | NULL | nothing: `1,,3` |
    /// | the empty text | `""` |
    /// | a text with commas, quotes or line breaks | in quotes, those inside doubled |
    /// | a blob | `x'C0FFEE'`, without quotes; a text that looks so has quotes |
    /// | an infinity | `9e999`, `-9e999` |
    ///
    /// What is read is converted by the columns that it is stored in, since CSV knows no numbers: see "Type Affinity" in the
    /// SQLite documentation. Lines end with LF, CRLF or CR, and a byte-order mark is passed over.
    public static var csv: ExchangeFormat { .csv() }

    /// Values between commas, or another character.
    ///
    /// - Parameters:
    ///   - separator: What stands between two values: a character of ASCII.
    ///   - null: What stands for NULL, without quotes; a text that is the same has quotes. With nil, nothing is read as NULL, and
    ///     NULL is written as an empty text.
    ///   - hasHeader: Whether the first line has the names of the columns. Without it, there is one value for each column of the
    ///     table, in their order.
    public static func csv(
        separator: Character = ",", null: String? = "", hasHeader: Bool = true
    ) -> ExchangeFormat {
        guard let byte = separator.asciiValue, byte != UInt8(ascii: "\""), byte != 10, byte != 13 else {
            Misuse.trap(
                "the separator of CSV is a character of ASCII that is neither a quote nor a line break.")
        }
        return ExchangeFormat(
            kind: .csv(CSVStyle(separator: byte, null: null.map { Array($0.utf8) }, hasHeader: hasHeader)))
    }

    /// A JSON object in each line, whose keys are the columns.
    ///
    /// Integers have all their digits, also where other programs would take them for real numbers (beyond 2⁵³). Real numbers
    /// have a point or an exponent, infinities are `9e999`, and a blob is an object, `{"$base64":"wP/u"}`. Reading also takes `true` and
    /// `false`, as 1 and 0; other objects and arrays are stored as JSON. A column that a line does not have gets its default value.
    public static var jsonLines: ExchangeFormat { ExchangeFormat(kind: .jsonLines) }

    /// An array of JSON objects, with each on a line of its own. Reading takes it for ``jsonLines``, and these for it.
    public static var json: ExchangeFormat { ExchangeFormat(kind: .json) }
}

/// How values stand in a CSV text.
struct CSVStyle: Hashable, Sendable {
    let separator: UInt8
    let null: [UInt8]?
    let hasHeader: Bool

    static let quote = UInt8(ascii: "\"")
    static let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
}

/// How rows are written as text, for other programs: as CSV, or as JSON lines.
///
/// ```swift
/// try dbQueue.read { db in
///     try db.exportRows(of: "player", to: .file("players.csv"))
///     try db.exportRows(of: "player", to: .file("players.jsonl"), as: .jsonLines)
/// }
/// ```
///
/// What is exported is imported as it was: NULL is told from empty text, blobs from texts, and no digit is lost. A text that
/// is no UTF-8 could not be, and an export refuses it.
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
    /// The column that a value is stored in makes a number of it: see "Type Affinity" in the SQLite documentation. In a column
    /// without a type, digits are a number as they are written here, such as `1`, and a text in quotes, or as `007`. Lines end
    /// with LF, CRLF or CR, and a byte-order mark is passed over. An empty line is the NULL of a single column; beside
    /// others, it is nothing.
    public static var csv: ExchangeFormat { .csv() }

    /// Values between commas, or another character.
    ///
    /// - Parameters:
    ///   - separator: What stands between two values: a character of ASCII that no number and no blob is written with.
    ///   - null: What stands for NULL, without quotes; a text or number that is the same has quotes. It has no separator, quote or
    ///     line break. With nil, nothing is read as NULL, and NULL is written as an empty text, which it then is.
    ///   - hasHeader: Whether the first line has the names of the columns. Without it, there is one value for each column of the
    ///     table, in their order.
    public static func csv(
        separator: Character = ",", null: String? = "", hasHeader: Bool = true
    ) -> ExchangeFormat {
        guard let byte = separator.asciiValue, !CSVStyle.isReserved(byte) else {
            Misuse.trap(
                "the separator of CSV is a character of ASCII that is neither a quote nor a line break, and that no number "
                    + "or blob is written with.")
        }
        if let null, !isNullWord(null, separator: separator) {
            Misuse.trap(
                "the word for NULL has the separator, a quote, a line break or a byte-order mark: it could not be read back."
            )
        }
        return ExchangeFormat(
            kind: .csv(CSVStyle(separator: byte, null: null.map { Array($0.utf8) }, hasHeader: hasHeader)))
    }

    /// Whether a word can stand for NULL: it has nothing that ends a value, or that is passed over.
    package static func isNullWord(_ word: String, separator: Character) -> Bool {
        !word.utf8.contains { $0 == separator.asciiValue || CSVStyle.endsValue($0) }
            && word.unicodeScalars.first != "\u{FEFF}"
    }

    /// A JSON object in each line, whose keys are the columns.
    ///
    /// Integers have all their digits, also where other programs would take them for real numbers (beyond 2⁵³). Real numbers
    /// have a point or an exponent, infinities are `9e999`, and a blob is an object, `{"$base64":"wP/u"}`. Reading also takes `true` and
    /// `false`, as 1 and 0; other objects and arrays are stored as JSON, as they stand, without the blanks. A TEXT column
    /// holds a number as it is written. A column that a line does not have gets its default value.
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

    /// Whether a byte ends a value, or begins one in quotes, whatever the separator is.
    static func endsValue(_ byte: UInt8) -> Bool {
        byte == quote || byte == lineFeed || byte == carriageReturn
    }

    /// Whether a byte cannot separate values. Numbers and blobs are written with some, and have no quotes.
    static func isReserved(_ byte: UInt8) -> Bool {
        endsValue(byte) || 48...57 ~= byte || 65...70 ~= byte || "e.+-x'".utf8.contains(byte)
    }
}

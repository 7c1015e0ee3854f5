/// A text format of rows, for other programs: CSV, or JSON lines.
///
/// ```swift
/// try dbQueue.read { db in
///     try db.exportRows(of: "player", to: .file("players.csv"))
///     try db.exportRows(of: "player", to: .file("players.jsonl"), as: .jsonLines)
/// }
/// ```
///
/// An import restores the exported values exactly: it distinguishes NULL from empty text, and blobs
/// from texts, and no digit is lost. A text that is not UTF-8 could not be restored, so an export
/// refuses it.
public struct ExchangeFormat: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case csv(CSVStyle)
        case jsonLines
        case json
    }

    let kind: Kind

    /// Values between commas, as in RFC 4180, with the names of the columns in the first line.
    ///
    /// | Value | Written as |
    /// | --- | --- |
    /// | NULL | nothing: `1,,3` |
    /// | the empty text | `""` |
    /// | a text with commas, quotes or line breaks | in quotes, those inside doubled |
    /// | a blob | `x'C0FFEE'`, without quotes; a text that looks so has quotes |
    /// | an infinity | `9e999`, `-9e999` |
    ///
    /// The column that stores a value converts it to a number: see "Type Affinity" in the SQLite
    /// documentation. In a column without a type, digits are a number if they are written as here,
    /// such as `1`. In quotes, or written as `007`, they are a text. Lines end with LF, CRLF or CR,
    /// and a byte-order mark is skipped. An empty line is the NULL of a single column; with several
    /// columns, it is skipped.
    public static var csv: ExchangeFormat { .csv() }

    /// Returns the format of values between commas, or another character.
    ///
    /// - Parameters:
    ///   - separator: The character between two values: an ASCII character that occurs in no number
    ///     and no blob.
    ///   - null: The word for NULL, without quotes; an equal text or number is quoted. It must not
    ///     contain a separator, quote or line break. With nil, no value is read as NULL, and NULL
    ///     is written as an empty text, which an import then reads.
    ///   - hasHeader: Whether the first line has the names of the columns. Without it, there is one
    ///     value for each column of the table, in their order.
    public static func csv(
        separator: Character = ",", null: String? = "", hasHeader: Bool = true
    ) -> ExchangeFormat {
        guard let byte = separator.asciiValue, !CSVStyle.isReserved(byte) else {
            Misuse.trap(
                "the separator of CSV must be an ASCII character that is neither a quote nor a line break, "
                    + "and that appears in no number or blob.")
        }
        if let null, !isNullWord(null, separator: separator) {
            Misuse.trap(
                "the word for NULL contains the separator, a quote, a line break or a byte-order mark, and "
                    + "so it could not be read back: use another word."
            )
        }
        return ExchangeFormat(
            kind: .csv(CSVStyle(separator: byte, null: null.map { Array($0.utf8) }, hasHeader: hasHeader)))
    }

    /// Whether a word can represent NULL: it has no character that ends a value, or that is
    /// skipped.
    package static func isNullWord(_ word: String, separator: Character) -> Bool {
        !word.utf8.contains { $0 == separator.asciiValue || CSVStyle.endsValue($0) }
            && word.unicodeScalars.first != "\u{FEFF}"
    }

    /// A JSON object in each line, whose keys are the columns.
    ///
    /// Integers have all their digits, even if other programs would take them for real numbers
    /// (beyond 2⁵³). Real numbers have a point or an exponent, infinities are `9e999`, and a blob
    /// is an object, `{"$base64":"wP/u"}`. Reading also takes `true` and `false`, as 1 and 0. Other
    /// objects and arrays are stored as JSON, unchanged except for blanks. A TEXT column holds a
    /// number as it is written. A column that a line lacks gets its default value.
    public static var jsonLines: ExchangeFormat { ExchangeFormat(kind: .jsonLines) }

    /// An array of JSON objects, each on a line of its own. Imports accept it as ``jsonLines``, and
    /// the other way round.
    public static var json: ExchangeFormat { ExchangeFormat(kind: .json) }
}

/// The syntax of values in a CSV text.
struct CSVStyle: Hashable, Sendable {
    let separator: UInt8
    let null: [UInt8]?
    let hasHeader: Bool

    static let quote = UInt8(ascii: "\"")
    static let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))

    /// Whether a byte ends a value, or begins a quoted one, whatever the separator is.
    static func endsValue(_ byte: UInt8) -> Bool {
        byte == quote || byte == lineFeed || byte == carriageReturn
    }

    /// Whether a byte cannot be the separator. Some bytes occur in numbers and blobs, which are not
    /// quoted.
    static func isReserved(_ byte: UInt8) -> Bool {
        endsValue(byte) || 48...57 ~= byte || 65...70 ~= byte || "e.+-x'".utf8.contains(byte)
    }
}

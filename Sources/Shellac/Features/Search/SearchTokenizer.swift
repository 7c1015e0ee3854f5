/// The tokenizer of a full-text index: the code that splits texts into the tokens that are found.
///
/// | Tokenizer | Finds | Other programs |
/// | --- | --- | --- |
/// | ``words(keepingDiacritics:)`` | words in every script | need Shellac to write or search |
/// | ``unicode61`` | words between blanks | can write and search |
/// | ``porter`` | English words in their other forms, too | can write and search |
/// | ``trigram`` | any three characters or more | can write and search |
public struct SearchTokenizer: Hashable, Sendable {
    /// The name of the tokenizer in SQL.
    public let name: String
    /// The arguments behind the name.
    public let arguments: [String]

    /// Creates a tokenizer by its name in SQL.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - arguments: The arguments behind the name.
    public init(name: String, arguments: [String] = []) { (self.name, self.arguments) = (name, arguments) }

    /// The tokenizer of Shellac, which finds words in every script.
    ///
    /// Words are folded: "STRASSE" finds "Straße". Of scripts without blanks between words, such as
    /// Chinese and Thai, any characters that follow each other are found, and any single one.
    ///
    /// A connection without Shellac can read the table of the records, but it can neither write to
    /// it nor search. SQLite then says "no such tokenizer". For a file that other programs write,
    /// use ``unicode61``.
    ///
    /// The index contains the version of the tables of Unicode properties. So a file means the same
    /// under each version of Swift.
    ///
    /// - Parameter keepsDiacritics: Whether "é" and "e" are different letters.
    public static func words(keepingDiacritics keepsDiacritics: Bool = false) -> Self {
        Self(
            name: WordTokenizer.name,
            arguments: [
                "version", "\(WordTables.version)", "diacritics", keepsDiacritics ? "keep" : "fold",
            ])
    }

    /// SQLite's tokenizer for words between blanks, without their case and diacritics.
    public static let unicode61 = Self(name: "unicode61", arguments: ["remove_diacritics", "2"])

    /// SQLite's tokenizer for the stems of English words: "connected" finds "connection".
    public static let porter = Self(name: "porter", arguments: ["unicode61", "remove_diacritics", "2"])

    /// SQLite's tokenizer for parts of words.
    ///
    /// It finds nothing of fewer than three characters, so it does not suit Chinese, Japanese and
    /// Korean, which have many words of two.
    public static let trigram = Self(name: "trigram")

    /// A tokenizer of your own.
    ///
    /// - Parameters:
    ///   - type: The tokenizer, which each connection adds.
    ///   - arguments: The arguments that it is created with.
    public static func custom(_ type: (some FTS5Tokenizer).Type, arguments: [String] = []) -> Self {
        Self(name: type.name, arguments: arguments)
    }

    /// The value of the option `tokenize`.
    var sql: String {
        ([name] + arguments).map(\.quotedDatabaseLiteral).joined(separator: " ")
    }
}

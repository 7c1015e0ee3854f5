// The family's spelling of full-text queries: FTS5Pattern, FTS3Pattern, and matching(_:).

/// A query of an FTS5 table, in the family's spelling. A ``SearchQuery`` says more.
public struct FTS5Pattern: Hashable, Sendable, DatabaseValueConvertible {
    /// The query in the language of FTS5.
    public let rawPattern: String

    fileprivate init(rawPattern: String) { self.rawPattern = rawPattern }

    /// Creates a query for at least one of the words of a text. Nil if the text has no words.
    ///
    /// - Parameter text: The text.
    public init?(matchingAnyTokenIn text: String) { self.init(PatternWords.of(text), " OR ") }

    /// Creates a query for all words of a text. Nil if the text has no words.
    ///
    /// - Parameter text: The text.
    public init?(matchingAllTokensIn text: String) { self.init(PatternWords.of(text), " AND ") }

    /// Creates a query for words that begin with all words of a text. Nil if the text has no words.
    ///
    /// - Parameter text: The text.
    public init?(matchingAllPrefixesIn text: String) { self.init(PatternWords.of(text), " AND ", "*") }

    /// Creates a query for words that follow each other. Nil if the text has no words.
    ///
    /// - Parameter text: The words.
    public init?(matchingPhrase text: String) { self.init(PatternWords.phrase(text), "") }

    /// Creates a query for words that follow each other at the beginning of a column. Nil if the
    /// text has no words.
    ///
    /// - Parameter text: The words.
    public init?(matchingPrefixPhrase text: String) { self.init(PatternWords.phrase(text), "", before: "^") }

    private init?(_ words: [String], _ operation: String, before: String = "", _ after: String = "") {
        if words.isEmpty { return nil }
        rawPattern = words.map { "\(before)\"\($0)\"\(after)" }.joined(separator: operation)
    }

    public var databaseValue: DatabaseValue { rawPattern.databaseValue }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> FTS5Pattern? {
        String.fromDatabaseValue(value).map(FTS5Pattern.init(rawPattern:))
    }
}

/// A query of an FTS3 or FTS4 table, in the family's spelling.
public struct FTS3Pattern: Hashable, Sendable, DatabaseValueConvertible {
    /// The query in the language of FTS3.
    public let rawPattern: String

    /// Creates a query in the language of FTS3.
    ///
    /// - Parameter rawPattern: The query.
    /// - Throws: a ``DatabaseError`` if it is malformed, or if the running SQLite lacks FTS3.
    public init(rawPattern: String) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE VIRTUAL TABLE document USING fts3")
            try db.execute(sql: "SELECT * FROM document WHERE document MATCH ?", arguments: [rawPattern])
        }
        self.rawPattern = rawPattern
    }

    /// Creates a query for at least one of the words of a text. Nil if the text has no words.
    ///
    /// - Parameter text: The text.
    public init?(matchingAnyTokenIn text: String) { self.init(PatternWords.of(text), " OR ") }

    /// Creates a query for all words of a text. Nil if the text has no words.
    ///
    /// - Parameter text: The text.
    public init?(matchingAllTokensIn text: String) { self.init(PatternWords.of(text), " ") }

    /// Creates a query for words that begin with all words of a text. Nil if the text has no words.
    ///
    /// - Parameter text: The text.
    public init?(matchingAllPrefixesIn text: String) { self.init(PatternWords.of(text), " ", "*") }

    /// Creates a query for words that follow each other. Nil if the text has no words.
    ///
    /// - Parameter text: The words.
    public init?(matchingPhrase text: String) { self.init(PatternWords.phrase(text), "") }

    private init?(_ words: [String], _ operation: String, _ after: String = "") {
        if words.isEmpty { return nil }
        // The star is inside of the quotes, unlike in FTS5.
        rawPattern = words.map { "\"\($0)\(after)\"" }.joined(separator: operation)
    }

    private init(known rawPattern: String) { self.rawPattern = rawPattern }

    public var databaseValue: DatabaseValue { rawPattern.databaseValue }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> FTS3Pattern? {
        String.fromDatabaseValue(value).map(FTS3Pattern.init(known:))
    }
}

/// The words of a text, for patterns.
private enum PatternWords {
    /// Returns the letters and digits of a text, between all other characters.
    ///
    /// Each tokenizer of SQLite makes a token of such a word, or several. So no pattern contains an
    /// operator, or a phrase without a token, with which nothing would be found.
    static func of(_ text: String) -> [String] {
        var words: [String] = []
        var word = String.UnicodeScalarView()
        var isWord = false
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
                .decimalNumber, .letterNumber, .otherNumber, .privateUse:
                isWord = true
                word.append(scalar)
            case .nonspacingMark, .spacingMark, .enclosingMark: if isWord { word.append(scalar) }
            default:
                if isWord { words.append(String(word)) }
                (word, isWord) = (String.UnicodeScalarView(), false)
            }
        }
        if isWord { words.append(String(word)) }
        return words
    }

    /// Returns the words as one, if there are any.
    static func phrase(_ text: String) -> [String] {
        let words = of(text)
        return words.isEmpty ? [] : [words.joined(separator: " ")]
    }
}

// MARK: - Requests

extension Database {
    /// Returns a query in the language of FTS5.
    ///
    /// - Parameters:
    ///   - rawPattern: The query.
    ///   - table: The full-text table.
    /// - Throws: a ``DatabaseError`` if the table does not understand the query.
    public func makeFTS5Pattern(rawPattern: String, forTable table: String) throws -> FTS5Pattern {
        let name = table.quotedDatabaseIdentifier
        _ = try Row.fetchOne(
            self, sql: "SELECT 1 FROM \(name) WHERE \(name) MATCH ?", arguments: [rawPattern])
        return FTS5Pattern(rawPattern: rawPattern)
    }
}

extension RequestBuilding {
    /// Keeps only the rows of a full-text table that match a query. If it is nil, no row matches.
    ///
    /// - Parameter pattern: The query.
    public func matching(_ pattern: FTS5Pattern?) -> Refined {
        derived { $0.filter(SQLExpression(.late(PatternCondition(pattern?.rawPattern)))) }
    }

    /// Keeps only the rows of a full-text table that match a query. If it is nil, no row matches.
    ///
    /// - Parameter pattern: The query.
    public func matching(_ pattern: FTS3Pattern?) -> Refined {
        derived { $0.filter(SQLExpression(.late(PatternCondition(pattern?.rawPattern)))) }
    }
}

extension TableRecord {
    /// Requests the rows of a full-text table that match a query. If it is nil, no row matches.
    ///
    /// - Parameter pattern: The query.
    public static func matching(_ pattern: FTS5Pattern?) -> QueryInterfaceRequest<Self> {
        all().matching(pattern)
    }

    /// Requests the rows of a full-text table that match a query. If it is nil, no row matches.
    ///
    /// - Parameter pattern: The query.
    public static func matching(_ pattern: FTS3Pattern?) -> QueryInterfaceRequest<Self> {
        all().matching(pattern)
    }
}

extension Column {
    /// The column of an FTS5 table by which the best matches come first.
    public static let rank = Column("rank")
}

/// The condition that a row of a full-text table matches a pattern.
private final class PatternCondition: LateExpression, @unchecked Sendable {  // constant
    private let pattern: String?

    init(_ pattern: String?) { self.pattern = pattern }

    override func expression(
        of source: QuerySource?, among names: [String], on db: Database
    ) throws -> SQLExpression {
        guard let pattern else { return SQLExpression(.word("FALSE")) }
        guard let name = source?.name, let table = source?.tableName else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "matching(_:) needs a request for a full-text table")
        }
        // Each full-text table has a hidden column of its own name.
        let column = SQLExpression(.column(table: name, name: table))
        return SQLExpression(
            .pattern(.match, column, pattern.sqlExpression, escape: nil, isNegated: false))
    }
}

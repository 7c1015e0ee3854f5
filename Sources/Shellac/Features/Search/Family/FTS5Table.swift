// The family's spelling of full-text tables, whose module is FTS5().

/// The module of full-text tables, in the family's spelling.
///
/// ```swift
/// try db.create(virtualTable: "book_ft", using: FTS5()) { t in
///     t.synchronize(withTable: "book")
///     t.tokenizer = .unicode61()
///     t.column("title")
///     t.column("body")
/// }
/// let pattern = FTS5Pattern(matchingAllTokensIn: "round table")
/// let books = try Book.fetchAll(
///     db,
///     sql: "SELECT book.* FROM book JOIN book_ft ON book_ft.rowid = book.id WHERE book_ft MATCH ?",
///     arguments: [pattern])
/// ```
///
/// A ``FullTextIndex`` is declared by the type of the records, and its requests fetch records.
public struct FTS5: Sendable {
    /// The treatment of "é" by the tokenizers of SQLite.
    public enum Diacritics: Int, Sendable {
        /// "é" and "e" are different letters.
        case keep = 0
        /// "é" is "e" in most cases, as older versions of SQLite have it.
        case removeLegacy = 1
        /// "é" is "e".
        case remove = 2
    }

    /// Creates a module.
    public init() {}
}

/// A full-text table that is being created.
public final class FTS5TableDefinition {
    /// A column of a full-text table.
    public final class Column {
        let name: String
        private(set) var isIndexed = true

        fileprivate init(_ name: String) { self.name = name }

        /// Leaves the words of the column out of the index.
        @discardableResult
        public func notIndexed() -> Self {
            isIndexed = false
            return self
        }

        var sql: String? { isIndexed ? nil : "UNINDEXED" }
    }

    /// The tokenizer. If nil, it is SQLite's default, `unicode61`.
    public var tokenizer: SearchTokenizer?
    /// The table that contains the texts. If it is empty, the texts are not stored.
    public var content: String?
    /// The column of the content table with the row ids.
    public var contentRowID: String?
    /// The lengths of prefixes that have an index of their own.
    public var prefixes: Set<Int> = []
    /// Whether the number of words in each row is stored: 0 or 1.
    public var columnSize: Int?
    /// The detail in which the places of words are stored: `full`, `column` or `none`.
    public var detail: String?

    fileprivate private(set) var columns: [Column] = []
    fileprivate private(set) var synchronizedTable: String?

    /// Adds a column.
    ///
    /// - Parameter name: The name of the column.
    @discardableResult
    public func column(_ name: String) -> Column {
        let column = Column(name)
        columns.append(column)
        return column
    }

    /// Keeps the full-text table in step with a table that has columns of the same names.
    ///
    /// The table needs an INTEGER PRIMARY KEY. The full-text table then is a ``FullTextIndex``: it
    /// follows REPLACE, ``Database/rebuild(table:in:options:copying:body:)`` and new names, too.
    ///
    /// - Parameter tableName: The table.
    public func synchronize(withTable tableName: String) { synchronizedTable = tableName }

    /// The options besides the tokenizer and the content, as SQL.
    fileprivate var storage: [String] {
        var options: [String] = []
        if !prefixes.isEmpty {
            let lengths = prefixes.sorted().map(String.init).joined(separator: " ")
            options.append("prefix=\(lengths.quotedDatabaseLiteral)")
        }
        if let columnSize { options.append("columnsize=\(columnSize)") }
        if let detail { options.append("detail=\(detail.quotedDatabaseIdentifier)") }
        return options
    }

    fileprivate func fill(_ t: VirtualTableDefinition) {
        for column in columns { t.column(column.name, sql: column.sql) }
        if let tokenizer { t.option("tokenize", tokenizer.sql) }
        if let content { t.option("content", content) }
        if let contentRowID { t.option("content_rowid", contentRowID) }
        for option in storage { t.argument(sql: option) }
    }
}

extension Database {
    // MARK: - Full-text tables in the family's spelling

    /// Creates a full-text table.
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - options: Options of the table, such as `.ifNotExists`.
    ///   - module: `FTS5()`.
    ///   - body: Lists the columns and the options of the table.
    /// - Throws: a ``DatabaseError`` if the running SQLite lacks FTS5, or rejects the definition.
    ///   Nothing has changed then.
    public func create(
        virtualTable name: String, options: VirtualTableOptions = [], using module: FTS5,
        _ body: (FTS5TableDefinition) throws -> Void
    ) throws {
        let definition = FTS5TableDefinition()
        try body(definition)
        guard let table = definition.synchronizedTable else {
            return try create(virtualTable: name, options: options, using: "fts5") { definition.fill($0) }
        }
        let refused =
            definition.columnSize == 0
            ? "columnSize = 0" : definition.content != nil || definition.contentRowID != nil ? "content" : nil
        if let refused {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "the full-text table \(name) cannot have \(refused) along with synchronize(withTable:)")
        }
        let index = FullTextIndex(
            table: table, columns: definition.columns.map(\.name),
            tokenizer: definition.tokenizer ?? .unicode61(diacritics: .removeLegacy), name: name)
        try create(
            fullText: index, options: options,
            storage: FullTextStorage(
                unindexed: definition.columns.filter { !$0.isIndexed }.map(\.name),
                options: definition.storage))
    }

    /// Drops the triggers that kept a full-text table in step, also those that the family's library
    /// has created. Call it after the full-text table was dropped by SQL.
    ///
    /// - Parameter tableName: The full-text table.
    /// - Throws: a ``DatabaseError`` if a trigger cannot be dropped.
    public func dropFTS5SynchronizationTriggers(forTable tableName: String) throws {
        checkAccess()
        let theirs = ["ai", "bu", "bd", "au", "ad"].map { "__\(tableName)_\($0)" }
        let ours = FullTextObjects.triggerPrefix(tableName)
        for schemaName in try schema.databaseNames() {
            try dropTriggers(in: schemaName) { theirs.contains($0.name) || $0.name.hasPrefix(ours) }
        }
    }
}

// MARK: - Tokenizers

/// A tokenizer, in the family's spelling.
public typealias FTS5TokenizerDescriptor = SearchTokenizer

extension SearchTokenizer {
    /// SQLite's tokenizer for words between blanks.
    ///
    /// - Parameters:
    ///   - diacritics: Whether "é" is "e".
    ///   - separators: Further characters between words.
    ///   - tokenCharacters: Further characters of words.
    public static func unicode61(
        diacritics: FTS5.Diacritics = .removeLegacy, separators: Set<Character> = [],
        tokenCharacters: Set<Character> = []
    ) -> Self {
        Self(
            name: "unicode61",
            arguments: (diacritics == .removeLegacy ? [] : ["remove_diacritics", "\(diacritics.rawValue)"])
                + characters(separators, tokenCharacters))
    }

    /// SQLite's tokenizer for words of ASCII letters.
    ///
    /// - Parameters:
    ///   - separators: Further characters between words.
    ///   - tokenCharacters: Further characters of words.
    public static func ascii(
        separators: Set<Character> = [], tokenCharacters: Set<Character> = []
    ) -> Self { Self(name: "ascii", arguments: characters(separators, tokenCharacters)) }

    /// SQLite's tokenizer for the stems of English words.
    ///
    /// - Parameter tokenizer: The tokenizer that finds the words.
    public static func porter(wrapping tokenizer: SearchTokenizer = .unicode61()) -> Self {
        Self(name: "porter", arguments: [tokenizer.name] + tokenizer.arguments)
    }

    private static func characters(_ separators: Set<Character>, _ tokens: Set<Character>) -> [String] {
        func list(_ name: String, _ characters: Set<Character>) -> [String] {
            characters.isEmpty ? [] : [name, String(characters.sorted())]
        }
        return list("separators", separators) + list("tokenchars", tokens)
    }
}

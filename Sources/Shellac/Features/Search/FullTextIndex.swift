/// A full-text index of the texts in a table, as a type declares it.
///
/// ```swift
/// class Note: Record {
///     static let search = fullText("title", "body", weights: ["title": 4])
/// }
/// try db.create(fullText: Note.search)
/// let hits = try Note.matching("京都 天気", in: Note.search).ranked().limit(20).fetchAll(db)
/// ```
///
/// The index is a table of FTS5 beside the table of the records. It contains no texts, but the
/// places of their words. Triggers keep it in step with the rows, for every kind of write.
public struct FullTextIndex: Hashable, Sendable {
    /// The table with the texts.
    public let tableName: String
    /// The columns with the texts.
    public let columns: [String]
    /// The weights of columns when matches are ranked. Others have the weight 1.
    public let weights: [String: Double]
    /// The tokenizer.
    public let tokenizer: SearchTokenizer
    /// The name of the table of FTS5.
    public let name: String

    /// Declares an index of a table. Usually, the type of its records declares it.
    ///
    /// - Parameters:
    ///   - tableName: The table.
    ///   - columns: The columns with the texts.
    ///   - weights: The weights of columns when matches are ranked: 1 if not given.
    ///   - tokenizer: The tokenizer.
    ///   - name: The name of the table of FTS5: by default, the name of the table and `_search`.
    public init(
        table tableName: String, columns: [String], weights: [String: Double] = [:],
        tokenizer: SearchTokenizer = .words(), name: String? = nil
    ) {
        (self.tableName, self.columns, self.weights) = (tableName, columns, weights)
        (self.tokenizer, self.name) = (tokenizer, name ?? "\(tableName)_search")
    }

    /// Returns the place of a column in the index.
    func place(of column: String) throws -> Int {
        if let place = columns.firstIndex(where: { CaseInsensitiveName.matches($0, column) }) { return place }
        let nearest = columns.nearest(to: column).map { " (did you mean \($0)?)" } ?? ""
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "the full-text index \(name) of \(tableName) has no column \(column)\(nearest): it has "
                + "\(columns.joined(separator: ", "))")
    }

    /// The value of the configuration `rank` of FTS5.
    var rank: String { Self.rank(columns, weights) }

    static func rank(_ columns: [String], _ weights: [String: Double]) -> String {
        let values = columns.map { column in
            weights.first { CaseInsensitiveName.matches($0.key, column) }?.value ?? 1
        }
        return "bm25(\(values.map { "\($0)" }.joined(separator: ", ")))"
    }
}

extension TableRecord {
    /// Declares a full-text index of the type's table, as a static property of the type.
    ///
    /// ```swift
    /// struct Note: Codable, FetchableRecord, PersistableRecord {
    ///     static let search = fullText("title", "body", tokenizer: .unicode61)
    ///     var id: Int64
    ///     var title: String
    ///     var body: String
    /// }
    /// ```
    ///
    /// The classes of one table share an index, which the class at the top declares.
    ///
    /// - Parameters:
    ///   - columns: The columns with the texts.
    ///   - weights: The weights of columns when matches are ranked: 1 if not given.
    ///   - tokenizer: The tokenizer.
    ///   - name: The name of the table of FTS5: by default, the name of the table and `_search`.
    public static func fullText(
        _ columns: String..., weights: [String: Double] = [:], tokenizer: SearchTokenizer = .words(),
        name: String? = nil
    ) -> FullTextIndex {
        FullTextIndex(
            table: databaseTableName, columns: columns, weights: weights, tokenizer: tokenizer, name: name)
    }
}

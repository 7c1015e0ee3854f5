// Requests for the rows that match a full-text query: ranked, with snippets and highlights.

extension RequestBuilding {
    /// Keeps only rows whose texts have all words of a text.
    ///
    /// ```swift
    /// let hits = try Note.all().matching("京都 天気", in: Note.search).fetchAll(db)
    /// ```
    ///
    /// The text may come from a user: it is never a syntax error. A text without words matches no
    /// rows.
    ///
    /// - Parameters:
    ///   - text: The words, with blanks between them.
    ///   - index: The index of the request's table.
    public func matching(_ text: String, in index: FullTextIndex) -> Refined {
        matching(.words(text), in: index)
    }

    /// Keeps only rows whose texts match a query.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - index: The index of the request's table.
    public func matching(_ query: SearchQuery, in index: FullTextIndex) -> Refined {
        derived { $0.match(query, in: index) }
    }
}

extension TableRecord {
    /// Requests the rows whose texts have all words of a text.
    ///
    /// ```swift
    /// let hits = try Note.matching("京都 天気", in: Note.search).ranked().limit(20).fetchAll(db)
    /// ```
    ///
    /// The text may come from a user: it is never a syntax error. A text without words matches no
    /// rows.
    ///
    /// - Parameters:
    ///   - text: The words, with blanks between them.
    ///   - index: The index of the type's table.
    public static func matching(_ text: String, in index: FullTextIndex) -> QueryInterfaceRequest<Self> {
        all().matching(text, in: index)
    }

    /// Requests the rows whose texts match a query.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - index: The index of the type's table.
    public static func matching(_ query: SearchQuery, in index: FullTextIndex) -> QueryInterfaceRequest<Self>
    { all().matching(query, in: index) }
}

extension QueryInterfaceRequest {
    /// Sorts the rows of a search by how well they match, the best first.
    ///
    /// Other orders come first or after, as they were requested. See "The bm25() function" in the
    /// SQLite documentation.
    ///
    /// - Parameter weights: The weights of columns, instead of those of the index. Columns without
    ///   a weight have 1.
    public func ranked(weights: [String: Double]? = nil) -> Self {
        with { query in
            guard let join = query.joinSearch(weights: weights) else {
                return query.filter(Self.noSearch("ranked()"))
            }
            query.ordering.append(SQLOrdering(SQLExpression(.column(table: join.alias, name: "rank"))))
        }
    }

    /// Fetches, with each row of a search, the part of a text around its matches.
    ///
    /// ```swift
    /// let hits = try Note.matching("arthur", in: Note.search).ranked()
    ///     .snippet("body", around: ("[", "]"), words: 12).fetchAll(db)
    /// let text = try hits[0].databaseSnippet("body")    // "…when [Arthur] was crowned…"
    /// ```
    ///
    /// A struct reads it from the column `body_snippet`.
    ///
    /// - Parameters:
    ///   - column: The column with the text.
    ///   - marks: Texts before and after each match.
    ///   - ellipsis: The text where the snippet begins or ends inside of the text.
    ///   - words: The most words of the snippet, 1 to 64.
    public func snippet(
        _ column: String, around marks: (String, String) = ("", ""), ellipsis: String = "…", words: Int = 16
    ) -> Self {
        showing(column, "snippet", [marks.0, marks.1, ellipsis, min(max(words, 1), 64)])
    }

    /// Fetches, with each row of a search, a text with its matches between marks.
    ///
    /// ```swift
    /// let hits = try Note.matching("arthur", in: Note.search).highlight("title", around: ("<b>", "</b>")).fetchAll(db)
    /// let title = try hits[0].databaseHighlight("title")    // "King <b>Arthur</b>"
    /// ```
    ///
    /// A struct reads it from the column `title_highlight`.
    ///
    /// - Parameters:
    ///   - column: The column with the text.
    ///   - marks: Texts before and after each match.
    public func highlight(_ column: String, around marks: (String, String)) -> Self {
        showing(column, "highlight", [marks.0, marks.1])
    }

    private func showing(
        _ column: String, _ function: String, _ arguments: [any DatabaseValueConvertible]
    ) -> Self {
        with { query in
            guard let join = query.joinSearch() else {
                return query.filter(Self.noSearch("\(function)(_:)"))
            }
            let index = join.condition.index
            do {
                let place = try index.place(of: column)
                let values = [place.databaseValue] + arguments.map(\.databaseValue)
                let call = FunctionCall(
                    name: function,
                    arguments: [SQLExpression(.column(table: join.alias, name: index.name))]
                        + values.map { SQLExpression(.constant($0)) })
                let name = SearchShowing.column(index.columns[place], function)
                query.annotations.append(SQLSelection(.expression(SQLExpression(.call(call)), name: name)))
            } catch {
                let failure = error as? DatabaseError ?? DatabaseError(message: "\(error)")
                query.filter(SQLExpression(.late(RefusedCondition(failure))))
            }
        }
    }

    private static func noSearch(_ name: String) -> SQLExpression {
        SQLExpression(
            .late(
                RefusedCondition(
                    DatabaseError(
                        resultCode: .SQLITE_MISUSE,
                        message: "\(name) needs a search: call matching(_:in:) before it, and outside of or()"
                    ))))
    }
}

/// The columns of snippets and highlights.
enum SearchShowing {
    static func column(_ column: String, _ function: String) -> String { "\(column)_\(function)" }
}

extension Record {
    /// Returns the part of a text around its matches, which the request of this record has asked
    /// for by ``QueryInterfaceRequest/snippet(_:around:ellipsis:words:)``.
    ///
    /// - Parameter column: The column with the text.
    /// - Throws: a ``DatabaseError`` if the record was fetched without it, or was saved or reloaded
    ///   since.
    public final func databaseSnippet(_ column: String) throws -> String { try shown(column, "snippet") }

    /// Returns a text with its matches between marks, which the request of this record has asked
    /// for by ``QueryInterfaceRequest/highlight(_:around:)``.
    ///
    /// - Parameter column: The column with the text.
    /// - Throws: a ``DatabaseError`` if the record was fetched without it, or was saved or reloaded
    ///   since.
    public final func databaseHighlight(_ column: String) throws -> String { try shown(column, "highlight") }

    private func shown(_ column: String, _ function: String) throws -> String {
        let name = SearchShowing.column(column, function)
        guard let row = snapshot, let place = row.layout.column(named: name) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "the \(type(of: self)) was fetched without the \(function) of \(column): add "
                    + "\(function)(\"\(column)\") to its request")
        }
        return String.fromDatabaseValue(row.column(place).view.databaseValue) ?? ""
    }
}

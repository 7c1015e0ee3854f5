/// A full-text query. It is a value, and never a syntax error, whatever text it contains.
///
/// ```swift
/// let request = Note.matching(.all("arthur", .prefix("kin")), in: Note.search)
/// let request = Note.matching(.any(.phrase("round table"), .near("round", "table", within: 5)), in: Note.search)
/// let request = Note.matching(.column("title", "king").excluding("lear"), in: Note.search)
/// ```
///
/// A text between quotes is the words of it, all of which must occur: see ``words(_:)``. Operators
/// of FTS5 mean nothing inside of texts. A part without any word, such as one of nothing but signs,
/// is left out. A query without any word matches no rows.
public struct SearchQuery: Hashable, Sendable, ExpressibleByStringLiteral {
    indirect enum Form: Hashable, Sendable {
        case words(String, isAny: Bool, completes: Bool)
        case phrase(String, isPrefix: Bool)
        case near([String], Int)
        case all([Form])
        case any([Form])
        case excluding(Form, Form)
        case columns([String], Form)
    }

    let form: Form

    init(_ form: Form) { self.form = form }

    /// Creates a query for all words of a text: ``words(_:)``.
    ///
    /// - Parameter text: The text.
    public init(stringLiteral text: String) { self = .words(text) }

    /// A query for all words of a text, in any order.
    ///
    /// This is the query for what a user has typed.
    ///
    /// - Parameter text: The text. Blanks separate its parts.
    public static func words(_ text: String) -> Self {
        Self(.words(text, isAny: false, completes: false))
    }

    /// A query for all words of a text, the last of which may be incomplete.
    ///
    /// This is the query for what a user is typing.
    ///
    /// - Parameter text: The text. Blanks separate its parts.
    public static func typed(_ text: String) -> Self {
        Self(.words(text, isAny: false, completes: true))
    }

    /// A query for at least one of the words of a text.
    ///
    /// - Parameter text: The text. Blanks separate its parts.
    public static func anyWord(of text: String) -> Self {
        Self(.words(text, isAny: true, completes: false))
    }

    /// A query for words that follow each other.
    ///
    /// - Parameter text: The words.
    public static func phrase(_ text: String) -> Self { Self(.phrase(text, isPrefix: false)) }

    /// A query for words that follow each other, the last of which may go on.
    ///
    /// - Parameter text: The words.
    public static func prefix(_ text: String) -> Self { Self(.phrase(text, isPrefix: true)) }

    /// A query for phrases that are near to each other, in any order.
    ///
    /// - Parameters:
    ///   - phrases: The phrases.
    ///   - distance: The most words between the first and the last of them.
    public static func near(_ phrases: String..., within distance: Int = 10) -> Self {
        Self(.near(phrases, max(distance, 0)))
    }

    /// A query for texts that match all of the queries.
    ///
    /// - Parameter queries: The queries.
    public static func all(_ queries: SearchQuery...) -> Self { Self(.all(queries.map(\.form))) }

    /// A query for texts that match at least one of the queries.
    ///
    /// - Parameter queries: The queries.
    public static func any(_ queries: SearchQuery...) -> Self { Self(.any(queries.map(\.form))) }

    /// A query for matches in one column.
    ///
    /// - Parameters:
    ///   - column: The column.
    ///   - query: The query.
    public static func column(_ column: String, _ query: SearchQuery) -> Self {
        Self(.columns([column], query.form))
    }

    /// Returns the query for matches in some columns.
    ///
    /// - Parameter columns: The columns.
    public func inColumns(_ columns: String...) -> Self { Self(.columns(columns, form)) }

    /// Returns the query without the texts that match another one.
    ///
    /// - Parameter other: The other query.
    public func excluding(_ other: SearchQuery) -> Self { Self(.excluding(form, other.form)) }
}

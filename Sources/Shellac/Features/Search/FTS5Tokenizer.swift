/// A tokenizer of your own for full-text search.
///
/// It splits texts into tokens, both those that are searched in and those that are searched for.
/// Two texts match where their tokens have the same bytes.
///
/// ```swift
/// final class Codes: FTS5Tokenizer {
///     static let name = "codes"
///     init(_ db: Database, arguments: [String]) {}
///
///     func tokens(of text: String, for purpose: FTS5Purpose) -> [FTS5Token] {
///         let words = text.split { !($0.isLetter || $0.isNumber || $0 == "-") }
///         return words.map { FTS5Token($0.lowercased(), at: $0.startIndex..<$0.endIndex, in: text) }
///     }
/// }
/// configuration.prepareDatabase { db in try db.add(tokenizer: Codes.self) }
/// ```
///
/// Each connection needs the tokenizer, also in other programs that write the table. Without it,
/// SQLite refuses with "no such tokenizer".
///
/// A file contains the tokens. If the tokenizer changes, rebuild the index:
/// ``Database/rebuild(fullText:)``.
public protocol FTS5Tokenizer: AnyObject {
    /// The name of the tokenizer in SQL.
    static var name: String { get }

    /// Creates the tokenizer of one index on one connection.
    ///
    /// - Parameters:
    ///   - db: The connection, which the method must not use.
    ///   - arguments: The arguments behind the name in the SQL of the index.
    /// - Throws: any error, to refuse the arguments.
    init(_ db: Database, arguments: [String]) throws

    /// Returns the tokens of a text.
    ///
    /// - Parameters:
    ///   - text: The text. Invalid bytes were replaced by as many blanks.
    ///   - purpose: The purpose for which the text is split.
    /// - Returns: The tokens. No token begins before the one ahead of it.
    /// - Throws: any error. The statement throws it.
    func tokens(of text: String, for purpose: FTS5Purpose) throws -> [FTS5Token]
}

/// The purpose for which a tokenizer splits a text.
public enum FTS5Purpose: Hashable, Sendable {
    /// The text is stored in the index, or removed from it.
    case document
    /// The text is searched for. If it is a prefix, its last token may be the beginning of one.
    case query(isPrefix: Bool)
    /// The text was found, and is shown as a snippet or with its matches highlighted.
    case display
}

/// A token of a text.
public struct FTS5Token: Hashable, Sendable {
    /// The token, as it is compared.
    public var text: String
    /// The bytes of the text that the token comes from, as offsets in UTF-8.
    public var range: Range<Int>
    /// Whether the token has the position of the token before it.
    public var isSynonym: Bool

    /// Creates a token.
    ///
    /// - Parameters:
    ///   - text: The token, as it is compared.
    ///   - range: The bytes of the text that it comes from, as offsets in UTF-8.
    ///   - isSynonym: Whether it has the position of the token before it.
    public init(_ text: String, range: Range<Int>, isSynonym: Bool = false) {
        (self.text, self.range, self.isSynonym) = (text, range, isSynonym)
    }

    /// Creates a token.
    ///
    /// - Parameters:
    ///   - text: The token, as it is compared.
    ///   - range: The part of the text that it comes from.
    ///   - source: The text.
    ///   - isSynonym: Whether it has the position of the token before it.
    public init(_ text: String, at range: Range<String.Index>, in source: String, isSynonym: Bool = false) {
        let start = source.utf8.distance(from: source.startIndex, to: range.lowerBound)
        let length = source.utf8.distance(from: range.lowerBound, to: range.upperBound)
        self.init(text, range: start..<start + length, isSynonym: isSynonym)
    }
}

extension Database {
    /// Adds a tokenizer to the connection.
    ///
    /// Do so in ``Configuration/prepareDatabase(_:)``, so that each connection has it.
    ///
    /// - Parameter tokenizer: The type of the tokenizer.
    /// - Throws: a ``DatabaseError`` if the running SQLite lacks FTS5.
    public func add(tokenizer: (some FTS5Tokenizer).Type) throws {
        checkAccess()
        if isClosed { throw closedError() }
        guard let api = TokenizerModule.api(of: self) else { throw TokenizerModule.missingFTS5() }
        let module = TokenizerModule(self, name: tokenizer.name) { try tokenizer.init($0, arguments: $1) }
        try check(module.add(to: api))
    }
}

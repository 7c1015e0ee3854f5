// Writes a query as a pattern of FTS5, by the tokenizer of the index.

import CSQLite

/// The writer of the pattern of a query: see "Full-text Query Syntax" in the SQLite documentation.
///
/// Each text becomes a string of FTS5, which has no operators inside. Texts without tokens are left
/// out: FTS5 would not find anything with them.
struct SearchPattern {
    private let index: FullTextIndex
    /// The names that the columns have in the index.
    private let columns: [String]
    private let tokens: QueryTokens

    init(_ index: FullTextIndex, columns: [String], on db: Database) throws {
        (self.index, self.columns) = (index, columns)
        tokens = try QueryTokens(index.tokenizer, on: db)
    }

    /// Returns the pattern of a query. Nil if it has no words.
    func pattern(of query: SearchQuery) throws -> String? { try pattern(of: query.form) }

    private func pattern(of form: SearchQuery.Form) throws -> String? {
        switch form {
        case .phrase(let text, let isPrefix): return try phrase(text, isPrefix: isPrefix)
        case .words(let text, let isAny, let completes):
            var seen: Set<Substring> = []
            let parts = text.split { $0.isWhitespace || $0 == "\0" }
            var phrases: [String] = []
            for (place, part) in parts.enumerated() {
                let isPrefix = completes && place == parts.count - 1
                guard isPrefix || seen.insert(part).inserted else { continue }
                if let phrase = try phrase(String(part), isPrefix: isPrefix) { phrases.append(phrase) }
            }
            return joined(phrases, isAny ? " OR " : " AND ")
        case .near(let texts, let distance):
            let phrases = try texts.compactMap { try phrase($0, isPrefix: false) }
            if phrases.count < 2 { return phrases.first }
            return "NEAR(\(phrases.joined(separator: " ")), \(min(distance, 1_000_000)))"
        case .all(let forms): return joined(try forms.compactMap(pattern(of:)), " AND ")
        case .any(let forms): return joined(try forms.compactMap(pattern(of:)), " OR ")
        case .excluding(let form, let other):
            guard let own = try pattern(of: form) else { return nil }
            guard let others = try pattern(of: other) else { return own }
            return "((\(own)) NOT (\(others)))"
        case .columns(let names, let form):
            guard let own = try pattern(of: form), !names.isEmpty else { return nil }
            let list = try names.map { columns[try index.place(of: $0)].quotedDatabaseIdentifier }
            return "({\(list.joined(separator: " "))} : (\(own)))"
        }
    }

    /// Returns the first token of a text.
    static func firstToken(of text: String, by tokenizer: SearchTokenizer, on db: Database) throws -> String?
    {
        try QueryTokens(tokenizer, on: db).tokens(of: text).first
    }

    private func joined(_ patterns: [String], _ word: String) -> String? {
        if patterns.count < 2 { return patterns.first }
        // SQLite's parser has a stack of limited depth, so no tree becomes deeper than necessary.
        return "(\(patterns.joined(separator: word)))"
    }

    /// Returns a phrase. Nil if the text has no tokens.
    private func phrase(_ text: String, isPrefix: Bool) throws -> String? {
        // SQLite's texts end at the first NUL.
        let space = UInt8(ascii: " ")
        let text = String(decoding: text.utf8.map { $0 == 0 ? space : $0 }, as: UTF8.self)
        let found = try tokens.tokens(of: text)
        guard found.first != nil else { return nil }
        return "\(text.quotedDatabaseIdentifier)\(isPrefix || found.endsOpen ? " *" : "")"
    }
}

/// A look at the tokens of texts.
private struct QueryTokens {
    private let words: WordTokenizer?
    private let found: FoundTokenizer?

    init(_ tokenizer: SearchTokenizer, on db: Database) throws {
        if tokenizer.name == WordTokenizer.name {
            words = WordTokenizer(arguments: tokenizer.arguments)
            found = nil
        } else {
            words = nil
            found = try FoundTokenizer(tokenizer, on: db)
        }
    }

    /// Returns the first token of a text, and whether the text ends in a single character that may
    /// be the beginning of a token.
    func tokens(of text: String) throws -> (first: String?, endsOpen: Bool) {
        var text = text
        return try text.withUTF8 { bytes in
            guard let words else { return (try found?.firstToken(of: bytes), false) }
            var first: String?
            var last: Range<Int>?
            _ = words.tokenize(bytes, isQuery: true) { token, start, end in
                if first == nil { first = String(decoding: token, as: UTF8.self) }
                last = start..<end
                return 0
            }
            return (first, last.map { words.isCharacter(bytes, $0) } ?? false)
        }
    }
}

/// A tokenizer that FTS5 has found by its name.
private final class FoundTokenizer {
    private var functions = fts5_tokenizer()
    private var tokenizer: OpaquePointer?
    private let db: Database

    init(_ description: SearchTokenizer, on db: Database) throws {
        self.db = db
        guard let api = TokenizerModule.api(of: db) else { throw TokenizerModule.missingFTS5() }
        var module: UnsafeMutableRawPointer?
        guard api.pointee.xFindTokenizer(api, description.name, &module, &functions) == SQLITE_OK else {
            throw DatabaseError(message: "no such tokenizer: \(description.name)")
        }
        var arguments = description.arguments.map { strdup($0) as UnsafeMutablePointer<CChar>? }
        defer { for argument in arguments { free(argument) } }
        let code = arguments.withUnsafeMutableBufferPointer { pointers in
            pointers.withMemoryRebound(to: UnsafePointer<CChar>?.self) {
                functions.xCreate?(module, $0.baseAddress, Int32($0.count), &tokenizer) ?? SQLITE_ERROR
            }
        }
        try check(code)
    }

    deinit { if let tokenizer { functions.xDelete?(tokenizer) } }

    private func check(_ code: Int32) throws {
        let failed = db.running.takeFunctionError()
        if code == SQLITE_OK { return }
        throw failed?.error ?? DatabaseError(resultCode: ResultCode(rawValue: code))
    }

    func firstToken(of text: UnsafeBufferPointer<UInt8>) throws -> String? {
        var first: String?
        try withUnsafeMutablePointer(to: &first) { first in
            let code = text.withMemoryRebound(to: CChar.self) { text in
                functions.xTokenize?(
                    tokenizer, first, FTS5_TOKENIZE_QUERY, text.baseAddress, Int32(text.count)
                ) { first, _, token, count, _, _ in
                    guard let first = first?.assumingMemoryBound(to: String?.self) else { return SQLITE_OK }
                    if first.pointee == nil {
                        let bytes = UnsafeRawBufferPointer(start: token, count: Int(count))
                        first.pointee = String(decoding: bytes, as: UTF8.self)
                    }
                    return SQLITE_OK
                } ?? SQLITE_ERROR
            }
            try check(code)
        }
        return first
    }
}

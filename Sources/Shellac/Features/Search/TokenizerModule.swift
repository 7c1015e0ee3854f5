// The bridge between FTS5 and tokenizers in Swift, and the addition of `words` to each connection.

import CSQLite

/// The bridge between FTS5 and the tokenizers of one type on one connection.
///
/// SQLite owns the module until the connection is closed. Its tokenizers belong to the tables of
/// FTS5 that use them.
final class TokenizerModule {
    private unowned let database: Database
    private let name: String
    private let make: (Database, [String]) throws -> any FTS5Tokenizer

    init(
        _ database: Database, name: String,
        _ make: @escaping (Database, [String]) throws -> any FTS5Tokenizer
    ) {
        (self.database, self.name, self.make) = (database, name, make)
    }

    /// Returns the interface of FTS5, or nil if the running SQLite lacks it.
    static func api(of db: Database) -> UnsafeMutablePointer<fts5_api>? {
        if Features.hiddenOptions.get().contains("ENABLE_FTS5") { return nil }
        return shellac_fts5_api(db.pointer)
    }

    /// Returns the error of a SQLite without FTS5.
    static func missingFTS5() -> DatabaseError { Features.missing("ENABLE_FTS5", for: "full-text search") }

    /// Adds the module to a connection. Returns an SQLite code.
    func add(to api: UnsafeMutablePointer<fts5_api>) -> Int32 {
        var tokenizer = fts5_tokenizer(
            xCreate: { module, arguments, count, tokenizer in
                guard let module, let tokenizer else { return SQLITE_MISUSE }
                let texts = (0..<Int(count)).map { place in
                    arguments?[place].map { String(cString: $0) } ?? ""
                }
                let owner = Unmanaged<TokenizerModule>.fromOpaque(module).takeUnretainedValue()
                return owner.calling(reportedAs: "error in tokenizer constructor") {
                    let made = RunningTokenizer(owner, try owner.make(owner.database, texts))
                    tokenizer.pointee = OpaquePointer(Unmanaged.passRetained(made).toOpaque())
                }
            },
            xDelete: { tokenizer in
                guard let tokenizer else { return }
                Unmanaged<RunningTokenizer>.fromOpaque(UnsafeRawPointer(tokenizer)).release()
            },
            xTokenize: { tokenizer, context, flags, text, count, emit in
                guard let tokenizer, let emit else { return SQLITE_MISUSE }
                let running = Unmanaged<RunningTokenizer>.fromOpaque(UnsafeRawPointer(tokenizer))
                    .takeUnretainedValue()
                let bytes = UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : Int(count))
                return running.tokenize(bytes, flags) { token, isSynonym, start, end in
                    emit(
                        context, isSynonym ? FTS5_TOKEN_COLOCATED : 0,
                        token.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(token.count),
                        Int32(start), Int32(end))
                }
            })
        let module = Unmanaged.passRetained(self).toOpaque()
        let code = api.pointee.xCreateTokenizer(api, name, module, &tokenizer) { module in
            guard let module else { return }
            Unmanaged<TokenizerModule>.fromOpaque(module).release()
        }
        // SQLite destroys the module by itself only once it has added it.
        if code != SQLITE_OK { Unmanaged<TokenizerModule>.fromOpaque(module).release() }
        return code
    }

    /// Calls the user's code inside of the running statement, which throws its error.
    ///
    /// - Parameter message: The message of SQLite's error. FTS5 takes only a code.
    fileprivate func calling(
        reportedAs message: String = "SQL logic error", _ body: () throws -> Void
    ) -> Int32 {
        database.running.enterFunction()
        defer { database.running.leaveFunction() }
        do {
            try body()
            return SQLITE_OK
        } catch {
            database.running.fail(FunctionError(error: error, message: message))
            return SQLITE_ERROR
        }
    }
}

/// A tokenizer of a user, as FTS5 calls it.
private final class RunningTokenizer {
    private let module: TokenizerModule
    private let tokenizer: any FTS5Tokenizer

    init(_ module: TokenizerModule, _ tokenizer: any FTS5Tokenizer) {
        (self.module, self.tokenizer) = (module, tokenizer)
    }

    func tokenize(
        _ text: UnsafeRawBufferPointer, _ flags: Int32,
        _ emit: (UnsafeRawBufferPointer, Bool, Int, Int) -> Int32
    ) -> Int32 {
        let purpose: FTS5Purpose
        if flags & FTS5_TOKENIZE_QUERY != 0 {
            purpose = .query(isPrefix: flags & FTS5_TOKENIZE_PREFIX != 0)
        } else {
            purpose = flags & FTS5_TOKENIZE_AUX != 0 ? .display : .document
        }
        var result: Int32 = SQLITE_OK
        let code = module.calling {
            var last = 0
            var isFirst = true
            for var token in try tokenizer.tokens(of: Self.string(text), for: purpose) {
                let range = token.range
                guard range.lowerBound >= last, range.upperBound <= text.count else {
                    throw DatabaseError(
                        resultCode: .SQLITE_MISUSE,
                        message:
                            "the tokenizer \(type(of: tokenizer).name) gave the token \(token.text.debugDescription) the "
                            + "bytes \(range.lowerBound) to \(range.upperBound) of a text of \(text.count) bytes, "
                            + "after a token from byte \(last) on: tokens must be in the text, in its order")
                }
                last = range.lowerBound
                let isSynonym = token.isSynonym && !isFirst
                isFirst = false
                result = token.text.withUTF8 {
                    emit(UnsafeRawBufferPointer($0), isSynonym, range.lowerBound, range.upperBound)
                }
                if result != SQLITE_OK { return }
            }
        }
        return code == SQLITE_OK ? result : code
    }

    /// Returns a text whose bytes have the same places, with blanks for invalid ones.
    private static func string(_ text: UnsafeRawBufferPointer) -> String {
        if let string = String(validating: text, as: UTF8.self) { return string }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.first {
            let length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
            let piece = rest.prefix(length)
            if String(validating: piece, as: UTF8.self) != nil {
                bytes += piece
                rest = rest.dropFirst(length)
            } else {
                bytes.append(UInt8(ascii: " "))
                rest = rest.dropFirst()
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

// MARK: - Words

extension WordTokenizer {
    /// The name of the tokenizer in SQL.
    static let name = "words"

    /// Creates the tokenizer that the SQL of an index describes. Nil if it is not known.
    convenience init?(arguments: [String]) {
        var keepsDiacritics = false
        guard arguments.count % 2 == 0 else { return nil }
        for place in stride(from: 0, to: arguments.count, by: 2) {
            switch (arguments[place], arguments[place + 1]) {
            case ("version", "\(WordTables.version)"): break
            case ("diacritics", "keep"): keepsDiacritics = true
            case ("diacritics", "fold"): keepsDiacritics = false
            default: return nil
            }
        }
        self.init(keepsDiacritics: keepsDiacritics)
    }

    /// Adds the tokenizer to a connection. Returns an SQLite code.
    static func add(to api: UnsafeMutablePointer<fts5_api>) -> Int32 {
        var tokenizer = fts5_tokenizer(
            xCreate: { _, arguments, count, tokenizer in
                guard let tokenizer else { return SQLITE_MISUSE }
                let texts = (0..<Int(count)).map { place in
                    arguments?[place].map { String(cString: $0) } ?? ""
                }
                guard let made = WordTokenizer(arguments: texts) else { return SQLITE_ERROR }
                tokenizer.pointee = OpaquePointer(Unmanaged.passRetained(made).toOpaque())
                return SQLITE_OK
            },
            xDelete: { tokenizer in
                guard let tokenizer else { return }
                Unmanaged<WordTokenizer>.fromOpaque(UnsafeRawPointer(tokenizer)).release()
            },
            xTokenize: { tokenizer, context, flags, text, count, emit in
                guard let tokenizer, let emit, let text else { return SQLITE_OK }
                let words = Unmanaged<WordTokenizer>.fromOpaque(UnsafeRawPointer(tokenizer))
                let bytes = UnsafeBufferPointer(
                    start: UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self), count: Int(count))
                return words._withUnsafeGuaranteedRef {
                    $0.tokenize(bytes, isQuery: flags & FTS5_TOKENIZE_QUERY != 0) { token, start, end in
                        emit(
                            context, 0,
                            UnsafeRawPointer(token.baseAddress)?.assumingMemoryBound(to: CChar.self),
                            Int32(token.count), Int32(start), Int32(end))
                    }
                }
            })
        return api.pointee.xCreateTokenizer(api, name, nil, &tokenizer, nil)
    }
}

extension Database: ConnectionAdditions {
    func addToConnection() {
        VectorMetric.addFunctions(to: pointer)
        // Without FTS5, everything else works, and indexes are refused.
        guard let api = TokenizerModule.api(of: self) else { return }
        _ = WordTokenizer.add(to: api)
    }
}

// SQL identifiers: quoting, byte-exact comparison, and ASCII case-insensitive comparison.

extension String {
    /// This name as a quoted SQL identifier.
    ///
    /// ```swift
    /// "player".quotedDatabaseIdentifier      // "player", with its quotes
    /// ```
    public var quotedDatabaseIdentifier: String { quoted(by: UInt8(ascii: "\"")) }

    /// This text as an SQL string literal. (Bind values instead if the SQL can have parameters.)
    package var quotedDatabaseLiteral: String { quoted(by: UInt8(ascii: "'")) }

    // These functions compare bytes, as SQLite does. Swift treats a quote followed by a combining
    // accent as one character, which is not a quote.

    /// Puts this text between quotes, and doubles each quote inside it.
    private func quoted(by quote: UInt8) -> String {
        var bytes = [quote]
        bytes.reserveCapacity(utf8.count + 2)
        for byte in utf8 {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        bytes.append(quote)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// This name or text without its quotes, if it has any. The closing quote may be missing.
    package var unquotedSQL: String {
        guard let quote = utf8.first, "\"`['".utf8.contains(quote) else { return self }
        let end = quote == UInt8(ascii: "[") ? UInt8(ascii: "]") : quote
        var rest = utf8.dropFirst()
        if rest.last == end { rest = rest.dropLast() }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == end, rest.first == end { rest = rest.dropFirst() }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    /// Returns the SQL of nameless parameters: `?, ?, ?`.
    static func questionMarks(_ count: Int) -> String {
        Array(repeating: "?", count: count).joined(separator: ", ")
    }

    /// Whether two texts have the same bytes, which is what SQLite compares. Swift also treats
    /// texts as equal that only look the same, as `"\u{e9}"` and `"e\u{301}"` do.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

/// The names of the tables and triggers that Shellac creates for itself, in files or beside them.
package enum OwnName {
    /// The prefix of all of them. Events never mention a table with such a name.
    static let prefix = "shellac "

    package static func contains(_ name: String) -> Bool { name.utf8.starts(with: prefix.utf8) }
}

/// An ordered list of names, compared by their bytes.
struct ExactNames: Hashable, Sendable {
    let names: [String]

    init(_ names: [String]) { self.names = names }

    static func == (a: Self, b: Self) -> Bool {
        a.names.count == b.names.count && zip(a.names, b.names).allSatisfy { $0.hasSameBytes(as: $1) }
    }

    func hash(into hasher: inout Hasher) {
        for var name in names {
            name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
            hasher.combine(0 as UInt8)
        }
    }

    /// The names, sorted by their bytes.
    var sorted: ExactNames { ExactNames(names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }) }
}

/// An SQL name, compared as SQLite compares names: the case of ASCII letters does not matter.
struct CaseInsensitiveName: Hashable, Sendable {
    let name: String

    init(_ name: String) { self.name = name }

    static func == (a: Self, b: Self) -> Bool { matches(a.name, b.name) }

    func hash(into hasher: inout Hasher) {
        var name = name
        name.withUTF8 { bytes in
            var word: UInt64 = 0
            for index in bytes.indices {
                word = word &<< 8 | UInt64(Self.folded(bytes[index]))
                if index & 7 == 7 { hasher.combine(word) }
            }
            hasher.combine(word)
        }
    }

    static func folded(_ byte: UInt8) -> UInt8 {
        byte &- 65 < 26 ? byte | 0x20 : byte
    }

    /// Whether SQLite treats two names as the same.
    static func matches(_ a: String, _ b: String) -> Bool {
        var (a, b) = (a, b)
        return a.withUTF8 { x in
            b.withUTF8 { y in
                x.count == y.count
                    && x.indices.allSatisfy { x[$0] == y[$0] || folded(x[$0]) == folded(y[$0]) }
            }
        }
    }
}

// Finds the string literals of Swift source code that are SQL.

/// A string literal of a Swift file, or several that are joined with `+`.
struct SwiftLiteral {
    /// A piece of the text.
    enum Piece: Equatable {
        case text(String)
        /// An interpolation, such as `\(name)`.
        case interpolation
    }

    /// The pieces of the text, in order.
    var pieces: [Piece]
    /// The line of the file on which the literal begins, from 1 on.
    let line: Int
    /// Whether something else than a literal is added to the text.
    var isPartial = false
}

/// A reader of Swift source code that knows comments, strings and interpolations.
///
/// It finds the literals after `sql:` and `literal:`, and values of variables whose type begins
/// with `SQL`.
struct SwiftLiterals {
    private let source: [Unicode.Scalar]
    private var place = 0
    private var line = 1
    /// The last tokens, without blanks and comments.
    private var last: [String] = []

    init(_ source: String) { self.source = Array(source.unicodeScalars) }

    /// Returns the literals of a file that are SQL.
    static func all(in source: String) -> [SwiftLiteral] {
        var reader = SwiftLiterals(source)
        return reader.readAll()
    }

    private func peek(_ offset: Int = 0) -> Unicode.Scalar? {
        place + offset < source.count ? source[place + offset] : nil
    }

    private func isAt(_ text: String) -> Bool {
        var offset = 0
        for scalar in text.unicodeScalars {
            guard peek(offset) == scalar else { return false }
            offset += 1
        }
        return true
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where place < source.count {
            if source[place] == "\n" { line += 1 }
            place += 1
        }
    }

    private mutating func readAll() -> [SwiftLiteral] {
        var found: [SwiftLiteral] = []
        while let scalar = peek() {
            if skipBlank() { continue }
            if let hashes = stringStart() {
                let isSQL = isSQLBefore
                let literal = readSum(hashes)
                if isSQL { found.append(literal) }
                note("\"")
            } else if scalar == "_" || scalar.properties.isAlphabetic {
                note(readWord())
            } else {
                advance()
                note(String(scalar))
            }
        }
        return found
    }

    private mutating func note(_ token: String) {
        last.append(token)
        if last.count > 40 { last.removeFirst(20) }
    }

    /// Whether the code before a literal makes it SQL.
    private var isSQLBefore: Bool {
        if last.suffix(2) == ["sql", ":"] || last.suffix(2) == ["literal", ":"] { return true }
        // `let name: SQLRequest<Player> = "…"`
        guard last.last == "=", let colon = last.lastIndex(of: ":") else { return false }
        return last[(colon + 1)...].first?.hasPrefix("SQL") == true && !last[colon...].contains("{")
    }

    /// Skips a blank or a comment. Returns false if there is none.
    private mutating func skipBlank() -> Bool {
        guard let scalar = peek() else { return false }
        if scalar.properties.isWhitespace {
            advance()
            return true
        }
        if isAt("//") {
            while let scalar = peek(), scalar != "\n" { advance() }
            return true
        }
        guard isAt("/*") else { return false }
        var depth = 0
        repeat {
            if isAt("/*") {
                depth += 1
                advance(2)
            } else if isAt("*/") {
                depth -= 1
                advance(2)
            } else {
                advance()
            }
        } while depth > 0 && peek() != nil
        return true
    }

    private mutating func readWord() -> String {
        var word = ""
        while let scalar = peek(),
            scalar == "_" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        {
            word.unicodeScalars.append(scalar)
            advance()
        }
        return word
    }

    // MARK: - Strings

    /// The number of `#` before a string that begins here, or nil if none begins.
    private func stringStart() -> Int? {
        var hashes = 0
        while peek(hashes) == "#" { hashes += 1 }
        return peek(hashes) == "\"" ? hashes : nil
    }

    /// Reads a literal, and those that are added to it.
    private mutating func readSum(_ hashes: Int) -> SwiftLiteral {
        var literal = readString(hashes)
        while true {
            let (oldPlace, oldLine) = (place, line)
            while skipBlank() {}
            guard peek() == "+" else {
                (place, line) = (oldPlace, oldLine)
                return literal
            }
            advance()
            while skipBlank() {}
            guard let hashes = stringStart() else {
                literal.isPartial = true
                return literal
            }
            literal.pieces += readString(hashes).pieces
        }
    }

    private mutating func readString(_ hashes: Int) -> SwiftLiteral {
        let begin = line
        advance(hashes)
        let isLong = isAt("\"\"\"")
        advance(isLong ? 3 : 1)
        let end = (isLong ? "\"\"\"" : "\"") + String(repeating: "#", count: hashes)
        let escape = "\\" + String(repeating: "#", count: hashes)
        var pieces: [SwiftLiteral.Piece] = []
        var text = ""
        while peek() != nil, !isAt(end), isLong || peek() != "\n" {
            guard isAt(escape) else {
                if let scalar = peek() { text.unicodeScalars.append(scalar) }
                advance()
                continue
            }
            advance(escape.unicodeScalars.count)
            if peek() == "(" {
                skipInterpolation()
                pieces += [.text(text), .interpolation]
                text = ""
            } else {
                text += readEscape()
            }
        }
        advance(end.unicodeScalars.count)
        return SwiftLiteral(pieces: pieces + [.text(text)], line: begin)
    }

    /// Reads the rest of an escape, and returns its text.
    private mutating func readEscape() -> String {
        defer { advance() }
        switch peek() {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "0": return "\0"
        case "\n": return ""
        case "u":
            var digits = ""
            while let scalar = peek(), scalar != "}" {
                if scalar.properties.isASCIIHexDigit { digits.unicodeScalars.append(scalar) }
                advance()
            }
            return UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init).map { String($0) } ?? ""
        case let scalar?: return String(scalar)
        case nil: return ""
        }
    }

    /// Skips `(…)`, which may contain other strings.
    private mutating func skipInterpolation() {
        var depth = 0
        repeat {
            if skipBlank() { continue }
            if let hashes = stringStart() {
                _ = readString(hashes)
                continue
            }
            if peek() == "(" { depth += 1 }
            if peek() == ")" { depth -= 1 }
            advance()
        } while depth > 0 && peek() != nil
    }
}

/// The role of a piece of SQL.
enum SQLRole {
    /// A statement, or a query inside of another one.
    case statement
    /// A part of an expression, a selection, or an order.
    case expression
}

/// The place of a query in a piece of SQL, which determines the SQL around it.
enum SQLPlace: Equatable {
    /// The place of an operand or a table. The query needs parentheses: `a = \(query)`, `IN
    /// \(query)`, `FROM \(query)`, `max(\(query))`
    case operand
    /// A place that takes the query unchanged: `IN (\(query))`, `INSERT INTO t \(query)`. The query
    /// must not have certain clauses next to those beside it.
    case query(beside: Clauses)

    /// Clauses of a query, outside of its parentheses.
    struct Clauses: OptionSet {
        let rawValue: UInt8

        static let with = Clauses(rawValue: 1)
        static let compound = Clauses(rawValue: 2)
        static let order = Clauses(rawValue: 4)
        static let limit = Clauses(rawValue: 8)
        /// `ON CONFLICT`, which SQLite mistakes for a join condition unless a `WHERE` precedes it:
        /// see "UPSERT" in its documentation, section "Parsing Ambiguity".
        static let conflict = Clauses(rawValue: 16)
        static let values = Clauses(rawValue: 32)

        /// The clauses that a query may not have beside these: see "SELECT" in SQLite's
        /// documentation.
        var conflicting: Clauses {
            if contains(.compound) { return [.with, .compound, .order, .limit] }
            var clauses: Clauses = contains(.with) ? .with : []
            if contains(.order) { clauses.formUnion([.order, .limit, .values]) }
            if contains(.limit) { clauses.formUnion([.limit, .values]) }
            return clauses
        }

        fileprivate init(word: String) {
            switch word {
            case "WITH": self = .with
            case "UNION", "INTERSECT", "EXCEPT": self = .compound
            case "ORDER": self = .order
            case "LIMIT": self = .limit
            case "ON": self = .conflict
            case "VALUES": self = .values
            default: self = []
            }
        }

        init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Collects the clauses of a finished query.
        init(of query: String) {
            let tokens = SQLTokens(query)
            self = []
            var depth = 0
            for token in tokens {
                switch token.kind {
                case .opening: depth += 1
                case .closing: depth -= 1
                case .word where depth == 0: formUnion(Clauses(word: tokens.text(token.range).uppercased()))
                default: break
                }
            }
        }
    }

    /// Returns the places of the late parts of a piece, except for those inside of comments and
    /// quotes.
    static func places(in tokens: SQLTokens, as role: SQLRole) -> [SQLPlace] {
        var reader = PlaceReader(tokens, role)
        return reader.places()
    }
}

/// A parser that finds the places of the queries in a piece of SQL.
private struct PlaceReader {
    private enum Item: Equatable {
        /// A keyword or a name, in upper case.
        case word(String)
        /// The end of an operand or a name that is not a word: a quoted name, a text, a parameter,
        /// or a query.
        case operand
        case comma, semicolon, opening, closing, sign, dot

        var word: String? { if case .word(let word) = self { word } else { nil } }
    }

    /// The state of the text between two parentheses, or outside of all.
    private struct Level {
        /// The words of the statement.
        var first: String?
        var last: String?
        var asCount = 0
    }

    private let items: [Item]
    private let isLate: [Bool]
    private let role: SQLRole
    private var levels = [Level()]

    init(_ tokens: SQLTokens, _ role: SQLRole) {
        self.role = role
        let list = tokens.meaningful
        isLate = list.map { if case .late = $0.kind { true } else { false } }
        items = list.map { token in
            switch token.kind {
            case .word: .word(tokens.text(token.range).uppercased())
            case .comma: .comma
            case .semicolon: .semicolon
            case .opening: .opening
            case .closing: .closing
            case .sign: tokens.bytes[token.range.lowerBound] == UInt8(ascii: ".") ? .dot : .sign
            default: .operand
            }
        }
    }

    mutating func places() -> [SQLPlace] {
        var places: [SQLPlace] = []
        for (index, item) in items.enumerated() {
            if isLate[index] { places.append(place(at: index)) }
            switch item {
            case .opening: levels.append(Level())
            case .closing: if levels.count > 1 { levels.removeLast() }
            case .semicolon: levels[levels.count - 1] = Level()
            case .word(let word):
                let level = levels.count - 1
                levels[level].first = levels[level].first ?? word
                levels[level].last = word
                if word == "AS" { levels[level].asCount += 1 }
            default: break
            }
        }
        return places
    }

    private func item(_ index: Int) -> Item? { items.indices.contains(index) ? items[index] : nil }

    private func place(at index: Int) -> SQLPlace {
        let (before, next) = (item(index - 2), item(index + 1))
        switch item(index - 1) {
        case nil, .semicolon:
            return role == .statement && !continuesOperand(next) ? query(before: next) : .operand
        case .opening: return placeInParentheses(behind: before, next)
        case .operand, .closing: return query(before: next)
        case .comma, .sign, .dot: return .operand
        case .word(let word):
            switch word {
            // A table may have the name of a keyword.
            case _ where before == .word("INTO") || before == .dot: return query(before: next)
            case "UNION", "INTERSECT", "EXCEPT": return .query(beside: .compound)
            case "ALL": return before == .word("UNION") ? .query(beside: .compound) : .operand
            case "AS":
                // The body of a view or a table. Other named queries are in parentheses.
                let isBody = levels.count == 1 && levels[0].first == "CREATE" && levels[0].asCount == 1
                return isBody ? query(before: next) : .operand
            default: return Self.wordsBeforeOperand.contains(word) ? .operand : query(before: next)
            }
        }
    }

    /// - Parameter before: The item in front of the parentheses.
    private func placeInParentheses(behind before: Item?, _ next: Item?) -> SQLPlace {
        // The parentheses of a call contain its arguments, and those of VALUES an expression for
        // each column.
        switch before {
        case .word(let word) where word != "AS" && !Self.wordsBeforeOperand.contains(word): return .operand
        case .operand: return .operand
        default: break
        }
        if levels.dropLast().last?.last == "VALUES" { return .operand }
        if next == .closing { return .query(beside: []) }
        return continuesQuery(next) ? query(before: next) : .operand
    }

    /// Returns the place of a query at the level of the statement.
    private func query(before next: Item?) -> SQLPlace {
        var clauses = next?.word.map { SQLPlace.Clauses(word: $0) } ?? []
        clauses.remove(.with)
        if levels.last?.first == "WITH" { clauses.formUnion(.with) }
        return .query(beside: clauses)
    }

    private func continuesQuery(_ next: Item?) -> Bool {
        next?.word.map { !SQLPlace.Clauses(word: $0).intersection([.compound, .order, .limit]).isEmpty }
            ?? false
    }

    /// Whether the text continues with an operator, a direction, a name or a comma.
    private func continuesOperand(_ next: Item?) -> Bool {
        switch next {
        case .sign, .dot, .comma: true
        case .word(let word): Self.wordsBehindOperand.contains(word)
        default: false
        }
    }

    private static let wordsBehindOperand: Set<String> = [
        "AND", "AS", "ASC", "BETWEEN", "COLLATE", "DESC", "GLOB", "IN", "IS", "ISNULL", "LIKE", "MATCH",
        "NOT",
        "NOTNULL", "NULLS", "OR", "REGEXP",
    ]

    /// Keywords that precede an expression or a table. After any other word, only a query can
    /// follow: the word is a name, or ends an expression.
    private static let wordsBeforeOperand: Set<String> = [
        "ALL", "AND", "BETWEEN", "BY", "CASE", "CHECK", "DEFAULT", "DISTINCT", "ELSE", "ESCAPE", "EXISTS",
        "FROM",
        "GLOB", "HAVING", "IN", "IS", "JOIN", "LIKE", "LIMIT", "MATCH", "MATERIALIZED", "NOT", "OFFSET", "ON",
        "OR",
        "REGEXP", "RETURNING", "SELECT", "SET", "THEN", "VALUES", "WHEN", "WHERE",
    ]
}

/// An expression that is neither a value nor a column.
final class ExpressionTree: Sendable {
    let syntax: Syntax

    init(_ syntax: Syntax) { self.syntax = syntax }

    /// The forms of expressions: see "SQL Language Expressions" in SQLite's documentation.
    enum Syntax: Sendable {
        /// A qualified column of a table.
        case column(table: String, name: String)
        /// A word of SQL: `CURRENT_TIMESTAMP`, `0`.
        case word(StaticString)
        /// A value written as a literal, because the plan of a statement depends on it.
        case constant(DatabaseValue)
        case prefix(PrefixOperator, SQLExpression)
        case infix(InfixOperator, SQLExpression, SQLExpression)
        /// Operands joined by the same operator, whose order of evaluation does not matter.
        case chain(AssociativeOperator, [SQLExpression])
        case isNull(SQLExpression, isNegated: Bool)
        case between(SQLExpression, SQLExpression, SQLExpression, isNegated: Bool)
        case pattern(PatternOperator, SQLExpression, SQLExpression, escape: SQLExpression?, isNegated: Bool)
        case list(SQLExpression, in: [SQLExpression], isNegated: Bool)
        case query(SQLExpression, in: Subquery, isNegated: Bool)
        case collated(SQLExpression, Database.CollationName)
        case cast(SQLExpression, Database.ColumnType)
        case choice(SQLExpression?, [(condition: SQLExpression, result: SQLExpression)], SQLExpression?)
        case call(FunctionCall)
        case row([SQLExpression])
        /// Expressions between commas, each followed by the same words.
        case terms([SQLExpression], suffix: StaticString)
        case subquery(Subquery)
        case exists(Subquery, isNegated: Bool)
        case key(KeyCondition)
        case fragment(SQL)
        /// An expression whose columns belong to one of several tables.
        case scoped(ColumnScope, SQLExpression)
        case late(LateExpression)
    }
}

extension SQLExpression {
    init(_ syntax: ExpressionTree.Syntax) { self.init(.tree(ExpressionTree(syntax))) }

    /// The syntax, unless this is a value or a column.
    var syntax: ExpressionTree.Syntax? {
        guard case .tree(let tree) = form else { return nil }
        return unsafeDowncast(tree, to: ExpressionTree.self).syntax
    }

    var isNull: Bool {
        if case .value(let value) = form { value.isNull } else { false }
    }
}

/// The precedence of an operator: see "Operators, and Parse-Affecting Attributes" in SQLite's
/// documentation.
struct Precedence: Comparable {
    private let level: UInt8

    /// The precedence of a whole expression, alone or between commas.
    static let lowest = Precedence(level: 0)
    /// The precedence of an SQL fragment, which may contain anything.
    static let fragment = Precedence(level: 1)
    static let or = Precedence(level: 2)
    static let and = Precedence(level: 3)
    static let not = Precedence(level: 4)
    static let equality = Precedence(level: 5)
    static let comparison = Precedence(level: 6)
    static let escape = Precedence(level: 7)
    static let bits = Precedence(level: 8)
    static let addition = Precedence(level: 9)
    static let multiplication = Precedence(level: 10)
    static let concatenation = Precedence(level: 11)
    static let collation = Precedence(level: 12)
    static let prefix = Precedence(level: 13)
    static let atom = Precedence(level: 14)

    static func < (a: Precedence, b: Precedence) -> Bool { a.level < b.level }

    /// The next lower level.
    var below: Precedence { Precedence(level: level &- 1) }
}

enum PrefixOperator: Sendable {
    case not, minus, complement

    var precedence: Precedence { self == .not ? .not : .prefix }

    var text: StaticString {
        switch self {
        case .not: "NOT "
        case .minus: "-"
        case .complement: "~"
        }
    }
}

enum InfixOperator: Sendable {
    case equal, notEqual, isSame, isNotSame
    case less, lessOrEqual, greater, greaterOrEqual
    case add, subtract, multiply, divide, remainder
    case bitAnd, bitOr, leftShift, rightShift
    case json, jsonValue

    var precedence: Precedence {
        switch self {
        case .equal, .notEqual, .isSame, .isNotSame: .equality
        case .less, .lessOrEqual, .greater, .greaterOrEqual: .comparison
        case .bitAnd, .bitOr, .leftShift, .rightShift: .bits
        case .add, .subtract: .addition
        case .multiply, .divide, .remainder: .multiplication
        case .json, .jsonValue: .concatenation
        }
    }

    var text: StaticString {
        switch self {
        case .equal: " = "
        case .notEqual: " <> "
        case .isSame: " IS "
        case .isNotSame: " IS NOT "
        case .less: " < "
        case .lessOrEqual: " <= "
        case .greater: " > "
        case .greaterOrEqual: " >= "
        case .add: " + "
        case .subtract: " - "
        case .multiply: " * "
        case .divide: " / "
        case .remainder: " % "
        case .bitAnd: " & "
        case .bitOr: " | "
        case .leftShift: " << "
        case .rightShift: " >> "
        case .json: " -> "
        case .jsonValue: " ->> "
        }
    }

    /// The operator with the opposite result, which returns NULL for the same operands.
    var negated: InfixOperator? {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .isSame: .isNotSame
        case .isNotSame: .isSame
        default: nil
        }
    }
}

enum PatternOperator: Sendable {
    case like, glob, match, regexp

    func text(isNegated: Bool) -> StaticString {
        switch self {
        case .like: isNegated ? " NOT LIKE " : " LIKE "
        case .glob: isNegated ? " NOT GLOB " : " GLOB "
        case .match: isNegated ? " NOT MATCH " : " MATCH "
        case .regexp: isNegated ? " NOT REGEXP " : " REGEXP "
        }
    }
}

/// A call of a function, of an aggregate, or of a window function.
struct FunctionCall: Sendable {
    let name: String
    var arguments: [SQLExpression]
    var isDistinct = false
    /// Whether the argument is `*`.
    var takesRows = false
    var filter: SQLExpression?
    var window: SQLWindow?
}

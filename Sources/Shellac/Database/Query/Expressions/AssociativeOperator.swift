/// An operator that joins any number of operands.
///
/// ```swift
/// let conditions: [SQLExpression] = [Column("score") > 100, Column("name") != nil]
/// Player.filter(conditions.joined(operator: .and))
/// ```
public struct AssociativeOperator: Hashable, Sendable {
    private enum Kind { case and, or, concatenation, add, multiply, bitwiseAnd, bitwiseOr }
    private let kind: Kind

    /// The conjunction of conditions: `a AND b AND c`. Without operands, true.
    public static let and = AssociativeOperator(kind: .and)
    /// The disjunction of conditions: `a OR b OR c`. Without operands, false.
    public static let or = AssociativeOperator(kind: .or)
    /// The concatenation of texts: `a || b || c`. Without operands, the empty text.
    public static let concat = AssociativeOperator(kind: .concatenation)

    /// The sum of numbers: `a + b + c`. Without operands, 0.
    public static let add = AssociativeOperator(kind: .add)
    /// The product of numbers: `a * b * c`. Without operands, 1.
    public static let multiply = AssociativeOperator(kind: .multiply)

    /// The bits that all integers have: `a & b & c`. Without operands, all bits, -1.
    public static let bitwiseAnd = AssociativeOperator(kind: .bitwiseAnd)
    /// The bits that any of the integers has: `a | b | c`. Without operands, 0.
    public static let bitwiseOr = AssociativeOperator(kind: .bitwiseOr)

    var precedence: Precedence {
        switch kind {
        case .and: .and
        case .or: .or
        case .concatenation: .concatenation
        case .add: .addition
        case .multiply: .multiplication
        case .bitwiseAnd, .bitwiseOr: .bits
        }
    }

    var text: StaticString {
        switch kind {
        case .and: " AND "
        case .or: " OR "
        case .concatenation: " || "
        case .add: " + "
        case .multiply: " * "
        case .bitwiseAnd: " & "
        case .bitwiseOr: " | "
        }
    }

    /// The result of the operator without operands.
    fileprivate var neutral: SQLExpression {
        switch kind {
        case .and: SQLExpression(.word("1"))
        case .or: SQLExpression(.word("0"))
        case .concatenation: SQLExpression(.word("''"))
        case .add: SQLExpression(.word("0"))
        case .multiply: SQLExpression(.word("1"))
        case .bitwiseAnd: SQLExpression(.word("-1"))
        case .bitwiseOr: SQLExpression(.word("0"))
        }
    }
}

extension SQLExpression {
    /// Chains operands with an operator. Operands that are chains of the same operator become part
    /// of this one, so a condition built in a loop is not a deep tree.
    static func chain(_ chain: AssociativeOperator, _ operands: [SQLExpression]) -> SQLExpression {
        var flat: [SQLExpression] = []
        flat.reserveCapacity(operands.count)
        for operand in operands {
            if case .chain(chain, let inner)? = operand.syntax {
                flat += inner
            } else {
                flat.append(operand)
            }
        }
        switch flat.count {
        case 0: return chain.neutral
        case 1: return flat[0]
        default: return SQLExpression(.chain(chain, flat))
        }
    }

    /// The opposite condition.
    var negated: SQLExpression {
        switch syntax {
        case .infix(let infix, let a, let b)?:
            if let negated = infix.negated { return SQLExpression(.infix(negated, a, b)) }
        case .isNull(let a, let isNegated)?: return SQLExpression(.isNull(a, isNegated: !isNegated))
        case .between(let a, let first, let last, let isNegated)?:
            return SQLExpression(.between(a, first, last, isNegated: !isNegated))
        case .pattern(let pattern, let a, let b, let escape, let isNegated)?:
            return SQLExpression(.pattern(pattern, a, b, escape: escape, isNegated: !isNegated))
        case .list(let a, let list, let isNegated)?:
            return SQLExpression(.list(a, in: list, isNegated: !isNegated))
        case .query(let a, let query, let isNegated)?:
            return SQLExpression(.query(a, in: query, isNegated: !isNegated))
        case .exists(let query, let isNegated)?: return SQLExpression(.exists(query, isNegated: !isNegated))
        default: break
        }
        return SQLExpression(.prefix(.not, self))
    }
}

extension Sequence where Element: SQLExpressible {
    /// Joins all elements with an operator.
    ///
    /// - Parameter chain: The operator. It also determines the result for an empty sequence, which
    ///   is true for ``AssociativeOperator/and``.
    public func joined(operator chain: AssociativeOperator) -> SQLExpression {
        .chain(chain, map(\.sqlExpression))
    }
}

extension Sequence where Element == any SQLExpressible {
    /// Joins all elements with an operator.
    ///
    /// - Parameter chain: The operator. It also determines the result for an empty sequence, which
    ///   is true for ``AssociativeOperator/and``.
    public func joined(operator chain: AssociativeOperator) -> SQLExpression {
        .chain(chain, map(\.sqlExpression))
    }
}

// Operations that have no operator in Swift.

extension SQLSpecificExpressible {
    // MARK: - Texts

    /// Appends a text to this one: `a || b`.
    ///
    /// ```swift
    /// Column("firstName").appending(" ").appending(Column("lastName"))
    /// // "firstName" || ? || "lastName"
    /// ```
    ///
    /// - Parameter text: The text, which is bound, or an expression. If it is NULL, so is the
    ///   result.
    public func appending(_ text: any SQLExpressible) -> SQLExpression {
        .chain(.concat, [sqlExpression, text.sqlExpression])
    }

    /// Whether a text matches a pattern: `a LIKE pattern`. In it, `%` matches any characters, and
    /// `_` matches one.
    ///
    /// - Parameters:
    ///   - pattern: The pattern.
    ///   - escape: The character that makes the next one match itself.
    public func like(_ pattern: any SQLExpressible, escape: (any SQLExpressible)? = nil) -> SQLExpression {
        self.pattern(.like, pattern, escape: escape)
    }

    /// Whether a text matches a file pattern, in which `*` matches any characters:
    /// `a GLOB pattern`.
    ///
    /// - Parameter pattern: The pattern, whose case matters. `?` matches one character, and `[a-c]`
    ///   matches one of these.
    public func glob(_ pattern: any SQLExpressible) -> SQLExpression { self.pattern(.glob, pattern) }

    /// Whether a full-text table or column matches a query: `a MATCH query`.
    ///
    /// - Parameter query: The query, in the language of the full-text table. The statement throws
    ///   if it is malformed.
    public func match(_ query: any SQLExpressible) -> SQLExpression { pattern(.match, query) }

    /// Whether a text matches a regular expression: `a REGEXP expression`. SQLite has no such
    /// function, so add one.
    ///
    /// - Parameter expression: The regular expression. It is the first argument of the function,
    ///   and the text is the second.
    public func regexp(_ expression: any SQLExpressible) -> SQLExpression { pattern(.regexp, expression) }

    private func pattern(
        _ pattern: PatternOperator, _ text: any SQLExpressible, escape: (any SQLExpressible)? = nil
    ) -> SQLExpression {
        SQLExpression(
            .pattern(
                pattern, sqlExpression, text.sqlExpression, escape: escape?.sqlExpression, isNegated: false))
    }

    /// Compares and sorts the text with a collation: `a COLLATE name`.
    ///
    /// ```swift
    /// Player.order(Column("name").collating(.nocase))
    /// ```
    ///
    /// - Parameter collation: One of SQLite's collations, or one added to the connection.
    public func collating(_ collation: Database.CollationName) -> SQLExpression {
        SQLExpression(.collated(sqlExpression, collation))
    }

    // MARK: - NULL

    /// Whether two values are the same, treating NULLs as equal: `a IS b`.
    ///
    /// - Parameter other: The value to compare with. It may be NULL, for example an optional that
    ///   is nil.
    public func isSame(as other: any SQLExpressible) -> SQLExpression {
        SQLExpression(.infix(.isSame, sqlExpression, other.sqlExpression))
    }

    // MARK: - Choices

    /// Begins a choice by the value of this expression: `CASE a WHEN value THEN result … END`.
    ///
    /// ```swift
    /// Column("level").when(1, then: "low").when(2, then: "high").otherwise("none")
    /// ```
    ///
    /// - Parameters:
    ///   - value: A value. NULL equals nothing, not even itself. To choose by NULL, use a
    ///     condition.
    ///   - result: The result if the expression has that value.
    public func when(_ value: any SQLExpressible, then result: any SQLExpressible) -> CaseExpression {
        CaseExpression(operand: sqlExpression, branches: [(value.sqlExpression, result.sqlExpression)])
    }
}

/// Begins a choice between conditions: `CASE WHEN condition THEN result … END`.
///
/// ```swift
/// when(Column("score") > 1000, then: "gold").when(Column("score") > 100, then: "silver").otherwise("none")
/// ```
///
/// - Parameters:
///   - condition: The condition. NULL counts as false.
///   - result: The result if the condition is true.
public func when(_ condition: some SQLSpecificExpressible, then result: any SQLExpressible) -> CaseExpression
{
    CaseExpression(operand: nil, branches: [(condition.sqlExpression, result.sqlExpression)])
}

/// A choice between results. It is NULL if no branch is taken and there is no ``otherwise(_:)``.
public struct CaseExpression: SQLSpecificExpressible {
    fileprivate let operand: SQLExpression?
    fileprivate var branches: [(condition: SQLExpression, result: SQLExpression)]

    /// Adds a branch.
    ///
    /// - Parameters:
    ///   - value: A value, if the choice began with an expression, or else a condition.
    ///   - result: The result if that matches, and no earlier branch does.
    public func when(_ value: any SQLExpressible, then result: any SQLExpressible) -> CaseExpression {
        CaseExpression(operand: operand, branches: branches + [(value.sqlExpression, result.sqlExpression)])
    }

    /// Adds the result if no branch is taken.
    ///
    /// - Parameter result: The result. It is NULL without this call.
    public func otherwise(_ result: any SQLExpressible) -> SQLExpression {
        SQLExpression(.choice(operand, branches, result.sqlExpression))
    }

    @_documentation(visibility: internal)
    public var sqlExpression: SQLExpression { SQLExpression(.choice(operand, branches, nil)) }
}

/// Converts a value to the form that a column of a type would store: `CAST(a AS type)`.
///
/// - Parameters:
///   - value: The value. NULL remains NULL.
///   - type: The type, whose ``ColumnAffinity`` determines the conversion. For example, a text that
///     is not a number becomes 0 as an integer.
public func cast(_ value: some SQLSpecificExpressible, as type: Database.ColumnType) -> SQLExpression {
    SQLExpression(.cast(value.sqlExpression, type))
}

// MARK: - Lists and ranges

extension Sequence where Element: SQLExpressible {
    /// Whether a value is one of these elements: `a IN (…)`. SQLite accepts an empty list, which
    /// contains nothing.
    ///
    /// ```swift
    /// Player.filter([1, 2, 3].contains(Column("id")))
    /// ```
    ///
    /// - Parameter element: The value to look for, usually a column. If it is NULL, so is the
    ///   result, unless the list is empty.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(.list(element.sqlExpression, in: map(\.sqlExpression), isNegated: false))
    }
}

extension ClosedRange where Bound: SQLExpressible {
    /// Whether a value is in the range: `a BETWEEN first AND last`.
    ///
    /// ```swift
    /// Player.filter((100...200).contains(Column("score")))
    /// ```
    ///
    /// - Parameter element: The value to compare, usually a column. If it is NULL, so is the
    ///   result.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(
            .between(
                element.sqlExpression, lowerBound.sqlExpression, upperBound.sqlExpression, isNegated: false))
    }
}

extension Range where Bound: SQLExpressible {
    /// Whether a value is in the range: `a >= first AND a < end`.
    ///
    /// - Parameter element: The value to compare, usually a column. It is written into the SQL
    ///   twice. If it is NULL, so is the result.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        element >= lowerBound && element < upperBound
    }
}

extension PartialRangeFrom where Bound: SQLExpressible {
    /// Whether a value is in the range: `a >= first`.
    ///
    /// - Parameter element: The value to compare, usually a column. If it is NULL, so is the
    ///   result.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression { element >= lowerBound }
}

extension PartialRangeThrough where Bound: SQLExpressible {
    /// Whether a value is in the range: `a <= last`.
    ///
    /// - Parameter element: The value to compare, usually a column. If it is NULL, so is the
    ///   result.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression { element <= upperBound }
}

extension PartialRangeUpTo where Bound: SQLExpressible {
    /// Whether a value is in the range: `a < end`.
    ///
    /// - Parameter element: The value to compare, usually a column. If it is NULL, so is the
    ///   result.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression { element < upperBound }
}

@available(*, unavailable, renamed: "CaseExpression")
public typealias SQLChoice = CaseExpression

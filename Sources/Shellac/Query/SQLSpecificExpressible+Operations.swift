// Operations that have no operator in Swift.

extension SQLSpecificExpressible {
    // MARK: - Texts

    /// Appends a text to this one: `a || b`.
    ///
    /// ```swift
    /// Column("firstName").appending(" ").appending(Column("lastName"))
    /// // "firstName" || ? || "lastName"
    /// ```
    public func appending(_ text: any SQLExpressible) -> SQLExpression {
        .chain(.concat, [sqlExpression, text.sqlExpression])
    }

    /// Whether a text matches a pattern, in which `%` stands for any characters, and `_` for one: `a LIKE pattern`.
    ///
    /// - Parameters:
    ///   - pattern: The pattern.
    ///   - escape: The character that makes the next one stand for itself.
    public func like(_ pattern: any SQLExpressible, escape: (any SQLExpressible)? = nil) -> SQLExpression {
        self.pattern(.like, pattern, escape: escape)
    }

    /// Whether a text matches a pattern of files, in which `*` stands for any characters: `a GLOB pattern`.
    public func glob(_ pattern: any SQLExpressible) -> SQLExpression { self.pattern(.glob, pattern) }

    /// Whether a full-text table or column matches a query: `a MATCH query`.
    public func match(_ query: any SQLExpressible) -> SQLExpression { pattern(.match, query) }

    /// Whether a text matches a regular expression: `a REGEXP expression`. SQLite has no such function: add one.
    public func regexp(_ expression: any SQLExpressible) -> SQLExpression { pattern(.regexp, expression) }

    private func pattern(
        _ pattern: PatternOperator, _ text: any SQLExpressible, escape: (any SQLExpressible)? = nil
    ) -> SQLExpression {
        SQLExpression(
            .pattern(
                pattern, sqlExpression, text.sqlExpression, escape: escape?.sqlExpression, isNegated: false))
    }

    /// Compares and sorts the text by a collation: `a COLLATE name`.
    ///
    /// ```swift
    /// Player.order(Column("name").collating(.nocase))
    /// ```
    public func collating(_ collation: Database.CollationName) -> SQLExpression {
        SQLExpression(.collated(sqlExpression, collation))
    }

    /// Compares and sorts the text by a collation made in Swift.
    public func collating(_ collation: DatabaseCollation) -> SQLExpression {
        collating(Database.CollationName(rawValue: collation.name))
    }

    // MARK: - NULL

    /// Whether two values are the same, where NULL is the same as NULL: `a IS b`.
    public func isSame(as other: any SQLExpressible) -> SQLExpression {
        SQLExpression(.infix(.isSame, sqlExpression, other.sqlExpression))
    }

    // MARK: - Choices

    /// Begins a choice between the values that this may have: `CASE a WHEN value THEN result … END`.
    ///
    /// ```swift
    /// Column("level").when(1, then: "low").when(2, then: "high").otherwise("none")
    /// ```
    public func when(_ value: any SQLExpressible, then result: any SQLExpressible) -> SQLChoice {
        SQLChoice(operand: sqlExpression, branches: [(value.sqlExpression, result.sqlExpression)])
    }
}

/// Begins a choice between conditions: `CASE WHEN condition THEN result … END`.
///
/// ```swift
/// when(Column("score") > 1000, then: "gold").when(Column("score") > 100, then: "silver").otherwise("none")
/// ```
public func when(_ condition: some SQLSpecificExpressible, then result: any SQLExpressible) -> SQLChoice {
    SQLChoice(operand: nil, branches: [(condition.sqlExpression, result.sqlExpression)])
}

/// A choice between results. Where no branch is taken, and there is no ``otherwise(_:)``, it is NULL.
public struct SQLChoice: SQLSpecificExpressible {
    fileprivate let operand: SQLExpression?
    fileprivate var branches: [(condition: SQLExpression, result: SQLExpression)]

    /// Adds a branch.
    public func when(_ value: any SQLExpressible, then result: any SQLExpressible) -> SQLChoice {
        SQLChoice(operand: operand, branches: branches + [(value.sqlExpression, result.sqlExpression)])
    }

    /// Gives the result where no branch is taken.
    public func otherwise(_ result: any SQLExpressible) -> SQLExpression {
        SQLExpression(.choice(operand, branches, result.sqlExpression))
    }

    @_documentation(visibility: internal)
    public var sqlExpression: SQLExpression { SQLExpression(.choice(operand, branches, nil)) }
}

/// Converts a value to what a column of a type would store: `CAST(a AS type)`.
public func cast(_ value: some SQLSpecificExpressible, as type: Database.ColumnType) -> SQLExpression {
    SQLExpression(.cast(value.sqlExpression, type))
}

// MARK: - Lists and ranges

extension Sequence where Element: SQLExpressible {
    /// Whether a value is one of these: `a IN (…)`. SQLite takes an empty list, which has no element.
    ///
    /// ```swift
    /// Player.filter([1, 2, 3].contains(Column("id")))
    /// ```
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
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(
            .between(
                element.sqlExpression, lowerBound.sqlExpression, upperBound.sqlExpression, isNegated: false))
    }
}

extension Range where Bound: SQLExpressible {
    /// Whether a value is in the range: `a >= first AND a < end`.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        element >= lowerBound && element < upperBound
    }
}

extension PartialRangeFrom where Bound: SQLExpressible {
    /// Whether a value is in the range: `a >= first`.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression { element >= lowerBound }
}

extension PartialRangeThrough where Bound: SQLExpressible {
    /// Whether a value is in the range: `a <= last`.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression { element <= upperBound }
}

extension PartialRangeUpTo where Bound: SQLExpressible {
    /// Whether a value is in the range: `a < end`.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression { element < upperBound }
}

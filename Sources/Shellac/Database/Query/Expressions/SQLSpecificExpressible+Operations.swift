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
    /// - Parameter text: The text, which is bound, or an expression. Where it is NULL, so is the whole.
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
    ///
    /// - Parameter pattern: The pattern, whose case matters. `?` stands for one character, and `[a-c]` for one of these.
    public func glob(_ pattern: any SQLExpressible) -> SQLExpression { self.pattern(.glob, pattern) }

    /// Whether a full-text table or column matches a query: `a MATCH query`.
    ///
    /// - Parameter query: The query, in the language of the full-text table. The statement throws for one that is malformed.
    public func match(_ query: any SQLExpressible) -> SQLExpression { pattern(.match, query) }

    /// Whether a text matches a regular expression: `a REGEXP expression`. SQLite has no such function: add one.
    ///
    /// - Parameter expression: The regular expression: the function is called with it first, and then with the text.
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
    ///
    /// - Parameter collation: The collation: one of SQLite's, or one that was added to the connection.
    public func collating(_ collation: Database.CollationName) -> SQLExpression {
        SQLExpression(.collated(sqlExpression, collation))
    }

    /// Compares and sorts the text by a collation made in Swift.
    ///
    /// - Parameter collation: The collation, which must have been added to the connection.
    public func collating(_ collation: DatabaseCollation) -> SQLExpression {
        collating(Database.CollationName(rawValue: collation.name))
    }

    // MARK: - NULL

    /// Whether two values are the same, where NULL is the same as NULL: `a IS b`.
    ///
    /// - Parameter other: What it is compared with. It may be NULL: an optional that is nil, say.
    public func isSame(as other: any SQLExpressible) -> SQLExpression {
        SQLExpression(.infix(.isSame, sqlExpression, other.sqlExpression))
    }

    // MARK: - Choices

    /// Begins a choice between the values that this may have: `CASE a WHEN value THEN result … END`.
    ///
    /// ```swift
    /// Column("level").when(1, then: "low").when(2, then: "high").otherwise("none")
    /// ```
    ///
    /// - Parameters:
    ///   - value: A value. NULL is equal to none, not to itself either: choose by a condition then.
    ///   - result: The result where this has that value.
    public func when(_ value: any SQLExpressible, then result: any SQLExpressible) -> SQLChoice {
        SQLChoice(operand: sqlExpression, branches: [(value.sqlExpression, result.sqlExpression)])
    }
}

/// Begins a choice between conditions: `CASE WHEN condition THEN result … END`.
///
/// ```swift
/// when(Column("score") > 1000, then: "gold").when(Column("score") > 100, then: "silver").otherwise("none")
/// ```
///
/// - Parameters:
///   - condition: The condition. Where it is NULL, it does not hold.
///   - result: The result where the condition holds.
public func when(_ condition: some SQLSpecificExpressible, then result: any SQLExpressible) -> SQLChoice {
    SQLChoice(operand: nil, branches: [(condition.sqlExpression, result.sqlExpression)])
}

/// A choice between results. Where no branch is taken, and there is no ``otherwise(_:)``, it is NULL.
public struct SQLChoice: SQLSpecificExpressible {
    fileprivate let operand: SQLExpression?
    fileprivate var branches: [(condition: SQLExpression, result: SQLExpression)]

    /// Adds a branch.
    ///
    /// - Parameters:
    ///   - value: A value, where the choice has begun with one, or else a condition.
    ///   - result: The result where that holds, and no branch before it.
    public func when(_ value: any SQLExpressible, then result: any SQLExpressible) -> SQLChoice {
        SQLChoice(operand: operand, branches: branches + [(value.sqlExpression, result.sqlExpression)])
    }

    /// Gives the result where no branch is taken.
    ///
    /// - Parameter result: The result, which is NULL without this call.
    public func otherwise(_ result: any SQLExpressible) -> SQLExpression {
        SQLExpression(.choice(operand, branches, result.sqlExpression))
    }

    @_documentation(visibility: internal)
    public var sqlExpression: SQLExpression { SQLExpression(.choice(operand, branches, nil)) }
}

/// Converts a value to what a column of a type would store: `CAST(a AS type)`.
///
/// - Parameters:
///   - value: The value. NULL stays NULL.
///   - type: The type, whose ``ColumnAffinity`` says what the value becomes: a text that is no number becomes 0 as an integer.
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
    ///
    /// - Parameter element: What is looked for: a column, mostly. Where it is NULL, so is the answer, unless the list is empty.
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
    /// - Parameter element: What is compared: a column, mostly. Where it is NULL, so is the answer.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(
            .between(
                element.sqlExpression, lowerBound.sqlExpression, upperBound.sqlExpression, isNegated: false))
    }
}

extension Range where Bound: SQLExpressible {
    /// Whether a value is in the range: `a >= first AND a < end`.
    ///
    /// - Parameter element: What is compared: a column, mostly. It stands in the SQL twice. Where it is NULL, so is the answer.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression {
        element >= lowerBound && element < upperBound
    }
}

extension PartialRangeFrom where Bound: SQLExpressible {
    /// Whether a value is in the range: `a >= first`.
    ///
    /// - Parameter element: What is compared: a column, mostly. Where it is NULL, so is the answer.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression { element >= lowerBound }
}

extension PartialRangeThrough where Bound: SQLExpressible {
    /// Whether a value is in the range: `a <= last`.
    ///
    /// - Parameter element: What is compared: a column, mostly. Where it is NULL, so is the answer.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression { element <= upperBound }
}

extension PartialRangeUpTo where Bound: SQLExpressible {
    /// Whether a value is in the range: `a < end`.
    ///
    /// - Parameter element: What is compared: a column, mostly. Where it is NULL, so is the answer.
    public func contains(_ element: some SQLSpecificExpressible) -> SQLExpression { element < upperBound }
}

/// Named conditions on the rows of a type that apply unless a request leaves them out.
///
/// ```swift
/// extension DefaultFilter.Name {
///     static let archived: Self = "archived"
/// }
///
/// class Player: Record {
///     override class var databaseDefaultFilter: DefaultFilter {
///         [.archived: Column("isArchived") == false]
///     }
/// }
///
/// let players = try Player.fetchAll(db)
/// // SELECT * FROM "player" WHERE "isArchived" = 0
/// let all = try Player.ignoringDefaultFilter(.archived).fetchAll(db)
/// // SELECT * FROM "player"
/// ```
///
/// See ``TableRecord/databaseDefaultFilter``.
public struct DefaultFilter: Sendable, ExpressibleByDictionaryLiteral {
    /// The name of a condition. It describes the rows that the condition leaves out.
    public struct Name: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        public let description: String

        /// Creates a name from a string.
        ///
        /// - Parameter name: Any string. Errors contain it. Names with the same string are equal.
        public init(_ name: String) { description = name }

        public init(stringLiteral name: String) { self.init(name) }
    }

    struct Condition: Sendable {
        let name: Name
        let expression: SQLExpression
    }
    private(set) var conditions: [Condition]

    /// Creates a filter without conditions, for all rows of the table.
    public init() { conditions = [] }

    /// Creates a filter of named conditions, all of which apply.
    ///
    /// - Parameter elements: The conditions, each after the name by which a request leaves it out.
    public init(dictionaryLiteral elements: (Name, any SQLSpecificExpressible)...) {
        conditions = elements.map { Condition(name: $0.0, expression: $0.1.sqlExpression) }
    }

    /// Adds a condition to those of a superclass:
    /// `super.databaseDefaultFilter.adding(.archived, Column("isArchived") == false)`.
    ///
    /// - Parameters:
    ///   - name: The name by which requests leave the condition out. Conditions of the same name
    ///     are left out together.
    ///   - condition: The condition on the rows. It must always be the same, and uses ``Column``
    ///     for its columns.
    public func adding(_ name: Name, _ condition: some SQLSpecificExpressible) -> DefaultFilter {
        var filter = self
        filter.conditions.append(Condition(name: name, expression: condition.sqlExpression))
        return filter
    }
}

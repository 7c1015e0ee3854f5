/// The conditions on the rows of a type that hold unless a request leaves them out, by their names.
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
/// let all = try Player.unfiltered(by: .archived).fetchAll(db)
/// // SELECT * FROM "player"
/// ```
///
/// See ``TableRecord/databaseDefaultFilter``.
public struct DefaultFilter: Sendable, ExpressibleByDictionaryLiteral {
    /// The name of a condition: of what is left out by it.
    public struct Name: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        public let description: String

        /// Makes a name of a text.
        ///
        /// - Parameter name: Any text, which errors say. Names of the same text are the same.
        public init(_ name: String) { description = name }

        public init(stringLiteral name: String) { self.init(name) }
    }

    struct Condition: Sendable {
        let name: Name
        let expression: SQLExpression
    }
    private(set) var conditions: [Condition]

    /// All rows of the table.
    public init() { conditions = [] }

    /// Names conditions, all of which hold.
    ///
    /// - Parameter elements: The conditions, each behind the name by which a request leaves it out.
    public init(dictionaryLiteral elements: (Name, any SQLSpecificExpressible)...) {
        conditions = elements.map { Condition(name: $0.0, expression: $0.1.sqlExpression) }
    }

    /// Adds a condition to those of a superclass: `super.databaseDefaultFilter.adding(.archived, Column("isArchived") == false)`.
    ///
    /// - Parameters:
    ///   - name: The name by which requests leave the condition out. Conditions of the same name are left out together.
    ///   - condition: What holds of the rows. It must always be the same, and its columns are written as ``Column``.
    public func adding(_ name: Name, _ condition: some SQLSpecificExpressible) -> DefaultFilter {
        var filter = self
        filter.conditions.append(Condition(name: name, expression: condition.sqlExpression))
        return filter
    }
}

/// A relation between two tables, declared once, as a static value of the type that it begins with.
///
/// ```swift
/// class Team: Record {
///     static let players = hasMany(Player.self)
///     static let captain = hasOne(Player.self).filter { $0.isCaptain == true }
///     var players: [Player] { get throws { try self[Team.players] } }
/// }
///
/// class Player: Record {
///     static let team = belongsTo(Team.self)
///     var team: Team? { get throws { try self[Player.team] } }
/// }
///
/// let teams = try Team.including(Team.players.order { $0.score.desc }).fetchAll(db)   // two statements
/// ```
///
/// It is a value: what is derived from it (filtered, sorted) is still the same relation, and is read by the property that
/// reads the other. Give it a key of its own to have both, by `forKey(_:)`. Declare it as a constant, as above: each call of
/// `hasMany` makes another relation.
public protocol Relation<Target>: Sendable {
    /// The type that the relation leads to.
    associatedtype Target: TableRecord

    /// What the relation is made of.
    @_documentation(visibility: internal)
    var definition: RelationDefinition { get }

    /// Makes a relation of its parts.
    @_documentation(visibility: internal)
    init(_ definition: RelationDefinition)
}

/// A relation from the rows of a table to the one row that each refers to, by a foreign key of its own, which `belongsTo`
/// declares.
public struct BelongsTo<Target: TableRecord>: Relation {
    @_documentation(visibility: internal)
    public let definition: RelationDefinition
    @_documentation(visibility: internal)
    public init(_ definition: RelationDefinition) {
        self.definition = definition.checked(as: Self.self, isMany: false)
    }
}

/// A relation from the rows of a table to the rows that refer to each, as a list, which `hasMany`
/// declares.
public struct HasMany<Target: TableRecord>: Relation {
    @_documentation(visibility: internal)
    public let definition: RelationDefinition
    @_documentation(visibility: internal)
    public init(_ definition: RelationDefinition) {
        self.definition = definition.checked(as: Self.self, isMany: true)
    }

    /// Limits how many rows each row is given: the first ones, in the order of the relation.
    ///
    /// ```swift
    /// let best = Team.players.order { $0.score.desc }.limit(3, perParent: true)
    /// ```
    ///
    /// - Parameters:
    ///   - count: The most rows that one row is given.
    ///   - perParent: True: a limit of all rows together would leave some parents without theirs.
    public func limit(_ count: Int, perParent: Bool) -> HasMany {
        guard perParent else {
            Misuse.trap(
                "a relation has no limit of all its rows together, which would leave some parents without theirs: write "
                    + "limit(\(count), perParent: true).")
        }
        var definition = definition
        definition.limit = Swift.max(count, 0)
        return HasMany(definition)
    }
}

/// A relation from the rows of a table to one of the rows that refer to each, which `hasOne`
/// declares.
public struct HasOne<Target: TableRecord>: Relation {
    @_documentation(visibility: internal)
    public let definition: RelationDefinition
    @_documentation(visibility: internal)
    public init(_ definition: RelationDefinition) {
        self.definition = definition.checked(as: Self.self, isMany: false)
    }
}

// MARK: - What is derived

extension Relation {
    /// Returns the relation with a change of the request for its rows.
    ///
    /// ```swift
    /// extension HasMany<Player> {
    ///     func best() -> Self { refined { $0.filter { $0.score > 100 }.order { $0.score.desc } } }
    /// }
    /// ```
    public func refined(
        _ change: (QueryInterfaceRequest<Target>) throws -> QueryInterfaceRequest<Target>
    ) rethrows -> Self {
        var definition = definition
        definition.query = try change(QueryInterfaceRequest(definition.query)).query
        return Self(definition)
    }

    /// Adds a condition: rows that do not satisfy it do not belong to the relation.
    public func filter(_ condition: some SQLSpecificExpressible) -> Self { refined { $0.filter(condition) } }

    /// Adds a condition by the columns that the type declares.
    public func filter(
        _ condition: (Target.Columns.Type) throws -> some SQLSpecificExpressible
    ) rethrows -> Self { try filter(condition(Target.Columns.self)) }

    /// Adds a condition that is written in SQL.
    ///
    /// - Parameters:
    ///   - sql: The condition, as SQL.
    ///   - arguments: The values that it binds.
    public func filter(sql: String, arguments: StatementArguments = StatementArguments()) -> Self {
        refined { $0.filter(sql: sql, arguments: arguments) }
    }

    /// Leaves conditions of the ``TableRecord/databaseDefaultFilter`` of the rows out: see ``DerivableRequest/unfiltered(by:)``.
    public func unfiltered(by names: DefaultFilter.Name...) -> Self {
        refined { request in request.with { query in for name in names { query.own.leaveOut(name) } } }
    }

    /// Sorts the rows that each row is given, replacing any earlier order.
    public func order(_ terms: any SQLOrderingTerm...) -> Self { refined { $0.order(terms) } }

    /// Sorts the rows that each row is given, by columns that the type declares.
    public func order(
        @SQLOrderingBuilder _ terms: (Target.Columns.Type) throws -> [any SQLOrderingTerm]
    ) rethrows -> Self {
        let terms = try terms(Target.Columns.self)
        return refined { $0.order(terms) }
    }

    /// Reverses the order of the rows that each row is given: see ``DerivableRequest/reversed()``.
    public func reversed() -> Self { refined { $0.reversed() } }

    /// Removes the order of the rows that each row is given.
    public func unordered() -> Self { refined { $0.unordered() } }

    /// Selects columns or expressions of the rows, replacing any earlier selection.
    public func select(_ selection: any SQLSelectable...) -> Self { refined { $0.select(selection) } }

    /// Adds columns or expressions to the selection.
    public func annotated(with selection: any SQLSelectable...) -> Self {
        refined { $0.annotated(with: selection) }
    }

    /// Loads other relations of the rows along with them.
    ///
    /// ```swift
    /// Team.including(Team.players.including(Player.weapon)).fetchAll(db)   // three statements
    /// ```
    public func including(_ relations: any Relation...) -> Self {
        var definition = definition
        definition.query.include(relations)
        return Self(definition)
    }

    /// Loads the rows that the rows of the relation are related to in the same way, and so on: the levels of a tree.
    ///
    /// ```swift
    /// class Comment: Record {
    ///     static let replies = hasMany(Comment.self, using: "parentID")
    ///     static let parent = belongsTo(Comment.self, using: "parentID")
    /// }
    /// Comment.including(Comment.replies.toDepth(3)).fetchAll(db)     // as replies.including(replies.including(replies))
    /// ```
    ///
    /// One statement loads a level, and none runs below the last one that has rows. The relation of the deepest objects is not
    /// loaded: to read it throws. So does a relation that does not lead to the type that it begins with.
    ///
    /// - Parameter depth: The number of levels: 1 is the relation as it is. No more than 100 are loaded.
    public func toDepth(_ depth: Int) -> Self {
        var deep = self
        for _ in 1..<min(max(depth, 1), 100) { deep = including(deep) }
        return deep
    }

    /// Makes another relation of this one, with a key of its own: what is loaded for one is not read by the other.
    ///
    /// ```swift
    /// static let players = hasMany(Player.self)
    /// static let injured = players.filter { $0.isInjured == true }.forKey("injured")
    /// ```
    public func forKey(_ key: String) -> Self {
        var definition = definition
        definition.identity = RelationIdentity(copying: definition.identity)
        definition.givenKey = key
        return Self(definition)
    }

    /// Makes another relation of this one, with a key of its own.
    public func forKey(_ key: some CodingKey) -> Self { forKey(key.stringValue) }
}

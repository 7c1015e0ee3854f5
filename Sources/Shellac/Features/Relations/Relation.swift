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
///
/// What refines requests refines relations, too: write it once, in an extension of ``DerivableRequest``.
///
/// ```swift
/// extension DerivableRequest<Player> {
///     func best() -> Self { filter { $0.score > 100 }.order { $0.score.desc } }
/// }
/// let teams = try Team.including(Team.players.best()).fetchAll(db)
/// ```
///
/// Rows that do not satisfy a condition do not belong to the relation, and an order sorts those that each row is given. A limit and
/// groups would be of all rows together, and leave some parents without theirs: only requests have them.
public protocol Relation<Target>: DerivableRequest, Sendable where RowDecoder == Target {
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
    public typealias RowDecoder = Target

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
    public typealias RowDecoder = Target

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
    public typealias RowDecoder = Target

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
    ///
    /// - Parameter change: Returns the request, changed. It is called once, at once.
    public func refined(
        _ change: (QueryInterfaceRequest<Target>) throws -> QueryInterfaceRequest<Target>
    ) rethrows -> Self {
        var definition = definition
        definition.query = try change(QueryInterfaceRequest(definition.query)).query
        return Self(definition)
    }

    /// Loads other relations of the rows along with them.
    ///
    /// ```swift
    /// Team.including(Team.players.including(Player.weapon)).fetchAll(db)   // three statements
    /// ```
    ///
    /// - Parameter relations: The relations, which begin with the type that this one leads to.
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
    ///
    /// - Parameter key: The key. Rows have what was fetched under it, and structs that are decoded in a property of that name.
    public func forKey(_ key: String) -> Self {
        var definition = definition
        definition.identity = RelationIdentity(copying: definition.identity)
        definition.givenKey = key
        return Self(definition)
    }

    /// Makes another relation of this one, with a key of its own.
    ///
    /// - Parameter key: A key whose name is the relation's: see the method that takes a text.
    public func forKey(_ key: some CodingKey) -> Self { forKey(key.stringValue) }
}

/// A relation between two tables. Declare it once, as a static value of the type it begins with.
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
/// A relation is a value. A relation derived from it, for example by a filter or an order, is still
/// the same relation, and the same property reads it. To have both, give one a key of its own by
/// `forKey(_:)`. Declare the relation as a constant, as above, because each call of `hasMany` makes
/// another relation.
///
/// Refinements of requests also refine relations. Write them once, in an extension of
/// ``DerivableRequest``.
///
/// ```swift
/// extension DerivableRequest<Player> {
///     func best() -> Self { filter { $0.score > 100 }.order { $0.score.desc } }
/// }
/// let teams = try Team.including(Team.players.best()).fetchAll(db)
/// ```
///
/// Rows that do not satisfy a condition do not belong to the relation. An order sorts the related
/// rows of each row. Only requests have limits and groups, which would apply to all rows together
/// and leave some parents without theirs.
///
/// GRDB's names of these types are declared, too: `Association`,
/// `BelongsToAssociation<Player, Team>` and others. The first generic argument is the type that the
/// relation begins with.
public protocol Relation<Target>: DerivableRequest, Sendable where RowDecoder == Target {
    /// The type that the relation leads to.
    associatedtype Target

    /// The parts of the relation.
    @_documentation(visibility: internal)
    var definition: RelationDefinition { get }

    /// Creates a relation from its parts.
    @_documentation(visibility: internal)
    init(_ definition: RelationDefinition)
}

/// A to-one relation: each row refers to one row by a foreign key of its own. Declare it by
/// `belongsTo`.
public struct BelongsTo<Target>: Relation {
    public typealias RowDecoder = Target

    @_documentation(visibility: internal)
    public let definition: RelationDefinition
    @_documentation(visibility: internal)
    public init(_ definition: RelationDefinition) {
        self.definition = definition.checked(as: Self.self, isMany: false)
    }
}

/// A to-many relation: the list of the rows that refer to each row. Declare it by `hasMany`.
public struct HasMany<Target>: Relation {
    public typealias RowDecoder = Target

    @_documentation(visibility: internal)
    public let definition: RelationDefinition
    @_documentation(visibility: internal)
    public init(_ definition: RelationDefinition) {
        self.definition = definition.checked(as: Self.self, isMany: true)
    }

    /// Limits the number of related rows of each row. The first ones stay, in the order of the
    /// relation.
    ///
    /// ```swift
    /// let best = Team.players.order { $0.score.desc }.limitPerParent(3)
    /// ```
    ///
    /// - Parameter count: The most related rows of one row.
    public func limitPerParent(_ count: Int) -> HasMany {
        var definition = definition
        definition.limit = Swift.max(count, 0)
        return HasMany(definition)
    }

    @available(*, unavailable, renamed: "limitPerParent(_:)")
    public func limit(_ count: Int) -> HasMany { limitPerParent(count) }

    @available(*, unavailable, message: "Use limitPerParent(_:)")
    public func limit(_ count: Int, perParent: Bool) -> HasMany { limitPerParent(count) }
}

/// A to-one relation: one of the rows that refer to each row. Declare it by `hasOne`.
public struct HasOne<Target>: Relation {
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
    /// - Parameter change: Returns the changed request. It is called once, immediately.
    public func refined(
        _ change: (QueryInterfaceRequest<Target>) throws -> QueryInterfaceRequest<Target>
    ) rethrows -> Self {
        var definition = definition
        definition.query = try change(QueryInterfaceRequest(definition.query)).query
        return Self(definition)
    }

    /// Returns the relation, with other relations of its rows loaded along with them.
    ///
    /// ```swift
    /// Team.including(Team.players.including(Player.weapon)).fetchAll(db)   // three statements
    /// ```
    ///
    /// - Parameter relations: The relations. They begin with the type that this one leads to.
    public func including(_ relations: any Relation...) -> Self {
        var definition = definition
        definition.query.include(relations)
        return Self(definition)
    }

    /// Returns the relation, loaded for its own rows in the same way down to a depth. This loads
    /// the levels of a tree.
    ///
    /// ```swift
    /// class Comment: Record {
    ///     static let replies = hasMany(Comment.self, using: "parentID")
    ///     static let parent = belongsTo(Comment.self, using: "parentID")
    /// }
    /// Comment.including(Comment.replies.recursively(depth: 3)).fetchAll(db)     // as replies.including(replies.including(replies))
    /// ```
    ///
    /// One statement loads each level. No statement runs below the last level with rows. The
    /// relation of the deepest objects is not loaded, so reading it throws. A relation that does
    /// not lead to the type that it begins with throws as well.
    ///
    /// - Parameter depth: The number of levels. 1 is the relation as it is, and at most 100 are
    ///   loaded.
    public func recursively(depth: Int) -> Self {
        var deep = self
        for _ in 1..<min(max(depth, 1), 100) { deep = including(deep) }
        return deep
    }

    @available(*, unavailable, renamed: "recursively(depth:)")
    public func toDepth(_ depth: Int) -> Self { recursively(depth: depth) }

    /// Returns a separate relation with a key of its own. Objects that are loaded for one relation
    /// are not read by the other.
    ///
    /// ```swift
    /// static let players = hasMany(Player.self)
    /// static let injured = players.filter { $0.isInjured == true }.forKey("injured")
    /// ```
    ///
    /// - Parameter key: The key. Rows contain the related rows under this key, and structs decode
    ///   them into a property of this name.
    public func forKey(_ key: String) -> Self {
        var definition = definition
        definition.identity = RelationIdentity(copying: definition.identity)
        definition.givenKey = key
        return Self(definition)
    }

    /// Returns a separate relation with a key of its own.
    ///
    /// - Parameter key: A key whose name becomes the relation's key: see the method that takes a
    ///   string.
    public func forKey(_ key: some CodingKey) -> Self { forKey(key.stringValue) }
}

// The declarations of relations.
//
// Each function has two overloads. The one for class records makes the objects of loaded rows where
// their class is known, in code that the compiler has specialised.

extension TableRecord {
    /// Declares that each row refers to one row of another table, by a foreign key.
    ///
    /// ```swift
    /// class Player: Record {
    ///     static let team = belongsTo(Team.self)
    ///     var team: Team? { get throws { try self[Player.team] } }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - target: The class of the other rows.
    ///   - key: The key of the relation: see `forKey(_:)`. By default, the name of the other
    ///     table.
    ///   - foreignKey: The columns of the foreign key. Name them if the schema has no key between
    ///     the tables, or several.
    @inlinable
    public static func belongsTo<Target: Record>(
        _ target: Target.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> BelongsTo<Target> {
        BelongsTo(_relation(target, key, foreignKey, isUp: true, isMany: false, RelatedClass(target)))
    }

    /// Declares that each row refers to one row of another table, by a foreign key.
    ///
    /// - Parameters:
    ///   - target: The type of the other rows.
    ///   - key: The key of the relation: see `forKey(_:)`. By default, the name of the other
    ///     table.
    ///   - foreignKey: The columns of the foreign key. Name them if the schema has no key between
    ///     the tables, or several.
    public static func belongsTo<Target: TableRecord>(
        _ target: Target.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> BelongsTo<Target> { BelongsTo(_relation(target, key, foreignKey, isUp: true, isMany: false, nil)) }

    /// Declares that rows of another table refer to each row.
    ///
    /// ```swift
    /// class Team: Record {
    ///     static let players = hasMany(Player.self)
    ///     var players: [Player] { get throws { try self[Team.players] } }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - target: The class of the other rows.
    ///   - key: The key of the relation: see `forKey(_:)`. By default, the name of the other
    ///     table.
    ///   - foreignKey: The columns of the foreign key in the other table. Name them if the schema
    ///     has no key between the tables, or several.
    @inlinable
    public static func hasMany<Target: Record>(
        _ target: Target.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasMany<Target> {
        HasMany(_relation(target, key, foreignKey, isUp: false, isMany: true, RelatedClass(target)))
    }

    /// Declares that rows of another table refer to each row.
    ///
    /// - Parameters:
    ///   - target: The type of the other rows.
    ///   - key: The key of the relation: see `forKey(_:)`. By default, the name of the other
    ///     table.
    ///   - foreignKey: The columns of the foreign key in the other table. Name them if the schema
    ///     has no key between the tables, or several.
    public static func hasMany<Target: TableRecord>(
        _ target: Target.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasMany<Target> { HasMany(_relation(target, key, foreignKey, isUp: false, isMany: true, nil)) }

    /// Declares that a row of another table refers to each row. If several do, the relation leads
    /// to the first one in its order.
    ///
    /// - Parameters:
    ///   - target: The class of the other rows.
    ///   - key: The key of the relation: see `forKey(_:)`. By default, the name of the other
    ///     table.
    ///   - foreignKey: The columns of the foreign key in the other table. Name them if the schema
    ///     has no key between the tables, or several.
    @inlinable
    public static func hasOne<Target: Record>(
        _ target: Target.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasOne<Target> {
        HasOne(_relation(target, key, foreignKey, isUp: false, isMany: false, RelatedClass(target)))
    }

    /// Declares that a row of another table refers to each row.
    ///
    /// - Parameters:
    ///   - target: The type of the other rows.
    ///   - key: The key of the relation: see `forKey(_:)`. By default, the name of the other
    ///     table.
    ///   - foreignKey: The columns of the foreign key in the other table. Name them if the schema
    ///     has no key between the tables, or several.
    public static func hasOne<Target: TableRecord>(
        _ target: Target.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    ) -> HasOne<Target> { HasOne(_relation(target, key, foreignKey, isUp: false, isMany: false, nil)) }

    @usableFromInline
    static func _relation(
        _ target: any TableRecord.Type, _ key: String?, _ foreignKey: ForeignKey?, isUp: Bool, isMany: Bool,
        _ made: RelatedClass?
    ) -> RelationDefinition {
        RelationDefinition(
            .type(self), isUp ? .up : .down, .type(target), key, foreignKey, isMany: isMany, target: made)
    }

    // MARK: - Through others

    /// Declares that each row is related to rows of another table through those of a third one.
    ///
    /// ```swift
    /// class Post: Record {
    ///     static let taggings = hasMany(Tagging.self)
    ///     static let tags = hasMany(Tag.self, through: taggings, using: Tagging.tag)
    ///     var tags: [Tag] { get throws { try self[Post.tags] } }
    /// }
    /// ```
    ///
    /// The refinements of the relation to the rows in between apply: its conditions, its order, and
    /// its limit for each parent.
    ///
    /// ```swift
    /// static let firstTags = hasMany(
    ///     Tag.self, through: taggings.order { $0.position }.limitPerParent(3), using: Tagging.tag)
    /// ```
    ///
    /// The order of the rows in between comes first, followed by that of `relation`. An order of
    /// the whole relation, such as `firstTags.order { $0.name }`, replaces both and keeps the
    /// limit. A limit of `relation` would apply to each row in between. If there are many of these,
    /// every use of the relation throws a ``RelationError``.
    ///
    /// - Parameters:
    ///   - target: The type of the other rows.
    ///   - path: The relation to the rows in between.
    ///   - relation: The relation from these to the other rows.
    ///   - key: The key of the relation: see `forKey(_:)`. By default, the name of the other
    ///     table.
    public static func hasMany<Target: TableRecord>(
        _ target: Target.Type, through path: some Relation, using relation: some Relation<Target>,
        key: String? = nil
    ) -> HasMany<Target> {
        HasMany(
            RelationDefinition(through: path.definition, using: relation.definition, isMany: true, key: key))
    }

    /// Declares that each row is related to one row of another table through one of a third one.
    ///
    /// - Parameters:
    ///   - target: The type of the other rows.
    ///   - path: The relation to the rows in between.
    ///   - relation: The relation from these to the other rows.
    ///   - key: The key of the relation: see `forKey(_:)`. By default, the name of the other
    ///     table.
    public static func hasOne<Target: TableRecord>(
        _ target: Target.Type, through path: some Relation, using relation: some Relation<Target>,
        key: String? = nil
    ) -> HasOne<Target> {
        HasOne(
            RelationDefinition(through: path.definition, using: relation.definition, isMany: false, key: key))
    }
}

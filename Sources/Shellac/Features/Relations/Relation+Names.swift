// GRDB's names of relations, for stored properties and generic functions.

/// GRDB's name of a relation.
public typealias Association = Relation
/// GRDB's name of the relations that `belongsTo` declares.
public typealias BelongsToAssociation<Origin, Destination> = BelongsTo<Destination>
/// GRDB's name of the relations that `hasMany` declares.
public typealias HasManyAssociation<Origin, Destination> = HasMany<Destination>
/// GRDB's name of the relations that `hasMany(_:through:using:)` declares.
public typealias HasManyThroughAssociation<Origin, Destination> = HasMany<Destination>
/// GRDB's name of the relations that `hasOne` declares.
public typealias HasOneAssociation<Origin, Destination> = HasOne<Destination>
/// GRDB's name of the relations that `hasOne(_:through:using:)` declares.
public typealias HasOneThroughAssociation<Origin, Destination> = HasOne<Destination>

/// A relation that leads to at most one row.
public protocol AssociationToOne<Target>: Relation {}

extension BelongsTo: AssociationToOne {}
extension HasOne: AssociationToOne {}

// GRDB's names of relations, for stored properties and generic functions.

public typealias Association = Relation
public typealias BelongsToAssociation<Origin, Destination> = BelongsTo<Destination>
public typealias HasManyAssociation<Origin, Destination> = HasMany<Destination>
public typealias HasManyThroughAssociation<Origin, Destination> = HasMany<Destination>
public typealias HasOneAssociation<Origin, Destination> = HasOne<Destination>
public typealias HasOneThroughAssociation<Origin, Destination> = HasOne<Destination>

/// A relation that leads to at most one row.
public protocol AssociationToOne<Target>: Relation {}

extension BelongsTo: AssociationToOne {}
extension HasOne: AssociationToOne {}

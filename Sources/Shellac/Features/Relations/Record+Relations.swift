// Reading and setting the related objects of a record.
//
// Reading accesses no database. If a relation was not loaded, the error says how to load it.

extension Record {
    /// The loaded related records, as a list.
    ///
    /// ```swift
    /// var players: [Player] { get throws { try self[Team.players] } }
    /// ```
    ///
    /// - Parameters:
    ///   - relation: The relation, or one derived from it in any way but `forKey(_:)`.
    ///   - property: The name of the property that reads the relation, for errors. Leave it to its
    ///     default.
    /// - Throws: ``RelationError/notLoaded(relation:recordType:)``, and
    ///   ``RelationError/wrongOwner(relation:recordType:)`` if the relation belongs to another
    ///   class.
    @inlinable
    public final subscript<Target: Record>(
        _ relation: HasMany<Target>, property: String = #function
    ) -> [Target] {
        get throws {
            let objects = try loaded(relation.definition, property)
            return unsafeDowncast(objects, to: RelatedMany<Target>.self).objects
        }
    }

    /// The loaded related record, or nil if there is none.
    ///
    /// - Parameters:
    ///   - relation: The relation, or one derived from it in any way but `forKey(_:)`.
    ///   - property: The name of the property that reads the relation, for errors. Leave it to its
    ///     default.
    /// - Throws: ``RelationError/notLoaded(relation:recordType:)``, and
    ///   ``RelationError/wrongOwner(relation:recordType:)`` if the relation belongs to another
    ///   class.
    @inlinable
    public final subscript<Target: Record>(
        _ relation: HasOne<Target>, property: String = #function
    ) -> Target? {
        get throws {
            let objects = try loaded(relation.definition, property)
            return unsafeDowncast(objects, to: RelatedOne<Target>.self).object
        }
    }

    /// The record that this one refers to, or nil if it refers to none.
    ///
    /// A record that was loaded for another one by `hasMany` or `hasOne` leads back to it. The
    /// relation need not be loaded for that.
    ///
    /// - Parameters:
    ///   - relation: The relation, or one derived from it in any way but `forKey(_:)`.
    ///   - property: The name of the property that reads the relation, for errors. Leave it to its
    ///     default.
    /// - Throws: ``RelationError/notLoaded(relation:recordType:)``.
    ///   ``RelationError/released(relation:recordType:)`` if the way back ends, because the program
    ///   has not kept that record. ``RelationError/wrongOwner(relation:recordType:)`` if the
    ///   relation belongs to another class.
    @inlinable
    public final subscript<Target: Record>(
        _ relation: BelongsTo<Target>, property: String = #function
    ) -> Target? {
        get throws {
            if let owner = try owner(relation.definition, property) {
                return owner.map { unsafeDowncast($0, to: Target.self) }
            }
            let objects = try loaded(relation.definition, property)
            return unsafeDowncast(objects, to: RelatedOne<Target>.self).object
        }
    }

    /// Returns the loaded objects of a relation. Throws if it was not loaded.
    @usableFromInline
    final func loaded(_ definition: RelationDefinition, _ property: String) throws -> RelatedObjects {
        if let objects = related(by: definition.identity) { return objects }
        try definition.checkOwner(.type(type(of: self)))
        throw RelationError.notLoaded(
            relation: definition.name(readBy: property), recordType: "\(type(of: self))")
    }

    /// Returns the record that this one was loaded for, if a relation leads back to it. The inner
    /// optional is nil if this record no longer refers to one. The outer one is nil if the relation
    /// itself was loaded, or nothing leads back.
    @usableFromInline
    final func owner(_ definition: RelationDefinition, _ property: String) throws -> Record?? {
        var back: RelatedOwner?
        var objects = related
        while let candidate = objects {
            if candidate.identity === definition.identity { return nil }
            if candidate.identity == nil, back == nil {
                let owner = unsafeDowncast(candidate, to: RelatedOwner.self)
                if owner.isReached(by: definition) { back = owner }
            }
            objects = candidate.next
        }
        guard let back else { return nil }
        if back.isNowhere { return .some(nil) }
        if let owner = back.owner { return owner }
        throw RelationError.released(
            relation: definition.name(readBy: property), recordType: "\(type(of: self))")
    }

    // MARK: - Giving

    /// Sets the related records, as if they had been loaded. This saves nothing. The foreign keys
    /// of the related records stay unchanged until this record is saved along with them.
    ///
    /// - Parameters:
    ///   - relation: A relation of the record's class.
    ///   - records: The records that the relation then returns, in this order.
    public final func set<Target: Record>(_ relation: HasMany<Target>, to records: [Target]) {
        give(RelatedMany(relation.definition.identity, records, saved: nil))
    }

    /// Sets the related record, or none, as if it had been loaded. This saves nothing. The foreign
    /// key of the related record stays unchanged until this record is saved along with it.
    ///
    /// - Parameters:
    ///   - relation: A relation of the record's class.
    ///   - record: The record that the relation then returns. Nil for none.
    public final func set<Target: Record>(_ relation: HasOne<Target>, to record: Target?) {
        give(RelatedOne(relation.definition.identity, record, saved: nil))
    }

    /// Sets the record that this one refers to, or none, as if it had been loaded. This saves
    /// nothing. The foreign key is filled in only when both are saved by
    /// ``save(_:with:_:removed:)``.
    ///
    /// Any other save that would store a NULL foreign key throws a ``RelationError``, which says
    /// what to do. Either set the key too, as in `player.teamID = team.id`, or save both.
    ///
    /// - Parameters:
    ///   - relation: A relation of the record's class.
    ///   - record: The record that the relation then returns. Nil for none.
    public final func set<Target: Record>(_ relation: BelongsTo<Target>, to record: Target?) {
        // The record that it referred to before is not removed.
        attach(RelatedOne(relation.definition.identity, record, saved: nil))
    }

    /// Sets related records in place of the loaded ones.
    private func give(_ objects: RelatedObjects) {
        let before = objects.identity.flatMap(related(by:))
        attach(objects.saved(as: before?.savedRecords))
    }
}

extension RelationDefinition {
    /// Returns the name of the relation in the code that reads it: the name of the reading
    /// property. This does not apply to a subscript, to a function of another use, or to the module
    /// (outside of functions).
    fileprivate func name(readBy property: String) -> String {
        let isName =
            property.first?.isLowercase ?? false
            && property.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        return name(givenKey ?? (isName ? property : nil))
    }
}

// Related objects are read from a record. No database is asked: what was not loaded is an error that says how to load it.

extension Record {
    /// The related records that were loaded, as a list.
    ///
    /// ```swift
    /// var players: [Player] { get throws { try self[Team.players] } }
    /// ```
    ///
    /// - Parameters:
    ///   - relation: The relation, or one that is derived from it by other than `forKey(_:)`.
    ///   - property: The name of the property that reads the relation, by which an error calls it. Leave it to its default.
    /// - Throws: ``RelationError/notLoaded(relation:recordType:)``, and
    ///   ``RelationError/wrongOwner(relation:recordType:)`` where the relation is one of another class.
    @inlinable
    public final subscript<Target: Record>(
        _ relation: HasMany<Target>, property: String = #function
    ) -> [Target] {
        get throws {
            let objects = try loaded(relation.definition, property)
            return unsafeDowncast(objects, to: RelatedMany<Target>.self).objects
        }
    }

    /// The related record that was loaded, or nil where there is none.
    ///
    /// - Parameters:
    ///   - relation: The relation, or one that is derived from it by other than `forKey(_:)`.
    ///   - property: The name of the property that reads the relation, by which an error calls it. Leave it to its default.
    /// - Throws: ``RelationError/notLoaded(relation:recordType:)``, and
    ///   ``RelationError/wrongOwner(relation:recordType:)`` where the relation is one of another class.
    @inlinable
    public final subscript<Target: Record>(
        _ relation: HasOne<Target>, property: String = #function
    ) -> Target? {
        get throws {
            let objects = try loaded(relation.definition, property)
            return unsafeDowncast(objects, to: RelatedOne<Target>.self).object
        }
    }

    /// The record that this one refers to, or nil where it refers to none.
    ///
    /// A record that was loaded for another one, by `hasMany` or `hasOne`, leads back to that without having been loaded.
    ///
    /// - Parameters:
    ///   - relation: The relation, or one that is derived from it by other than `forKey(_:)`.
    ///   - property: The name of the property that reads the relation, by which an error calls it. Leave it to its default.
    /// - Throws: ``RelationError/notLoaded(relation:recordType:)``;
    ///   ``RelationError/released(relation:recordType:)`` where the way back ends, because nobody has kept that record; and
    ///   ``RelationError/wrongOwner(relation:recordType:)`` where the relation is one of another class.
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

    /// What was loaded for a relation.
    @usableFromInline
    final func loaded(_ definition: RelationDefinition, _ property: String) throws -> RelatedObjects {
        if let objects = related(by: definition.identity) { return objects }
        try definition.checkOwner(type(of: self))
        throw RelationError.notLoaded(
            relation: definition.name(readBy: property), recordType: "\(type(of: self))")
    }

    /// The record that this one was loaded for, where a relation leads back to it: nil inside where it refers to none any more.
    /// Nil where the relation itself was loaded, or nothing leads back.
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

    /// Gives the record related records, as if they had been loaded. Nothing is saved: what they refer to themselves is
    /// what it was, until this record is saved along with them.
    ///
    /// - Parameters:
    ///   - relation: A relation of the record's class.
    ///   - records: What is read from it then, in this order.
    public final func set<Target: Record>(_ relation: HasMany<Target>, to records: [Target]) {
        give(RelatedMany(relation.definition.identity, records, saved: nil))
    }

    /// Gives the record a related record, or none, as if it had been loaded. Nothing is saved: what that refers to itself is
    /// what it was, until this record is saved along with it.
    ///
    /// - Parameters:
    ///   - relation: A relation of the record's class.
    ///   - record: What is read from it then. Nil for none.
    public final func set<Target: Record>(_ relation: HasOne<Target>, to record: Target?) {
        give(RelatedOne(relation.definition.identity, record, saved: nil))
    }

    /// Gives the record the record that it refers to, or none, as if it had been loaded. Nothing is saved, and the foreign key is not
    /// filled in, until both are saved by ``save(_:with:_:removed:)``.
    ///
    /// Whatever else would store the record with a foreign key that is NULL throws a ``RelationError``, which says what to do: set the
    /// key, too, as `player.teamID = team.id`, or save both.
    ///
    /// - Parameters:
    ///   - relation: A relation of the record's class.
    ///   - record: What is read from it then. Nil for none.
    public final func set<Target: Record>(_ relation: BelongsTo<Target>, to record: Target?) {
        // What it referred to before is not removed.
        relate(RelatedOne(relation.definition.identity, record, saved: nil))
    }

    /// Gives the record related records, in the place of those that were loaded.
    private func give(_ objects: RelatedObjects) {
        let before = objects.identity.flatMap(related(by:))
        relate(objects.saved(as: before?.savedRecords))
    }
}

extension RelationDefinition {
    /// The relation as the code names it that reads it: by the property that reads it, unless that is a subscript, a
    /// function of another use, or the module, as it is in code outside of any function.
    fileprivate func name(readBy property: String) -> String {
        let isName =
            property.first?.isLowercase ?? false
            && property.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        return name(givenKey ?? (isName ? property : nil))
    }
}

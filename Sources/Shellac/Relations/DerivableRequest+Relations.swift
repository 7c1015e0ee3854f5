// Requests of several tables, which their relations say.

extension DerivableRequest where RowDecoder: Record {
    /// Loads relations for the records of the request: one more statement for each relation.
    ///
    /// ```swift
    /// let teams = try Team.including(Team.players.order { $0.score.desc }, Team.captain).fetchAll(db)
    /// ```
    ///
    /// All statements see one state of the database.
    public func including(_ relations: any Relation...) -> QueryInterfaceRequest<RowDecoder> {
        including(relations)
    }

    /// Loads relations for the records of the request: one more statement for each relation.
    public func including(_ relations: [any Relation]) -> QueryInterfaceRequest<RowDecoder> {
        all().with { $0.include(relations) }
    }
}

extension TableRecord where Self: Record {
    /// Requests all records, and relations of them: one more statement for each relation.
    ///
    /// ```swift
    /// let teams = try Team.including(Team.players, Team.captain).fetchAll(db)
    /// ```
    public static func including(_ relations: any Relation...) -> QueryInterfaceRequest<Self> {
        all().including(relations)
    }
}

extension DerivableRequest {
    // MARK: - Fetching related rows

    /// Joins each row with the related one, and fetches both: rows without a related one are left out (`JOIN`).
    ///
    /// ```swift
    /// let players = try Player.including(required: Player.team.filter { $0.color == "red" }).fetchAll(db)
    /// let team = try players[0].team
    /// ```
    ///
    /// The related row is read by the property of a class record that reads the relation; from `row.scopes["team"]`; or as
    /// the property `team` of a `Decodable` struct:
    ///
    /// ```swift
    /// struct PlayerInfo: FetchableRecord, Decodable {
    ///     var player: Player
    ///     var team: Team
    /// }
    /// let infos = try Player.including(required: Player.team).asRequest(of: PlayerInfo.self).fetchAll(db)
    /// ```
    ///
    /// Where several rows are related to one, the request has a row for each of them.
    public func including(required relation: some Relation) -> QueryInterfaceRequest<RowDecoder> {
        all().with {
            $0.include(RelationJoin(definition: relation.definition, isRequired: true, isIncluded: true))
        }
    }

    /// Joins each row with the related one, and fetches both: rows without a related one are kept (`LEFT JOIN`).
    ///
    /// See ``including(required:)`` for how the related row is read, which may be missing.
    public func including(optional relation: some Relation) -> QueryInterfaceRequest<RowDecoder> {
        all().with {
            $0.include(RelationJoin(definition: relation.definition, isRequired: false, isIncluded: true))
        }
    }

    /// Fetches all rows that are related to those of the request, by a statement of their own.
    ///
    /// ```swift
    /// struct TeamInfo: FetchableRecord, Decodable {
    ///     var team: Team
    ///     var players: [Player]
    /// }
    /// let infos = try Team.including(all: Team.players).asRequest(of: TeamInfo.self).fetchAll(db)
    /// ```
    ///
    /// They are read by the property of a class record that reads the relation; from `row.prefetchedRows["players"]`; or as
    /// the property `players` of a `Decodable` struct.
    public func including<Target>(all relation: HasMany<Target>) -> QueryInterfaceRequest<RowDecoder> {
        all().with { $0.include([relation]) }
    }

    // MARK: - Joining

    /// Joins each row with the related one, which is not fetched: rows without a related one are left out (`JOIN`).
    ///
    /// ```swift
    /// let reds = try Player.joining(required: Player.team.filter { $0.color == "red" }).fetchAll(db)
    /// // SELECT "player".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamID" AND "team"."color" = 'red'
    /// ```
    public func joining(required relation: some Relation) -> QueryInterfaceRequest<RowDecoder> {
        all().with { $0.include(RelationJoin(definition: relation.definition, isRequired: true)) }
    }

    /// Joins each row with the related one, which is not fetched: rows without a related one are kept (`LEFT JOIN`).
    ///
    /// It serves conditions and orders that name columns of the other table: see ``TableAlias``.
    public func joining(optional relation: some Relation) -> QueryInterfaceRequest<RowDecoder> {
        all().with { $0.include(RelationJoin(definition: relation.definition, isRequired: false)) }
    }

    /// Joins each row with the related one, and adds what the relation selects to the columns of the row: rows without a
    /// related one are left out (`JOIN`).
    ///
    /// ```swift
    /// Player.annotated(withRequired: Player.team.select(Column("color")))
    /// ```
    public func annotated(withRequired relation: some Relation) -> QueryInterfaceRequest<RowDecoder> {
        all().with {
            $0.include(RelationJoin(definition: relation.definition, isRequired: true, isAnnotating: true))
        }
    }

    /// Joins each row with the related one, and adds what the relation selects to the columns of the row: rows without a
    /// related one are kept (`LEFT JOIN`).
    public func annotated(withOptional relation: some Relation) -> QueryInterfaceRequest<RowDecoder> {
        all().with {
            $0.include(RelationJoin(definition: relation.definition, isRequired: false, isAnnotating: true))
        }
    }
}

extension TableRecord {
    /// Requests all rows, each joined with the related one, and fetches both: see ``DerivableRequest/including(required:)``.
    public static func including(required relation: some Relation) -> QueryInterfaceRequest<Self> {
        all().including(required: relation)
    }

    /// Requests all rows, each joined with the related one where there is one, and fetches both: see
    /// ``DerivableRequest/including(optional:)``.
    public static func including(optional relation: some Relation) -> QueryInterfaceRequest<Self> {
        all().including(optional: relation)
    }

    /// Requests all rows, and those that are related to them: see ``DerivableRequest/including(all:)``.
    public static func including<Target>(all relation: HasMany<Target>) -> QueryInterfaceRequest<Self> {
        all().including(all: relation)
    }

    /// Requests the rows that have a related one: see ``DerivableRequest/joining(required:)``.
    public static func joining(required relation: some Relation) -> QueryInterfaceRequest<Self> {
        all().joining(required: relation)
    }

    /// Requests all rows, each joined with the related one: see ``DerivableRequest/joining(optional:)``.
    public static func joining(optional relation: some Relation) -> QueryInterfaceRequest<Self> {
        all().joining(optional: relation)
    }

    /// Requests the rows that have a related one, with columns of that: see ``DerivableRequest/annotated(withRequired:)``.
    public static func annotated(withRequired relation: some Relation) -> QueryInterfaceRequest<Self> {
        all().annotated(withRequired: relation)
    }

    /// Requests all rows, with columns of the related ones: see ``DerivableRequest/annotated(withOptional:)``.
    public static func annotated(withOptional relation: some Relation) -> QueryInterfaceRequest<Self> {
        all().annotated(withOptional: relation)
    }
}

extension Relation {
    /// Joins the rows of the relation with those of another one, and fetches both: see
    /// ``DerivableRequest/including(required:)``.
    public func including(required relation: some Relation) -> Self {
        refined { $0.including(required: relation) }
    }

    /// Joins the rows of the relation with those of another one, and fetches both: see
    /// ``DerivableRequest/including(optional:)``.
    public func including(optional relation: some Relation) -> Self {
        refined { $0.including(optional: relation) }
    }

    /// Fetches all rows of another relation for those of this one: see ``DerivableRequest/including(all:)``.
    public func including<Other>(all relation: HasMany<Other>) -> Self {
        refined { $0.including(all: relation) }
    }

    /// Joins the rows of the relation with those of another one: see ``DerivableRequest/joining(required:)``.
    public func joining(required relation: some Relation) -> Self {
        refined { $0.joining(required: relation) }
    }

    /// Joins the rows of the relation with those of another one: see ``DerivableRequest/joining(optional:)``.
    public func joining(optional relation: some Relation) -> Self {
        refined { $0.joining(optional: relation) }
    }

    /// Adds columns of another relation to those of this one: see ``DerivableRequest/annotated(withRequired:)``.
    public func annotated(withRequired relation: some Relation) -> Self {
        refined { $0.annotated(withRequired: relation) }
    }

    /// Adds columns of another relation to those of this one: see ``DerivableRequest/annotated(withOptional:)``.
    public func annotated(withOptional relation: some Relation) -> Self {
        refined { $0.annotated(withOptional: relation) }
    }

    /// Names the table of the relation in a request that joins it, so that conditions may name its columns.
    ///
    /// ```swift
    /// let team = TableAlias()
    /// Player.joining(required: Player.team.aliased(team)).filter(team[Column("founded")] < Column("born"))
    /// ```
    public func aliased(_ alias: TableAlias) -> Self { refined { $0.aliased(alias) } }
}

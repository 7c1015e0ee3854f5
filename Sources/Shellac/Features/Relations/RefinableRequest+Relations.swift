// Requests of several tables, which their relations say.

extension RefinableRequest where RowDecoder: Record {
    /// Loads relations for the records of the request: one more statement for each relation.
    ///
    /// ```swift
    /// let teams = try Team.including(Team.players.order { $0.score.desc }, Team.captain).fetchAll(db)
    /// ```
    ///
    /// All statements see one state of the database.
    ///
    /// - Parameter relations: The relations, which begin with the type of the request. One that is named twice is refused when the
    ///   records are loaded.
    @_disfavoredOverload  // Relations lead to rows of structs, too, and have one of their own.
    public func including(_ relations: any Relation...) -> Refined {
        including(relations)
    }

    /// Loads relations for the records of the request: one more statement for each relation.
    ///
    /// - Parameter relations: The relations, which begin with the type of the request. One that is named twice is refused when the
    ///   records are loaded.
    public func including(_ relations: [any Relation]) -> Refined {
        derived { $0.include(relations) }
    }
}

extension TableRecord where Self: Record {
    /// Requests all records, and relations of them: one more statement for each relation.
    ///
    /// ```swift
    /// let teams = try Team.including(Team.players, Team.captain).fetchAll(db)
    /// ```
    ///
    /// - Parameter relations: The relations, which begin with this type. One that is named twice is refused when the records are
    ///   loaded.
    public static func including(_ relations: any Relation...) -> QueryInterfaceRequest<Self> {
        all().including(relations)
    }
}

extension RefinableRequest {
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
    ///
    /// - Parameter relation: The relation, which begins with the type of the request. A condition of it says which rows are
    ///   related.
    public func including(required relation: some Relation) -> Refined {
        derived {
            $0.include(RelationJoin(definition: relation.definition, isRequired: true, isIncluded: true))
        }
    }

    /// Joins each row with the related one, and fetches both: rows without a related one are kept (`LEFT JOIN`).
    ///
    /// See ``including(required:)`` for how the related row is read, which may be missing.
    ///
    /// - Parameter relation: The relation, which begins with the type of the request. A condition of it says which rows are
    ///   related.
    public func including(optional relation: some Relation) -> Refined {
        derived {
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
    ///
    /// - Parameter relation: The relation, which begins with the type of the request. Its order is that of the rows of each list.
    public func including<Target>(all relation: HasMany<Target>) -> Refined {
        derived { $0.include([relation]) }
    }

    // MARK: - Joining

    /// Joins each row with the related one, which is not fetched: rows without a related one are left out (`JOIN`).
    ///
    /// ```swift
    /// let reds = try Player.joining(required: Player.team.filter { $0.color == "red" }).fetchAll(db)
    /// // SELECT "player".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamID" AND "team"."color" = 'red'
    /// ```
    ///
    /// - Parameter relation: The relation, which begins with the type of the request. A condition of it says which rows are
    ///   related.
    public func joining(required relation: some Relation) -> Refined {
        derived { $0.include(RelationJoin(definition: relation.definition, isRequired: true)) }
    }

    /// Joins each row with the related one, which is not fetched: rows without a related one are kept (`LEFT JOIN`).
    ///
    /// It serves conditions and orders that name columns of the other table: see ``TableAlias``.
    ///
    /// - Parameter relation: The relation, which begins with the type of the request. A condition of it says which rows are
    ///   related.
    public func joining(optional relation: some Relation) -> Refined {
        derived { $0.include(RelationJoin(definition: relation.definition, isRequired: false)) }
    }

    /// Joins each row with the related one, and adds what the relation selects to the columns of the row: rows without a
    /// related one are left out (`JOIN`).
    ///
    /// ```swift
    /// Player.annotated(withRequired: Player.team.select(Column("color")))
    /// ```
    ///
    /// - Parameter relation: The relation, which begins with the type of the request. Without a selection of its own, it adds what
    ///   ``TableRecord/databaseSelection`` says.
    public func annotated(withRequired relation: some Relation) -> Refined {
        derived {
            $0.include(RelationJoin(definition: relation.definition, isRequired: true, isAnnotating: true))
        }
    }

    /// Joins each row with the related one, and adds what the relation selects to the columns of the row: rows without a
    /// related one are kept (`LEFT JOIN`).
    ///
    /// - Parameter relation: The relation, which begins with the type of the request. Without a selection of its own, it adds what
    ///   ``TableRecord/databaseSelection`` says.
    public func annotated(withOptional relation: some Relation) -> Refined {
        derived {
            $0.include(RelationJoin(definition: relation.definition, isRequired: false, isAnnotating: true))
        }
    }
}

extension TableRecord {
    /// Requests all rows, each joined with the related one, and fetches both: see ``RefinableRequest/including(required:)``.
    ///
    /// - Parameter relation: The relation, which begins with this type. A condition of it says which rows are related.
    public static func including(required relation: some Relation) -> QueryInterfaceRequest<Self> {
        all().including(required: relation)
    }

    /// Requests all rows, each joined with the related one where there is one, and fetches both: see
    /// ``RefinableRequest/including(optional:)``.
    ///
    /// - Parameter relation: The relation, which begins with this type. A condition of it says which rows are related.
    public static func including(optional relation: some Relation) -> QueryInterfaceRequest<Self> {
        all().including(optional: relation)
    }

    /// Requests all rows, and those that are related to them: see ``RefinableRequest/including(all:)``.
    ///
    /// - Parameter relation: The relation, which begins with this type. Its order is that of the rows of each list.
    public static func including<Target>(all relation: HasMany<Target>) -> QueryInterfaceRequest<Self> {
        all().including(all: relation)
    }

    /// Requests the rows that have a related one: see ``RefinableRequest/joining(required:)``.
    ///
    /// - Parameter relation: The relation, which begins with this type. A condition of it says which rows are related.
    public static func joining(required relation: some Relation) -> QueryInterfaceRequest<Self> {
        all().joining(required: relation)
    }

    /// Requests all rows, each joined with the related one: see ``RefinableRequest/joining(optional:)``.
    ///
    /// - Parameter relation: The relation, which begins with this type. A condition of it says which rows are related.
    public static func joining(optional relation: some Relation) -> QueryInterfaceRequest<Self> {
        all().joining(optional: relation)
    }

    /// Requests the rows that have a related one, with columns of that: see ``RefinableRequest/annotated(withRequired:)``.
    ///
    /// - Parameter relation: The relation, which begins with this type. Without a selection of its own, it adds what
    ///   ``TableRecord/databaseSelection`` says.
    public static func annotated(withRequired relation: some Relation) -> QueryInterfaceRequest<Self> {
        all().annotated(withRequired: relation)
    }

    /// Requests all rows, with columns of the related ones: see ``RefinableRequest/annotated(withOptional:)``.
    ///
    /// - Parameter relation: The relation, which begins with this type. Without a selection of its own, it adds what
    ///   ``TableRecord/databaseSelection`` says.
    public static func annotated(withOptional relation: some Relation) -> QueryInterfaceRequest<Self> {
        all().annotated(withOptional: relation)
    }
}

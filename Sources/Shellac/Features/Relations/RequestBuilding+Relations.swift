// Requests for several tables, connected by relations.

extension RequestBuilding where RowDecoder: Record {
    /// Loads relations for the records of the request: one more statement for each relation.
    ///
    /// ```swift
    /// let teams = try Team.including(Team.players.order { $0.score.desc }, Team.captain).fetchAll(db)
    /// ```
    ///
    /// All statements see one state of the database.
    ///
    /// - Parameter relations: The relations. They begin with the type of the request. If one is
    ///   named twice, loading the records throws.
    @_disfavoredOverload  // Relations lead to rows of structs, too, and have one of their own.
    public func including(_ relations: any Relation...) -> Refined {
        including(relations)
    }

    /// Loads relations for the records of the request: one more statement for each relation.
    ///
    /// - Parameter relations: The relations. They begin with the type of the request. If one is
    ///   named twice, loading the records throws.
    public func including(_ relations: [any Relation]) -> Refined {
        derived { $0.include(relations) }
    }
}

extension RequestBuilding {
    // MARK: - Fetching related rows

    /// Joins each row with the related one, and fetches both: rows without a related one are left
    /// out (`JOIN`).
    ///
    /// ```swift
    /// let players = try Player.including(required: Player.team.filter { $0.color == "red" }).fetchAll(db)
    /// let team = try players[0].team
    /// ```
    ///
    /// There are three ways to read the related row. A class record has the property that reads the
    /// relation, and a row has `row.scopes["team"]`. A `Decodable` struct has the property `team`:
    ///
    /// ```swift
    /// struct PlayerInfo: FetchableRecord, Decodable {
    ///     var player: Player
    ///     var team: Team
    /// }
    /// let infos = try Player.including(required: Player.team).asRequest(of: PlayerInfo.self).fetchAll(db)
    /// ```
    ///
    /// If several rows are related to one, the request has a row for each of them.
    ///
    /// - Parameter relation: The relation. It begins with the type of the request. Its conditions
    ///   determine which rows are related.
    public func including(required relation: some Relation) -> Refined {
        derived {
            $0.include(RelationJoin(definition: relation.definition, isRequired: true, isIncluded: true))
        }
    }

    /// Joins each row with the related one, and fetches both: rows without a related one are kept
    /// (`LEFT JOIN`).
    ///
    /// See ``including(required:)`` for the ways to read the related row, which may be missing.
    ///
    /// - Parameter relation: The relation. It begins with the type of the request. Its conditions
    ///   determine which rows are related.
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
    /// There are three ways to read them. A class record has the property that reads the relation,
    /// and a row has `row.prefetchedRows["players"]`. A `Decodable` struct has the property
    /// `players`.
    ///
    /// - Parameter relation: The relation. It begins with the type of the request. Its order sorts
    ///   the rows of each list.
    public func including<Target>(all relation: HasMany<Target>) -> Refined {
        derived { $0.include([relation]) }
    }

    // MARK: - Joining

    /// Joins each row with the related one, which is not fetched: rows without a related one are
    /// left out (`JOIN`).
    ///
    /// ```swift
    /// let reds = try Player.joining(required: Player.team.filter { $0.color == "red" }).fetchAll(db)
    /// // SELECT "player".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamID" AND "team"."color" = 'red'
    /// ```
    ///
    /// - Parameter relation: The relation. It begins with the type of the request. Its conditions
    ///   determine which rows are related.
    public func joining(required relation: some Relation) -> Refined {
        derived { $0.include(RelationJoin(definition: relation.definition, isRequired: true)) }
    }

    /// Joins each row with the related one, which is not fetched: rows without a related one are
    /// kept (`LEFT JOIN`).
    ///
    /// This serves conditions and orders with columns of the other table: see ``TableAlias``.
    ///
    /// - Parameter relation: The relation. It begins with the type of the request. Its conditions
    ///   determine which rows are related.
    public func joining(optional relation: some Relation) -> Refined {
        derived { $0.include(RelationJoin(definition: relation.definition, isRequired: false)) }
    }

    /// Joins each row with the related one, and adds the relation's selection to its columns. Rows
    /// without a related one are left out (`JOIN`).
    ///
    /// ```swift
    /// Player.annotated(withRequired: Player.team.select(Column("color")))
    /// ```
    ///
    /// - Parameter relation: The relation. It begins with the type of the request. Without a
    ///   selection of its own, it adds ``TableRecord/databaseSelection``.
    public func annotated(withRequired relation: some Relation) -> Refined {
        derived {
            $0.include(RelationJoin(definition: relation.definition, isRequired: true, isAnnotating: true))
        }
    }

    /// Joins each row with the related one, and adds the relation's selection to its columns. Rows
    /// without a related one are kept (`LEFT JOIN`).
    ///
    /// - Parameter relation: The relation. It begins with the type of the request. Without a
    ///   selection of its own, it adds ``TableRecord/databaseSelection``.
    public func annotated(withOptional relation: some Relation) -> Refined {
        derived {
            $0.include(RelationJoin(definition: relation.definition, isRequired: false, isAnnotating: true))
        }
    }
}

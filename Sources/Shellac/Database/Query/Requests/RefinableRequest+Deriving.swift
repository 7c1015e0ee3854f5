// Requests derived from another one, without a type that knows its table.

extension RefinableRequest {
    /// Returns a request that finds nothing, and needs no database to know so.
    public func none() -> Refined {
        derived { $0.filter(SQLExpression(.word("0"))) }
    }

    // MARK: - Filters

    /// Adds a condition: only rows that also satisfy it are fetched (`AND`).
    ///
    /// ```swift
    /// Player.filter(Column("score") > 100).filter(Column("name") != nil)
    /// // SELECT * FROM "player" WHERE "score" > 100 AND "name" IS NOT NULL
    /// ```
    ///
    /// - Parameter condition: What holds of the rows that are fetched. A row for which it is NULL is not.
    public func filter(_ condition: some SQLSpecificExpressible) -> Refined {
        derived { $0.filter(condition.sqlExpression) }
    }

    /// Adds a condition that is written in SQL: only rows that also satisfy it are fetched (`AND`).
    ///
    /// ```swift
    /// Player.filter(literal: "score > \(limit)")
    /// ```
    ///
    /// - Parameter condition: The condition, as SQL, which stands in parentheses beside others. Values in it are bound.
    public func filter(literal condition: SQL) -> Refined { filter(condition) }

    /// Adds a condition that is written in SQL: only rows that also satisfy it are fetched (`AND`).
    ///
    /// - Parameters:
    ///   - sql: The condition, as SQL.
    ///   - arguments: The values that it binds.
    public func filter(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> Refined { filter(SQL(sql: sql, arguments: arguments)) }

    /// Restricts the request to the row with a primary key.
    ///
    /// A date, data or a UUID is looked for as the record type stores it: see
    /// ``TableRecord/databaseKeyValue(_:for:)-(DatabaseValueConvertible,_)``.
    ///
    /// - Parameter key: The value of the key, which has one column: of a composite key, the request throws
    ///   ``RecordError/compositeKey(databaseTableName:columns:)``. Nil finds nothing.
    @_disfavoredOverload  // A closure behind the call could be the key.
    public func filter(key: some DatabaseValueConvertible) -> Refined {
        filter(keys: [key])
    }

    /// Restricts the request to the rows with some primary keys.
    ///
    /// ```swift
    /// Player.filter(keys: [1, 2, 3])
    /// // SELECT * FROM "player" WHERE "id" IN (1, 2, 3)
    /// ```
    ///
    /// - Parameter keys: The values of the key, which has one column, in any order. Those that are NULL find nothing, and neither
    ///   does an empty sequence.
    @_disfavoredOverload  // A closure behind the call could be the key.
    public func filter<Key: DatabaseValueConvertible>(
        keys: some Sequence<Key>
    ) -> Refined {
        if KeyValue.mayBeStored(otherwise: Key.self) {
            let keys = keys.map { KeyValue($0) }.filter { !$0.databaseValue.isNull }
            guard !keys.isEmpty else { return none() }
            return derived { $0.filter($0.keys(nil, keys.map { [$0] }, of: RowDecoder.self)) }
        }
        let keys = keys.map(\.databaseValue).filter { !$0.isNull }
        guard !keys.isEmpty else { return none() }
        return derived { $0.filter(.stored(.values(keys))) }
    }

    /// Restricts the request to the row with a composite primary key, or with the values of a unique index.
    ///
    /// The request throws ``RecordError/notAUniqueKey(databaseTableName:columns:)`` when several rows could have the
    /// values.
    ///
    /// - Parameter key: The values, by the names of their columns: of all columns of the key, and of no others. A nil among them
    ///   finds nothing.
    public func filter(
        key: [String: (any DatabaseValueConvertible)?]
    ) -> Refined { filter(keys: [key]) }

    /// Restricts the request to the rows with some composite primary keys, or with the values of a unique index.
    ///
    /// - Parameter keys: The values of each row, by the names of their columns, which need not be those of the other rows. A row
    ///   with a nil among its values is not found. The request throws where several rows could have the values.
    public func filter(
        keys: [[String: (any DatabaseValueConvertible)?]]
    ) -> Refined {
        // Those that name the same columns belong together.
        var rows: [[String]: [[KeyValue]]] = [:]
        var names: [[String]] = []
        for key in keys {
            let columns = key.keys.sorted()
            let values = columns.map { (key[$0] ?? nil).map { KeyValue($0) } ?? .value(.null) }
            if rows[columns] == nil { names.append(columns) }
            rows[columns, default: []].append(values)
        }
        return derived { query in
            let source = query.source
            let conditions = names.compactMap { columns -> SQLExpression? in
                let values = (rows[columns] ?? []).filter { !$0.contains(where: \.databaseValue.isNull) }
                guard !values.isEmpty else { return nil }
                let keys = query.keys(columns, values, of: RowDecoder.self)
                return SQLExpression(.key(KeyCondition(source: source, keys: keys)))
            }
            if keys.count == 1, query.joins.isEmpty { query.hasUniqueKey = true }
            query.filter(.chain(.or, conditions))
        }
    }

    // MARK: - Selections

    /// Selects columns or expressions, replacing any earlier selection.
    ///
    /// ```swift
    /// Player.select(Column("id"), Column("name"))
    /// // SELECT "id", "name" FROM "player"
    /// ```
    ///
    /// - Parameter selection: Columns, expressions, or all columns: `.allColumns`. What annotated the request before is gone, too.
    public func select(_ selection: any SQLSelectable...) -> Refined {
        select(selection)
    }

    /// Selects columns or expressions, replacing any earlier selection.
    ///
    /// - Parameter selection: Columns, expressions, or all columns: `.allColumns`. What annotated the request before is gone, too.
    ///   SQLite refuses to select nothing.
    public func select(_ selection: [any SQLSelectable]) -> Refined {
        derived {
            $0.selection = selection.map(\.sqlSelection)
            $0.annotations = []
        }
    }

    /// Selects expressions that are written in SQL, replacing any earlier selection.
    ///
    /// - Parameter selection: The expressions, as SQL, with commas between them. Values in them are bound.
    public func select(literal selection: SQL) -> Refined { select([selection]) }

    /// Adds columns or expressions to the selection.
    ///
    /// ```swift
    /// Player.annotated(with: (Column("score") + Column("bonus")).forKey("total"))
    /// // SELECT *, "score" + "bonus" AS "total" FROM "player"
    /// ```
    ///
    /// - Parameter selection: What is selected behind the rest. Rows have an expression under its SQL, unless `forKey(_:)` gives it
    ///   a name.
    public func annotated(with selection: any SQLSelectable...) -> Refined {
        annotated(with: selection)
    }

    /// Adds columns or expressions to the selection.
    ///
    /// - Parameter selection: What is selected behind the rest. An empty array adds nothing.
    public func annotated(with selection: [any SQLSelectable]) -> Refined {
        derived { $0.annotations += selection.map(\.sqlSelection) }
    }

    /// Removes duplicates: `SELECT DISTINCT`.
    public func distinct() -> Refined { derived { $0.isDistinct = true } }

    // MARK: - Order

    /// Sorts the rows, replacing any earlier order.
    ///
    /// ```swift
    /// Player.order(Column("score").desc, Column("name"))
    /// ```
    ///
    /// - Parameter terms: Columns and expressions, in ascending order unless they say another. Each one sorts the rows that are
    ///   equal by those before it.
    public func order(_ terms: any SQLOrderingTerm...) -> Refined { order(terms) }

    /// Sorts the rows, replacing any earlier order.
    ///
    /// - Parameter terms: Columns and expressions, in ascending order unless they say another. Each one sorts the rows that are
    ///   equal by those before it. With none, the order is removed.
    public func order(_ terms: [any SQLOrderingTerm]) -> Refined {
        derived { $0.ordering = terms.map(\.sqlOrdering) }
    }

    /// Sorts the rows by terms that are written in SQL, replacing any earlier order.
    ///
    /// - Parameter terms: The terms, as SQL, with commas between them. Values in them are bound.
    public func order(literal terms: SQL) -> Refined {
        derived { $0.ordering = [SQLOrdering(terms.sqlExpression)] }
    }

    /// Sorts the rows by terms that are written in SQL, replacing any earlier order.
    ///
    /// - Parameters:
    ///   - sql: The terms to sort by, as SQL.
    ///   - arguments: The values that they bind.
    public func order(
        sql: String, arguments: StatementArguments = StatementArguments()
    ) -> Refined { order(literal: SQL(sql: sql, arguments: arguments)) }

    /// Reverses the order of the rows. Where there is none, nothing changes.
    ///
    /// In an order that is written in SQL, each term is reversed: `score DESC, id` becomes `score, id DESC`. The order of
    /// joined rows is one of the rows of the request, and is reversed, too. Rows that are fetched besides keep theirs.
    public func reversed() -> Refined {
        derived { $0.changeOrder { $0.map(\.reversed) } }
    }

    /// Removes the order of the rows, and that of joined ones.
    public func unordered() -> Refined { derived { $0.changeOrder { _ in [] } } }

    // MARK: - Groups

    /// Adds a condition on the groups: only those that also satisfy it are fetched (`HAVING`).
    ///
    /// What is told of the rows that are related to each row, as `Team.players.isEmpty` is, is a condition on rows, in groups
    /// or not: `Team.having(Team.players.isEmpty)` filters them.
    ///
    /// - Parameter condition: What holds of the groups that are fetched: a condition on aggregates, mostly. A group for which it is
    ///   NULL is not fetched.
    public func having(_ condition: some SQLSpecificExpressible) -> Refined {
        derived { query in
            if condition.sqlExpression.isLate { return query.filter(condition.sqlExpression) }
            query.groupCondition =
                query.groupCondition.map { .chain(.and, [$0, condition.sqlExpression]) }
                ?? condition.sqlExpression
        }
    }
}

extension SelectQuery {
    fileprivate mutating func filter(_ keys: KeyCondition.Given) {
        let condition = KeyCondition(source: source, keys: keys)
        if condition.count == 1, joins.isEmpty { hasUniqueKey = true }
        filter(SQLExpression(.key(condition)))
    }

    /// Returns keys, which are stored as the type of the table says, or else that of the rows.
    fileprivate func keys(_ columns: [String]?, _ rows: [[KeyValue]], of decoder: Any.Type)
        -> KeyCondition.Given
    {
        if let type = source.type ?? decoder as? any TableRecord.Type,
            rows.contains(where: { !$0.allSatisfy(\.isValue) })
        {
            return .unstored(columns, rows, type)
        }
        let values = rows.map { $0.map(\.databaseValue) }
        return .stored(columns.map { .rows($0, values) } ?? .values(values.compactMap(\.first)))
    }
}

extension RefinableRequest where RowDecoder: Identifiable, RowDecoder.ID: DatabaseValueConvertible {
    /// Restricts the request to the row with an id.
    ///
    /// - Parameter id: The id. Nil finds nothing, where ids are optional.
    public func filter(id: RowDecoder.ID) -> Refined { filter(key: id) }

    /// Restricts the request to the rows with some ids.
    ///
    /// - Parameter ids: The ids, in any order. With none, nothing is found.
    public func filter(ids: some Sequence<RowDecoder.ID>) -> Refined {
        filter(keys: ids)
    }
}

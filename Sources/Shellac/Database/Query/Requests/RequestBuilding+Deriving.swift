// Requests derived from another one, without a type for the table.

extension RequestBuilding {
    /// Returns a request that finds nothing, without reading the database.
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
    /// - Parameter condition: The condition on the fetched rows. A row for which it is NULL is left
    ///   out.
    public func filter(_ condition: some SQLSpecificExpressible) -> Refined {
        derived { $0.filter(condition.sqlExpression) }
    }

    /// Adds a condition written in SQL: only rows that also satisfy it are fetched (`AND`).
    ///
    /// ```swift
    /// Player.filter(literal: "score > \(limit)")
    /// ```
    ///
    /// - Parameter condition: The condition, as SQL. It is put in parentheses beside others. Values
    ///   in it are bound.
    public func filter(literal condition: SQL) -> Refined { filter(condition) }

    /// Restricts the request to the row with a primary key.
    ///
    /// A key that is a date, data or a UUID is converted as the record type stores it: see
    /// ``TableRecord/databaseKeyValue(_:for:)-(DatabaseValueConvertible,_)``.
    ///
    /// - Parameter key: The value of the key, which has one column. Nil finds nothing. For a
    ///   composite key, the request throws
    ///   ``RecordError/compositeKey(databaseTableName:columns:)``.
    @_disfavoredOverload  // A trailing closure could be taken for the key.
    public func filter(key: some DatabaseValueConvertible) -> Refined {
        filter(keys: [key])
    }

    /// Restricts the request to the rows with the given primary keys.
    ///
    /// ```swift
    /// Player.filter(keys: [1, 2, 3])
    /// // SELECT * FROM "player" WHERE "id" IN (1, 2, 3)
    /// ```
    ///
    /// - Parameter keys: The values of the key, which has one column, in any order. NULLs and an
    ///   empty sequence find nothing.
    @_disfavoredOverload  // A trailing closure could be taken for the key.
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

    /// Restricts the request to the row with a composite primary key, or with the values of a
    /// unique index.
    ///
    /// The request throws ``RecordError/notAUniqueKey(databaseTableName:columns:)`` if several rows
    /// could have the values.
    ///
    /// - Parameter key: The values by column name, for all columns of the key and no others. A nil
    ///   among them finds nothing.
    public func filter(
        key: [String: (any DatabaseValueConvertible)?]
    ) -> Refined { filter(keys: [key]) }

    /// Restricts the request to the rows with the given composite primary keys, or with the values
    /// of a unique index.
    ///
    /// - Parameter keys: The values of each row by column name. The columns may differ between
    ///   rows. A row with a nil among its values is not found. The request throws if several rows
    ///   could have the values.
    public func filter(
        keys: [[String: (any DatabaseValueConvertible)?]]
    ) -> Refined {
        // Group the keys that name the same columns.
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
    /// - Parameter selection: Columns, expressions, or all columns: `.allColumns`. Earlier
    ///   annotations are removed, too.
    public func select(_ selection: any SQLSelectable...) -> Refined {
        select(selection)
    }

    /// Selects columns or expressions, replacing any earlier selection.
    ///
    /// - Parameter selection: Columns, expressions, or all columns: `.allColumns`. Earlier
    ///   annotations are removed, too. SQLite refuses an empty selection.
    public func select(_ selection: [any SQLSelectable]) -> Refined {
        derived {
            $0.selection = selection.map(\.sqlSelection)
            $0.annotations = []
        }
    }

    /// Selects expressions written in SQL, replacing any earlier selection.
    ///
    /// - Parameter selection: The expressions, as SQL, with commas between them. Values in them are
    ///   bound.
    public func select(literal selection: SQL) -> Refined { select([selection]) }

    /// Adds columns or expressions to the selection.
    ///
    /// ```swift
    /// Player.annotated(with: (Column("score") + Column("bonus")).forKey("total"))
    /// // SELECT *, "score" + "bonus" AS "total" FROM "player"
    /// ```
    ///
    /// - Parameter selection: The selection to add at the end. Rows name an expression by its SQL,
    ///   unless `forKey(_:)` gives it a name.
    public func annotated(with selection: any SQLSelectable...) -> Refined {
        annotated(with: selection)
    }

    /// Adds columns or expressions to the selection.
    ///
    /// - Parameter selection: The selection to add at the end. An empty array adds nothing.
    public func annotated(with selection: [any SQLSelectable]) -> Refined {
        derived { $0.annotations += selection.map(\.sqlSelection) }
    }

    /// Adds expressions written in SQL to the selection.
    ///
    /// - Parameter selection: The expressions, as SQL, with commas between them. Values in them are
    ///   bound.
    public func annotated(literal selection: SQL) -> Refined {
        annotated(with: [selection])
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
    /// - Parameter terms: Columns and expressions, ascending unless they specify otherwise. Each
    ///   one sorts the rows that are equal by the previous ones.
    public func order(_ terms: any SQLOrderingTerm...) -> Refined { order(terms) }

    /// Sorts the rows, replacing any earlier order.
    ///
    /// - Parameter terms: Columns and expressions, ascending unless they specify otherwise. Each
    ///   one sorts the rows that are equal by the previous ones. An empty array removes the order.
    public func order(_ terms: [any SQLOrderingTerm]) -> Refined {
        derived { $0.ordering = terms.map(\.sqlOrdering) }
    }

    /// Sorts the rows by terms written in SQL, replacing any earlier order.
    ///
    /// - Parameter terms: The terms, as SQL, with commas between them. Values in them are bound.
    public func order(literal terms: SQL) -> Refined {
        derived { $0.ordering = [SQLOrdering(terms.sqlExpression)] }
    }

    /// Reverses the order of the rows. Without an order, nothing changes.
    ///
    /// In an order written in SQL, each term is reversed: `score DESC, id` becomes
    /// `score, id DESC`. The order of joined rows belongs to the order of the request, and is
    /// reversed, too. Rows fetched separately keep their order.
    public func reversed() -> Refined {
        derived { $0.changeOrder { $0.map(\.reversed) } }
    }

    /// Removes the order of the rows, including that of joined ones.
    public func unordered() -> Refined { derived { $0.changeOrder { _ in [] } } }

    // MARK: - Groups

    /// Adds a condition on the groups: only those that also satisfy it are fetched (`HAVING`).
    ///
    /// A condition about the rows related to each row, such as `Team.players.isEmpty`, is a
    /// condition on rows, in groups or not. So `Team.having(Team.players.isEmpty)` filters them.
    ///
    /// - Parameter condition: The condition on the fetched groups, usually on aggregates. A group
    ///   for which it is NULL is left out.
    public func having(_ condition: some SQLSpecificExpressible) -> Refined {
        derived { query in
            if condition.sqlExpression.isLate { return query.filter(condition.sqlExpression) }
            query.groupCondition =
                query.groupCondition.map { .chain(.and, [$0, condition.sqlExpression]) }
                ?? condition.sqlExpression
        }
    }

    /// Adds a condition on the groups, written in SQL: only those that also satisfy it are fetched
    /// (`HAVING`).
    ///
    /// - Parameter condition: The condition, as SQL. It is put in parentheses beside others. Values
    ///   in it are bound.
    public func having(literal condition: SQL) -> Refined { having(condition) }
}

extension SelectQuery {
    fileprivate mutating func filter(_ keys: KeyCondition.Given) {
        let condition = KeyCondition(source: source, keys: keys)
        if condition.count == 1, joins.isEmpty { hasUniqueKey = true }
        filter(SQLExpression(.key(condition)))
    }

    /// Returns keys that are stored as the table's type determines, or else the type of the rows.
    fileprivate func keys(_ columns: [String]?, _ rows: [[KeyValue]], of decoder: Any.Type)
        -> KeyCondition.Given
    {
        if let type = source.type ?? decoder as? any _KeyStoring.Type,
            rows.contains(where: { !$0.allSatisfy(\.isValue) })
        {
            return .unstored(columns, rows, type)
        }
        let values = rows.map { $0.map(\.databaseValue) }
        return .stored(columns.map { .rows($0, values) } ?? .values(values.compactMap(\.first)))
    }
}

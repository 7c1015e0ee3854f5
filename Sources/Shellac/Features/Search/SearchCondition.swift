// The conditions and the tables that a search adds to a request.

/// The condition that a row matches a query, written when the tokenizer is known.
///
/// The index is asked for the keys of its matches. So the condition fits into every request, and
/// into those of relations. A request that ranks its rows, or shows their matches, joins the index
/// instead: see ``SearchJoin``.
final class SearchCondition: LateExpression, @unchecked Sendable {  // constant
    let index: FullTextIndex
    let query: SearchQuery

    init(_ index: FullTextIndex, _ query: SearchQuery) { (self.index, self.query) = (index, query) }

    override func expression(
        of source: QuerySource?, among names: [String], on db: Database
    ) throws -> SQLExpression {
        let match = try SearchMatch(index, query, of: source, on: db)
        guard let pattern = match.pattern else { return SQLExpression(.word("FALSE")) }
        let index = match.index.name.quotedDatabaseIdentifier
        return SQLExpression(
            .fragment(
                SQL(
                    sql: "\(match.key) IN (SELECT rowid FROM \(index) WHERE \(index) MATCH ?)"
                        + " AND \(match.reading)",
                    arguments: [pattern])))
    }
}

/// The condition by which a request joins an index.
final class SearchJoin: LateExpression, @unchecked Sendable {  // constant
    let condition: SearchCondition
    /// The name of the index in the statement.
    let alias: String
    /// The weights of columns, or nil for those of the index.
    let weights: [String: Double]?

    init(_ condition: SearchCondition, alias: String, weights: [String: Double]? = nil) {
        (self.condition, self.alias, self.weights) = (condition, alias, weights)
    }

    override func expression(
        of source: QuerySource?, among names: [String], on db: Database
    ) throws -> SQLExpression {
        let match = try SearchMatch(condition.index, condition.query, of: source, on: db)
        guard let pattern = match.pattern else { return SQLExpression(.word("FALSE")) }
        let alias = alias.quotedDatabaseIdentifier
        var sql =
            "\(alias).rowid = \(match.key) AND \(alias).\(match.index.name.quotedDatabaseIdentifier) MATCH ?"
        var arguments: [DatabaseValue] = [pattern.databaseValue]
        if let weights {
            for column in weights.keys { _ = try match.index.place(of: column) }
            sql += " AND \(alias).rank MATCH ?"
            arguments.append(FullTextIndex.rank(match.index.columns, weights).databaseValue)
        }
        sql += " AND \(match.reading)"
        return SQLExpression(.fragment(SQL(sql: sql, arguments: StatementArguments(arguments))))
    }
}

/// A query of an index, with what the schema says of it.
private struct SearchMatch {
    let index: FullTextIndex
    /// The pattern of FTS5. Nil if no row matches.
    let pattern: String?
    /// The key of the record's table, in SQL.
    let key: String
    /// A condition that names the indexed columns, without reading them. So SQLite reports that the
    /// request depends on them, and observers are notified when they change.
    let reading: String

    init(_ index: FullTextIndex, _ query: SearchQuery, of source: QuerySource?, on db: Database) throws {
        self.index = index
        func refuse(_ reason: String) -> DatabaseError {
            DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the full-text index \(index.name) cannot be searched: \(reason)")
        }
        guard let source, let name = source.name, let tableName = source.tableName,
            CaseInsensitiveName.matches(tableName, index.tableName)
        else {
            throw refuse(
                "it is an index of the table \(index.tableName), and the request is for "
                    + "\(source?.tableName ?? "the rows of a query")")
        }
        let table = try db.tableSchema(tableName)
        guard let virtual = try db.schema.table(index.name, in: table.schemaName),
            let objects = try FullTextObjects(existing: index.name, in: table.schemaName, db)
        else {
            if TokenizerModule.api(of: db) == nil { throw TokenizerModule.missingFTS5() }
            throw refuse("it does not exist. Create it with create(fullText:)")
        }
        guard virtual.sql.hasSuffix("\(FullTextObjects.options(index)))"),
            objects.columns.count == index.columns.count,
            zip(objects.columns, index.columns).allSatisfy({ CaseInsensitiveName.matches($0, $1) })
        else {
            throw refuse(
                "it has other columns, or another tokenizer, than its declaration. Drop it with "
                    + "drop(fullText:), and create it again")
        }
        pattern = try SearchPattern(index, columns: objects.indexColumns, on: db).pattern(of: query)
        let place = name.quotedDatabaseIdentifier
        key = "\(place).\((table.primaryKey.rowIDColumn ?? "rowid").quotedDatabaseIdentifier)"
        let columns = objects.columns.map { "\(place).\($0.quotedDatabaseIdentifier) IS NULL" }
        reading = "(TRUE OR \(columns.joined(separator: " OR ")))"
    }
}

extension SelectQuery {
    /// Adds the condition that rows match a query.
    mutating func match(_ query: SearchQuery, in index: FullTextIndex) {
        filter(SQLExpression(.late(SearchCondition(index, query))))
    }

    /// Joins the index that the request searches, and returns the join. Nil if it searches none.
    ///
    /// The first search of a request is joined. Others remain conditions.
    mutating func joinSearch(weights: [String: Double]? = nil) -> SearchJoin? {
        for (place, join) in joins.enumerated() {
            guard case .late(let late)? = join.condition?.syntax, let search = late as? SearchJoin else {
                continue
            }
            guard let weights else { return search }
            let weighted = SearchJoin(search.condition, alias: search.alias, weights: weights)
            joins[place] = QueryJoin(
                isLeft: false, source: join.source, condition: SQLExpression(.late(weighted)))
            return weighted
        }
        guard let condition = takeSearch() else { return nil }
        let join = SearchJoin(condition, alias: condition.index.name, weights: weights)
        joins.append(
            QueryJoin(
                isLeft: false, source: QuerySource(.table(condition.index.name)),
                condition: SQLExpression(.late(join))))
        return join
    }

    /// Takes the first search out of the conditions.
    private mutating func takeSearch() -> SearchCondition? {
        func search(_ expression: SQLExpression) -> SearchCondition? {
            guard case .late(let late)? = expression.syntax else { return nil }
            return late as? SearchCondition
        }
        func take(_ expression: SQLExpression) -> (found: SearchCondition, rest: SQLExpression?)? {
            if let found = search(expression) { return (found, nil) }
            guard case .chain(.and, let operands)? = expression.syntax else { return nil }
            for (place, operand) in operands.enumerated() {
                guard let (found, rest) = take(operand) else { continue }
                var others = operands
                if let rest { others[place] = rest } else { others.remove(at: place) }
                return (found, others.count == 1 ? others[0] : SQLExpression(.chain(.and, others)))
            }
            return nil
        }
        guard let (found, rest) = given.flatMap(take) else { return nil }
        given = rest
        return found
    }
}

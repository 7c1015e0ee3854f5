/// The condition of a request, as far as it can be tested on a single row.
///
/// It determines which rows affect the request.
///
/// A row affects the request if it satisfies the condition before the change or after it. An
/// updated row does so only if one of the columns that the request reads has changed. That holds
/// for requests on one table, also with an order, a limit, groups and aggregates. Their results are
/// made only from the rows that satisfy the condition.
///
/// If that is not certain, there is no such condition, and each row affects the request: see
/// ``init(_:_:_:on:)``.
final class RowCondition: Sendable {
    /// The table.
    let table: TableSchema
    /// A column that must have one of some values, as the column compares them. Nil if the
    /// condition implies none.
    let lookup: (column: String, values: [DatabaseValue])?
    /// The test of a row, which the ``RowTester`` runs. Nil if all rows that `lookup` finds satisfy
    /// the condition.
    let test: SharedQuery?

    /// Determines which rows affect a request. Returns nil if that is not possible.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - statement: Its statement.
    ///   - testers: The testers that run tests.
    init?(
        _ request: some FetchRequest, _ statement: Statement, _ testers: RowTesters, on db: Database
    ) throws {
        guard PreUpdateFunctions.found != nil, let query = (request as? any QueriedRequest)?.selectQuery,
            query.supplement == nil, query.joins.isEmpty, query.commonTables.isEmpty,
            let name = query.source.tableName, let table = try db.schema.table(name), table.kind == .table,
            try table.schemaName == "main" && db.schema.tables(named: name).count == 1
        else { return nil }
        // The hook must report the stored values.
        let stored = StoredColumns(table, db)
        guard stored.hasRowID, stored.lostColumn == nil, table.tellsOlderRows(stored) else { return nil }
        // The statement must read only this table, and only once, with functions that give equal
        // results for equal arguments.
        let effects = statement.effects
        guard effects.databases.isSubset(of: ["main"]),
            effects.reads.keys.allSatisfy({ CaseInsensitiveName.matches($0, table.name) }),
            statement.sql.selectsOnce, let tester = testers.tester(on: db), tester.areKnown(effects.functions)
        else { return nil }
        self.table = table
        lookup = query.condition?.lookup(in: table)
        if let condition = query.condition, !(lookup != nil && condition.isLookup) {
            var test = SelectQuery(query.source)
            test.selection = [SQLSelection(.expression(SQLExpression(.word("1")), name: nil))]
            (test.own, test.given) = (.none, condition)
            let storage = SharedQuery(test)
            guard tester.prepare(storage, of: table, stored, on: db) else { return nil }
            self.test = storage
        } else {
            test = nil
        }
    }
}

/// A request with accessible parts.
protocol QueriedRequest {
    var selectQuery: SelectQuery { get }
}

extension QueryInterfaceRequest: QueriedRequest {
    var selectQuery: SelectQuery { query }
}

extension Table: QueriedRequest {
    var selectQuery: SelectQuery { all().query }
}

extension TableSchema {
    /// Whether the values are known of rows that are older than a column.
    func tellsOlderRows(_ stored: StoredColumns) -> Bool {
        let isMarked: Bool
        switch PreUpdateFunctions.olderRows {
        case .columnDefault: return true
        case .separateNull: isMarked = true
        case .anyNull: isMarked = false
        }
        return stored.columns.allSatisfy { column in
            let sql = self.column(named: column.name)?.defaultValueSQL
            guard let sql, !CaseInsensitiveName.matches(sql, "NULL"), !column.isNotNull else { return true }
            return isMarked && column.valueOfOlderRows != nil
        }
    }
}

extension String {
    /// Whether this SQL has one SELECT, and no other query: a subquery reads other rows than the
    /// tested one.
    fileprivate var selectsOnce: Bool {
        var tokens = SQLTokens(self)
        var (selects, isAfterIn) = (0, false)
        while let token = tokens.next() {
            if token.kind.isEmpty { continue }
            let word: String
            if case .word = token.kind { word = tokens.text(token.range).uppercased() } else { word = "" }
            // `IN player` is a subquery as well.
            if isAfterIn {
                guard case .opening = token.kind else { return false }
            }
            isAfterIn = word == "IN"
            if word == "SELECT" { selects += 1 }
            if ["VALUES", "WITH", "TABLE"].contains(word) { return false }
        }
        return selects == 1 && !isAfterIn
    }
}

// MARK: - Looking up

extension SQLExpression {
    /// Whether the expression is the lookup, and nothing else.
    fileprivate var isLookup: Bool {
        switch syntax {
        case .infix(.equal, _, _)?, .infix(.isSame, _, _)?, .list(_, in: _, isNegated: false)?: true
        default: false
        }
    }

    /// Returns a column that must have one of some values if the expression is true.
    fileprivate func lookup(in table: TableSchema) -> (
        column: String, values: [DatabaseValue]
    )? {
        switch syntax {
        case .chain(.and, let conditions)?:
            return conditions.lazy.compactMap { $0.lookup(in: table) }.first
        case .infix(.equal, let column, let value)?, .infix(.isSame, let column, let value)?:
            return column.lookup([value], in: table) ?? value.lookup([column], in: table)
        case .list(let column, in: let values, isNegated: false)?:
            return column.lookup(values, in: table)
        case .scoped(_, let inner)?: return inner.lookup(in: table)
        default: return nil
        }
    }

    private func lookup(
        _ expressions: [SQLExpression], in table: TableSchema
    ) -> (column: String, values: [DatabaseValue])? {
        guard let name = columnName, let column = table.column(named: name), column.generation == nil else {
            return nil
        }
        var values: [DatabaseValue] = []
        let comparison = table.comparison(ofColumn: name)
        for expression in expressions {
            guard case .value(let value) = expression.form else { return nil }
            switch (value.storage, column.affinity) {
            case (.int64, .integer), (.int64, .numeric), (.int64, .real), (.int64, .blob),
                (.double, .integer),
                (.double, .numeric), (.double, .real), (.double, .blob), (.blob, _):
                break
            case (.string, .text), (.string, .blob):
                // If a collation of the program treats values as equal, only SQLite can look them
                // up.
                guard comparison.isComparable else { return nil }
            default: return nil  // NULL, and values that SQLite converts to compare them
            }
            values.append(comparison.comparable(value))
        }
        return (column.name, values)
    }

    private var columnName: String? {
        if case .column(let name) = form { return name }
        switch syntax {
        case .column(_, let name)?: return name
        case .scoped(_, let inner)?: return inner.columnName
        default: return nil
        }
    }
}

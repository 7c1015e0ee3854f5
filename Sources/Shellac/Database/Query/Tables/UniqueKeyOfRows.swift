// Resolves column names to a unique key, including partial unique indexes that cover the rows.

extension TableSchema {
    /// Returns the columns of a key that is unique among the given rows. It is the key of a unique
    /// index, or of a partial one that holds all of these rows.
    ///
    /// - Parameters:
    ///   - names: The columns, in any order.
    ///   - rows: The table, and the conditions on its rows.
    /// - Throws: a ``RecordError`` when several rows could have the same values.
    func uniqueKey(of names: [String], among rows: QueryTables) throws -> [String] {
        if let columns = uniqueKey(of: names) { return columns }
        let partialKeys = partialKeys(of: names)
        guard let first = partialKeys.first else {
            throw RecordError.notAUniqueKey(databaseTableName: name, columns: names)
        }
        let conditions = rows.conjuncts
        guard let key = partialKeys.first(where: { $0.holdsRows(where: conditions) }) else {
            throw RecordError.partialUniqueKey(
                databaseTableName: name, columns: first.index.columns, index: first.index.name,
                condition: first.condition)
        }
        return key.index.columns
    }

    /// Returns the condition of a partial unique index that holds all rows of a type, if its
    /// columns are a key only among these.
    func partialCondition(of names: [String], _ type: any TableRecord.Type) -> String? {
        guard !partialKeys.isEmpty, uniqueKey(of: names) == nil else { return nil }
        let conditions = QueryTables(SelectQuery(QuerySource(.type(type)))).conjuncts
        return partialKeys(of: names).first { $0.holdsRows(where: conditions) }?.condition
    }
}

extension QueryTables {
    /// The conditions that all rows of the source satisfy, as tokens of SQL. A condition that needs
    /// the schema cannot be that of an index.
    fileprivate var conjuncts: Set<[String]> {
        let conditions = [conditions?.own.condition(of: source.type), conditions?.given].compactMap { $0 }
        return conditions.flatMap(operands).reduce(into: []) { conjuncts, operand in
            var writer = SQLWriter(nil)
            guard (try? writer.expression(operand, above: .lowest)) != nil,
                let sql = try? writer.fragment.literalSQL(as: .expression, on: nil)
            else { return }
            conjuncts.formUnion(SQLTokens(sql).conjuncts)
        }
    }

    /// Returns the conditions joined by AND.
    private func operands(_ condition: SQLExpression) -> [SQLExpression] {
        switch condition.syntax {
        case .chain(.and, let operands): operands.flatMap(self.operands)
        // An index only names columns of its own table.
        case .scoped(let scope, let inner) where scope.table == source.name: operands(inner)
        default: [condition]
        }
    }
}

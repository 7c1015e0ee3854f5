/// A unique index on some of the rows: no two of those have the same values in its columns.
struct PartialKey: Sendable {
    let index: IndexInfo
    /// The condition of the index, as SQL.
    let condition: String

    /// Reads the key of an index. Returns nil for an index that holds all rows or is not a key.
    init?(_ index: IndexInfo, in schemaName: String, _ db: Database) throws {
        guard index.isUnique, index.isPartial, !index.hasExpressions else { return nil }
        let table = "\(schemaName.quotedDatabaseIdentifier).sqlite_master"
        let sql = try String.fetchOne(
            db.makeStatement(sql: "SELECT sql FROM \(table) WHERE type = 'index' AND name = ?"),
            arguments: [index.name])
        guard let condition = sql.flatMap({ IndexText($0) })?.condition else { return nil }
        (self.index, self.condition) = (index, condition)
    }

    /// Whether the index holds all rows that satisfy the given conditions.
    ///
    /// - Parameter conditions: The conditions: see ``SQLTokens/conjuncts``.
    func holdsRows(where conditions: Set<[String]>) -> Bool {
        SQLTokens(condition).conjuncts.isSubset(of: conditions)
    }
}

extension SQLTokens {
    /// The conditions joined by AND, with equivalent spellings made equal: see ``meanings``.
    var conjuncts: Set<[String]> { Self.conjuncts(meanings[...]) }

    private static func conjuncts(_ condition: ArraySlice<String>) -> Set<[String]> {
        var condition = condition
        while isInParentheses(condition) { condition = condition.dropFirst().dropLast() }
        // The AND of BETWEEN does not join conditions.
        guard !condition.contains("between"), !condition.contains("case") else { return [Array(condition)] }
        var (parts, depth): ([ArraySlice<String>], Int) = ([[]], 0)
        for token in condition {
            depth += token == "(" ? 1 : token == ")" ? -1 : 0
            // AND binds tighter than OR.
            if depth == 0, token == "or" { return [withoutSynonyms(condition)] }
            if depth == 0, token == "and" { parts.append([]) } else { parts[parts.count - 1].append(token) }
        }
        guard parts.count > 1 else { return [withoutSynonyms(condition)] }
        return parts.reduce(into: []) { $0.formUnion(conjuncts($1)) }
    }

    private static func isInParentheses(_ tokens: ArraySlice<String>) -> Bool {
        guard tokens.first == "(", tokens.last == ")" else { return false }
        var depth = 0
        for (place, token) in zip(tokens.indices, tokens) {
            depth += token == "(" ? 1 : token == ")" ? -1 : 0
            if depth == 0 { return place == tokens.endIndex - 1 }
        }
        return false
    }

    private static func withoutSynonyms(_ tokens: ArraySlice<String>) -> [String] {
        tokens.flatMap { token in
            switch token {
            case "isnull": ["is", "null"]
            case "notnull": ["is", "not", "null"]
            default: [token]
            }
        }
    }
}

/// A source of the rows of a query.
struct QuerySource: Sendable {
    enum Form: Sendable {
        case type(any TableRecord.Type)
        case table(String)
        case query(Subquery)
        case compound([CompoundTerm])
    }

    let form: Form
    var alias: String?

    init(_ form: Form, alias: String? = nil) { (self.form, self.alias) = (form, alias) }

    var type: (any TableRecord.Type)? {
        if case .type(let type) = form { type } else { nil }
    }

    var tableName: String? {
        switch form {
        case .type(let type): type.databaseTableName
        case .table(let name): name
        case .query, .compound: nil
        }
    }

    func write(to writer: inout some QueryWriter) throws {
        switch form {
        case .type(let type): try writer.table(of: type)
        case .table(let name): writer.name(name)
        case .query(let query):
            writer.text("(")
            try query.write(to: &writer)
            writer.text(")")
        case .compound(let terms):
            writer.text("(")
            try terms.write(to: &writer)
            writer.text(")")
        }
        if let alias {
            writer.text(" AS ")
            writer.name(alias)
        }
    }
}

/// A query inside another one.
indirect enum Subquery: Sendable {
    case select(SelectQuery)
    case fragment(SQL)

    func write(to writer: inout some QueryWriter) throws {
        switch self {
        case .select(let query): try query.write(to: &writer)
        case .fragment(let fragment): try writer.fragment(fragment, as: .statement)
        }
    }
}

/// A joined table.
struct QueryJoin: Sendable {
    let isLeft: Bool
    let source: QuerySource
    let condition: SQLExpression?
    /// The joins of this table that are made before both are joined with others.
    var inner: [QueryJoin] = []

    /// The tables.
    var sources: [QuerySource] { [source] + inner.flatMap(\.sources) }

    func write(to writer: inout some QueryWriter) throws {
        writer.text(isLeft ? " LEFT JOIN " : " JOIN ")
        if inner.isEmpty {
            try source.write(to: &writer)
        } else {
            writer.text("(")
            try source.write(to: &writer)
            for join in inner { try join.write(to: &writer) }
            writer.text(")")
        }
        if let condition {
            writer.text(" ON ")
            try writer.expression(condition, above: .lowest)
        }
    }
}

/// A `SELECT` statement: see "SELECT" in SQLite's documentation.
struct SelectQuery: Sendable {
    var source: QuerySource
    /// The selection, or nil for that of the type.
    var selection: [SQLSelection]?
    var annotations: [SQLSelection] = []
    /// The scope of the conditions of the type: see ``_OwnConditions``.
    var own = OwnScope.whole
    /// Further conditions on the rows.
    var given: SQLExpression?
    var ordering: [SQLOrdering] = []
    var limit: QueryLimit?
    var isDistinct = false
    var groups: [SQLExpression] = []
    var groupCondition: SQLExpression?
    var joins: [QueryJoin] = []
    var commonTables: [CommonTable] = []
    /// Whether at most one row can match, so that no `LIMIT` is needed to fetch one.
    var hasUniqueKey = false
    /// The addition of an upper layer: joined tables, and further fetches for the fetched elements.
    var supplement: RequestSupplement?

    init(_ source: QuerySource, condition: SQLExpression? = nil) {
        (self.source, given) = (source, condition)
    }

    /// The kind of result that the query is written for.
    enum Purpose: Sendable {
        case rows
        /// The first row.
        case first
        case count
        case existence
        /// The primary keys.
        case keys
    }

    /// Whether the query can be part of a compound query.
    var standsAlone: Bool {
        if case .compound = source.form { return false }
        return ordering.isEmpty && limit == nil && commonTables.isEmpty
    }

    /// Whether the matching rows are those of the table, each once.
    var matchesRows: Bool {
        if case .compound = source.form { return false }
        return !isDistinct && groups.isEmpty && groupCondition == nil && limit == nil && joins.isEmpty
    }

    /// The tables that provide the rows.
    var sources: [QuerySource] { [source] + joins.flatMap(\.sources) }

    /// Whether the rows kept by a limit depend on the query plan.
    var isLimitedByChance: Bool { limit != nil && ordering.isEmpty && !hasUniqueKey }

    mutating func filter(_ condition: SQLExpression) {
        given = given.map { .chain(.and, [$0, condition]) } ?? condition
    }

    // MARK: - SQL

    func write(to writer: inout some QueryWriter, for purpose: Purpose = .rows) throws {
        if supplement?.joinsTables == true {
            return try joined(for: &writer).write(to: &writer, for: purpose)
        }
        try writer.inQuery(self) { try writeTables(to: &$0, for: purpose) }
    }

    func writeTables(to writer: inout some QueryWriter, for purpose: Purpose) throws {
        switch purpose {
        case .rows, .first, .keys:
            try writeCommonTables(to: &writer)
            try writeSelect(to: &writer, for: purpose)
        case .count:
            try writeCommonTables(to: &writer)
            if countsRows {
                writer.text("SELECT COUNT(*)")
                try writeSource(to: &writer)
            } else {
                writer.text("SELECT COUNT(*) FROM (")
                try writeSelect(to: &writer, for: .rows)
                writer.text(")")
            }
        case .existence:
            try writeCommonTables(to: &writer)
            writer.text("SELECT EXISTS (")
            try writeSelect(to: &writer, for: .rows)
            writer.text(")")
        }
    }

    /// Whether `COUNT(*)` counts the rows that would be fetched.
    private var countsRows: Bool {
        if case .compound = source.form { return false }
        guard !isDistinct, groups.isEmpty, groupCondition == nil, limit == nil else { return false }
        let selected = (selection ?? []) + annotations
        // A condition may use a name from the selection.
        if given != nil, selected.contains(where: \.hasName) { return false }
        // An aggregate combines all rows into one. Without a group, only SQLite can decide.
        return selected.allSatisfy(\.isPlain)
    }

    func writeCommonTables(to writer: inout some QueryWriter) throws {
        guard !commonTables.isEmpty else { return }
        writer.text(commonTables.contains(where: \.isRecursive) ? "WITH RECURSIVE " : "WITH ")
        try writer.list(commonTables) { try $1.write(to: &$0) }
        writer.text(" ")
    }

    private func writeSelect(to writer: inout some QueryWriter, for purpose: Purpose) throws {
        if case .compound(let terms) = source.form, isCompoundAlone, purpose != .keys,
            terms.areSorted(by: ordering, on: writer.database)
        {
            try terms.write(to: &writer)
        } else {
            writer.text(isDistinct ? "SELECT DISTINCT " : "SELECT ")
            if purpose == .keys {
                let table = joins.isEmpty ? source.alias : source.name
                try writer.rowKey(of: QuerySource(source.form, alias: table), ", ")
            } else {
                try writeSelection(to: &writer, isJoined: !joins.isEmpty)
            }
            try writeSource(to: &writer)
            if !groups.isEmpty {
                writer.text(" GROUP BY ")
                try writer.list(groups)
            }
            if let groupCondition {
                writer.text(" HAVING ")
                try writer.expression(groupCondition, above: .lowest)
            }
        }
        if !ordering.isEmpty {
            writer.text(" ORDER BY ")
            try writer.list(ordering) { try $1.write(to: &$0) }
        }
        if purpose == .first {
            try writeLimitOfOne(to: &writer)
        } else {
            try limit?.write(to: &writer)
        }
    }

    private var isCompoundAlone: Bool {
        selection == nil && annotations.isEmpty && condition == nil && groups.isEmpty && groupCondition == nil
            && !isDistinct && joins.isEmpty && source.alias == nil
    }

    /// Writes the query for the primary keys, without its common tables.
    func writeKeys(to writer: inout some QueryWriter) throws { try writeSelect(to: &writer, for: .keys) }

    func writeSelection(to writer: inout some QueryWriter, isJoined: Bool) throws {
        if let selection {
            try writer.list(selection) { try $1.write(to: &$0) }
        } else if let type = source.type {
            if !isJoined {
                try writer.selection(of: type)
            } else {
                // The columns of the joined tables do not belong to the record.
                try writer.joinedSelection(of: type, alias: source.alias)
            }
        } else if isJoined, let name = source.name {
            writer.name(name)
            writer.text(".*")
        } else {
            writer.text("*")
        }
        var isFirst = selection?.isEmpty == true
        for annotation in annotations {
            if !isFirst { writer.text(", ") }
            isFirst = false
            try annotation.write(to: &writer)
        }
    }

    private func writeSource(to writer: inout some QueryWriter) throws {
        writer.text(" FROM ")
        try source.write(to: &writer)
        for join in joins { try join.write(to: &writer) }
        try writeCondition(to: &writer)
    }

    func writeCondition(to writer: inout some QueryWriter) throws {
        guard let condition else { return }
        writer.text(" WHERE ")
        try writer.condition(condition, of: joins.isEmpty ? source.alias : source.name)
    }

    private func writeLimitOfOne(to writer: inout some QueryWriter) throws {
        if let limit {
            try QueryLimit(count: Swift.min(limit.count, 1), offset: limit.offset).write(to: &writer)
        } else if !hasUniqueKey {
            writer.text(" LIMIT 1")
        }
    }
}

/// The maximum number of rows, and an offset.
struct QueryLimit: Sendable {
    let count: Int
    let offset: Int?

    func write(to writer: inout some QueryWriter) throws {
        writer.text(" LIMIT ")
        writer.value(count.databaseValue)
        if let offset {
            writer.text(" OFFSET ")
            writer.value(offset.databaseValue)
        }
    }
}

/// A table in the `WITH` clause of a query.
struct CommonTable: Sendable {
    let name: String
    let columns: [String]
    let query: Subquery
    let isRecursive: Bool

    func isNamed(_ name: String) -> Bool { CaseInsensitiveName.matches(self.name, name) }

    func write(to writer: inout some QueryWriter) throws {
        writer.name(name)
        if !columns.isEmpty {
            writer.text("(")
            writer.list(columns) { $0.name($1) }
            writer.text(")")
        }
        writer.text(" AS (")
        try query.write(to: &writer)
        writer.text(")")
    }
}

extension SQLSelection {
    fileprivate var hasName: Bool { if case .expression(_, name: .some) = form { true } else { false } }

    /// Whether this is a column, or all columns, and thus no aggregate.
    var isPlain: Bool {
        switch form {
        case .allColumns: return true
        case .expression(let expression, _):
            if case .column = expression.form { return true }
            switch expression.syntax {
            case .column: return true
            case .scoped(_, let inner): return SQLSelection(.expression(inner, name: nil)).isPlain
            default: return false
            }
        }
    }
}

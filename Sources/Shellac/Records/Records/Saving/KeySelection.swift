// The statements that select a row of a type by its primary key.

import CSQLite

/// The statements that select a row of a type by its key, each prepared once.
struct KeySelections {
    /// The selected columns, in SQL.
    let columns: String
    /// Whether only some rows of the table belong to the type.
    let isConditioned: Bool
    fileprivate var ofAllRows: Statement?
    fileprivate var ofOwnRows: OwnRowSelection?

    init(columns: String, isConditioned: Bool) {
        (self.columns, self.isConditioned) = (columns, isConditioned)
    }
}

/// A statement that selects a row of the type by its key. The key is bound first, and then the
/// values in the conditions of the type.
struct OwnRowSelection {
    let statement: Statement
    let values: [DatabaseValue]

    /// Begins to select the row of a key.
    func begin(_ key: DatabaseValue) throws {
        try statement.begin { pointer in
            var code = key.bind(to: pointer, at: 1)
            for (index, value) in values.enumerated() {
                let bound = value.bind(to: pointer, at: Int32(index + 2))
                if bound != SQLITE_OK { code = bound }
            }
            return code
        }
    }
}

extension RecordPlan {
    /// Returns the statement that selects a row by a single-column primary key.
    @inline(__always)
    func selectByKey() throws -> Statement {
        if let statement = selections.ofAllRows, !statement.isInUse { return statement }
        let statement = try select(where: keyCondition())
        selections.ofAllRows = statement
        return statement
    }

    /// Returns the statement that selects a row by a single-column primary key, if it is a row of
    /// the type. The SQL of the type's conditions is written once.
    func selectOwnByKey(_ type: any TableRecord.Type) throws -> OwnRowSelection {
        if let selection = selections.ofOwnRows, !selection.statement.isInUse { return selection }
        var writer = SQLWriter(database)
        if let condition = type._ownConditions?.condition {
            writer.text(" AND ")
            try writer.inQuery(SelectQuery(QuerySource(.type(type)))) {
                try $0.expression(condition, above: .and)
            }
        }
        let statement = try select(where: keyCondition() + writer.sql)
        let selection = OwnRowSelection(statement: statement, values: writer.arguments)
        selections.ofOwnRows = selection
        return selection
    }

    private func select(where condition: String) throws -> Statement {
        try database.prepare(
            sql: "SELECT \(selections.columns) FROM \(quotedTable) WHERE \(condition)", persistent: true)
    }

    /// Returns the condition that finds a row by its primary key.
    func keyCondition() throws -> String {
        guard !key.isEmpty else { throw DatabaseError(missingPrimaryKeyOf: tableName) }
        return Self.condition(key)
    }

    /// Returns the condition that finds a record's row, as long as it meets the conditions of the
    /// type's rules.
    func ownCondition(_ columns: [String]) -> String {
        Self.condition(columns) + (rules.rowCondition.map { " AND \($0)" } ?? "")
    }

    static func condition(_ columns: [String]) -> String {
        columns.map { "\($0.quotedDatabaseIdentifier) = ?" }.joined(separator: " AND ")
    }
}

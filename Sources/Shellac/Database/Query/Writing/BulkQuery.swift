/// A statement that updates or deletes the rows of a request.
struct BulkQuery: WritableQuery {
    enum Action: Sendable {
        case delete
        case update([ColumnAssignment], Database.ConflictResolution)
    }

    let query: SelectQuery
    let action: Action
    /// Whether the statement returns the request's selection from the rows.
    let isReturning: Bool

    var sources: [QuerySource] { query.sources }

    func write(to writer: inout some QueryWriter) throws {
        let joined = try query.joined(for: &writer)
        try writer.inQuery(joined) { try write(joined, to: &$0) }
    }

    /// - Parameter joined: The request, with all tables that it joins.
    private func write(_ joined: SelectQuery, to writer: inout some QueryWriter) throws {
        let source = query.source
        switch source.form {
        case .type, .table:
            // SQLite does not look for the tables of a WITH clause there: see "DELETE" and "UPDATE"
            // in its documentation.
            if let name = source.tableName, query.commonTables.contains(where: { $0.isNamed(name) }) {
                throw DatabaseError(
                    message: "only the rows of a table can be updated and deleted: \(name) is a common "
                        + "table expression of the request")
            }
        case .query, .compound:
            throw DatabaseError(message: "only the rows of a table can be updated and deleted")
        }
        guard query.groups.isEmpty, query.groupCondition == nil else {
            throw DatabaseError(
                message: "the rows of a grouped request are not rows of the table: they can be neither "
                    + "updated nor deleted")
        }
        try query.writeCommonTables(to: &writer)
        switch action {
        case .delete: writer.text("DELETE FROM ")
        case .update(_, .abort): writer.text("UPDATE ")
        case .update(_, let resolution):
            writer.text("UPDATE OR ")
            writer.keyword(resolution.rawValue)
            writer.text(" ")
        }
        try source.write(to: &writer)
        if case .update(let assignments, _) = action {
            writer.text(" SET ")
            try writer.list(assignments) { try $1.write(to: &$0) }
        }
        if joined.matchesRows {
            try query.writeCondition(to: &writer)
        } else {
            // The rows are found first, by their row ids or keys.
            writer.text(" WHERE (")
            try writer.rowKey(of: source, ", ")
            writer.text(") IN (")
            try joined.writeKeys(to: &writer)
            writer.text(")")
        }
        if isReturning {
            writer.text(" RETURNING ")
            try query.writeSelection(to: &writer, isJoined: false)
        }
    }
}

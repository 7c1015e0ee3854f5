// An expectation about the rows that change.

import Shellac
import Testing

/// Expects that a body changes exactly some rows, whatever changes them: records, SQL, triggers or
/// cascades.
///
/// ```swift
/// try dbQueue.write { db in
///     try expectChanges(["update player 1: score 0 → 10", "insert prize 7: playerID 1"], db) {
///         try player.win(db)
///     }
/// }
/// ```
///
/// A line names the table and the primary key of a row. Then come all other columns of an inserted
/// row, and the changed ones of an updated row. The tables have the order of the schema. In each,
/// deleted rows come first, then updated rows, then inserted rows, sorted by key.
///
/// The tables are read before and after the body, so they should be as small as those of tests are.
/// Virtual tables are left out.
///
/// - Parameters:
///   - expected: The lines.
///   - db: The connection.
///   - body: The function that changes the rows.
/// - Returns: The result of the body.
/// - Throws: what the body throws, or a `DatabaseError` if a table cannot be read.
@discardableResult
public func expectChanges<Result>(
    _ expected: [String], _ db: Database, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Result
) throws -> Result {
    let before = try db.comparedTables()
    let result = try body()
    let changes = ComparedTable.changes(from: before, to: try db.comparedTables())
    if changes != expected {
        Issue.record(
            """
            expected the changes
            \(lines(expected))
            but there were
            \(lines(changes))
            """, sourceLocation: sourceLocation)
    }
    return result
}

/// Indents the lines of a message.
private func lines(_ changes: [String]) -> String {
    changes.isEmpty ? "  none" : changes.map { "  \($0)" }.joined(separator: "\n")
}

/// The rows of a table at one moment.
private struct ComparedTable {
    var name: String
    /// The names of all columns that do not belong to the key.
    var columns: [String]
    /// The rows, without their keys.
    var rows: [[DatabaseValue]: [DatabaseValue]] = [:]
    /// The keys, in their order.
    var keys: [[DatabaseValue]] = []

    /// Describes how tables have changed.
    static func changes(from before: [ComparedTable], to after: [ComparedTable]) -> [String] {
        let dropped = before.filter { old in !after.contains { $0.name == old.name } }
        return after.flatMap { new in
            new.changes(
                since: before.first { $0.name == new.name } ?? ComparedTable(name: new.name, columns: []))
        } + dropped.flatMap { ComparedTable(name: $0.name, columns: []).changes(since: $0) }
    }

    /// Describes the deleted, updated and inserted rows.
    private func changes(since old: ComparedTable) -> [String] {
        old.keys.filter { rows[$0] == nil }.map { "delete \(place(of: $0))" }
            + keys.compactMap { key in
                guard let before = old.rows[key] else { return nil }
                let changes = changes(from: before, of: old.columns, to: rows[key, default: []])
                return changes.isEmpty ? nil : "update \(place(of: key)): " + changes.joined(separator: ", ")
            }
            + keys.filter { old.rows[$0] == nil }.map { key in
                let values = zip(columns, rows[key, default: []]).map { "\($0) \($1.debugDescription)" }
                return "insert \(place(of: key))"
                    + (values.isEmpty ? "" : ": " + values.joined(separator: ", "))
            }
    }

    /// Describes the changed values of a row. Columns may have been added and dropped, too.
    private func changes(
        from before: [DatabaseValue], of oldColumns: [String], to after: [DatabaseValue]
    ) -> [String] {
        let old = Dictionary(zip(oldColumns, before), uniquingKeysWith: { first, _ in first })
        let changed = zip(columns, after).compactMap { column, value -> String? in
            guard old[column] != value else { return nil }
            return "\(column) \(old[column]?.debugDescription ?? "nothing") → \(value.debugDescription)"
        }
        return changed
            + oldColumns.filter { !columns.contains($0) }.map {
                "\($0) \(old[$0, default: .null].debugDescription) → nothing"
            }
    }

    private func place(of key: [DatabaseValue]) -> String {
        ([name] + key.map(\.debugDescription)).joined(separator: " ")
    }
}

extension Database {
    /// Returns the tables of the main database with all of their rows.
    fileprivate func comparedTables() throws -> [ComparedTable] {
        let virtual = try String.fetchAll(
            self,
            sql: "SELECT name FROM main.sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL %'")
        return try tableNames().filter { name in
            // (A virtual table keeps its content in tables whose names begin with its own.)
            !virtual.contains { name == $0 || name.hasPrefix("\($0)_") }
        }.map(comparedTable)
    }

    private func comparedTable(_ name: String) throws -> ComparedTable {
        let key = try primaryKey(name, in: "main").columns
        let others = try columns(in: name, in: "main").map(\.name).filter { !key.contains($0) }
        var table = ComparedTable(name: name, columns: others)
        let names = (key + others).map { Column($0) }
        let order: [any SQLOrderingTerm] = Array(names.prefix(key.count))
        let request = Table<Row>(name).select(names).order(order)
        for row in try request.fetchAll(self) {
            let values: [DatabaseValue] = Array(row.databaseValues)
            var place = Array(values.prefix(key.count))
            // (NULL is a key of any number of rows.)
            while table.rows[place] != nil { place.append(.null) }
            table.rows[place] = Array(values.dropFirst(key.count))
            table.keys.append(place)
        }
        return table
    }
}

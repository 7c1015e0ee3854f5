// The SQL that reads the rows of a screen: by key from the row before, never by counting rows.

import Shellac

/// A table or a view, as the browser needs it.
struct BrowsedTable: Equatable {
    let name: String
    let columns: [ColumnInfo]
    /// The columns that identify a row and are never NULL: a name of the row id, or the primary key
    /// of a WITHOUT ROWID table. Empty for a view.
    let key: [String]
    let foreignKeys: [ForeignKeyInfo]
    let isView: Bool
    let isVirtual: Bool
    /// The columns that an index begins with, for each index and for the primary key.
    let indexed: [[String]]

    func index(of column: String) -> Int? { columns.firstIndex { $0.name.isSameName(as: column) } }

    /// Whether rows with given values in some columns are found by an index.
    func hasIndex(beginningWith names: [String]) -> Bool {
        indexed.contains { index in
            let start = index.prefix(names.count)
            return start.count == names.count
                && names.allSatisfy { name in start.contains { $0.isSameName(as: name) } }
        }
    }

    /// The foreign key that a column is part of. Of several, it is the one with the fewest columns.
    func foreignKey(of column: Int) -> ForeignKeyInfo? {
        guard columns.indices.contains(column) else { return nil }
        return foreignKeys.filter { key in
            !key.destinationColumns.isEmpty
                && key.originColumns.contains { $0.isSameName(as: columns[column].name) }
        }.min { $0.originColumns.count < $1.originColumns.count }
    }
}

/// A condition on rows: a column has a value.
struct ColumnCondition: Equatable {
    let column: String
    let value: DatabaseValue
}

/// An order of rows by one column.
struct ColumnOrder: Equatable {
    let column: Int
    var isDescending = false
}

/// The place of a row in an order: its key, and its value in the column that sorts.
struct RowPosition: Equatable {
    let key: [DatabaseValue]
    var sorted: DatabaseValue?
}

/// The rows of a table to show: all, the ones with some values, or the ones with a text.
struct BrowsedRows: Equatable {
    let table: BrowsedTable
    var conditions: [ColumnCondition] = []
    var search: String?
    var order: ColumnOrder?

    /// The largest number of characters of a text that are read for a cell.
    static var cellLength: Int { 400 }
    /// The largest number of columns that are searched, because of SQLite's limit on expressions.
    private static var searchedColumns: Int { 400 }

    /// A statement with its arguments.
    struct Query: Equatable {
        var sql: String
        var arguments: [DatabaseValue] = []
    }

    /// The start of a page.
    enum Start: Equatable {
        /// The first row, or the last row if the page is read backward.
        case edge
        /// The row at a position, or the next one if it is gone.
        case at(RowPosition)
        /// The row behind a position, in the direction of reading.
        case behind(RowPosition)
        /// The row of a number, for rows without a key.
        case number(Int)
    }

    /// The column that sorts, unless it is the key itself.
    private var sortingColumn: ColumnInfo? {
        guard let order, table.columns.indices.contains(order.column) else { return nil }
        let column = table.columns[order.column]
        return table.key.count == 1 && column.name.isSameName(as: table.key[0]) ? nil : column
    }

    /// Returns the statements that read a page, to be run in turn until it is full.
    ///
    /// Each statement finds its first row by an index, if the order has one: a single statement
    /// with OR in its condition would not. NULL comes first in an ascending order, and is neither
    /// less nor greater than a value. So the rows with NULL have a statement of their own.
    ///
    /// - Parameters:
    ///   - columns: The columns whose values are read.
    ///   - isBackward: Whether the rows are read from the start towards the first one.
    ///   - length: The largest number of characters of a text that are read.
    func page(
        from start: Start, isBackward: Bool = false, columns: Range<Int>, length: Int = cellLength
    ) -> [Query] {
        let isAscending = (order?.isDescending ?? false) == isBackward
        let direction = isAscending ? "ASC" : "DESC"
        let selection = selection(columns, length)
        func query(_ condition: Query?, _ terms: [String]) -> Query {
            var query = Query(sql: "SELECT \(selection) FROM main.\(table.name.quotedDatabaseIdentifier)")
            let conditions = filters + (condition.map { [$0] } ?? [])
            if !conditions.isEmpty {
                query.sql += " WHERE " + conditions.map(\.sql).joined(separator: " AND ")
                query.arguments = conditions.flatMap(\.arguments)
            }
            if !terms.isEmpty {
                query.sql += " ORDER BY " + terms.map { "\($0) \(direction)" }.joined(separator: ", ")
            }
            query.sql += " LIMIT ?"
            return query
        }
        let sorting = sortingColumn?.name.quotedDatabaseIdentifier
        // Among rows with the same value in the sorting column, the rest of the key decides.
        let rest = table.key.indices.filter { index in
            sortingColumn.map { !table.key[index].isSameName(as: $0.name) } ?? true
        }
        let key = rest.map { table.key[$0].quotedDatabaseIdentifier }
        let terms = (sorting.map { [$0] } ?? []) + key
        let position: RowPosition
        let includes: Bool
        switch start {
        case .edge: return [query(nil, terms)]
        case .number(let number):
            var query = query(nil, terms)
            if number > 0 { query.sql += " OFFSET \(number)" }
            return [query]
        case .at(let row): (position, includes) = (row, true)
        case .behind(let row): (position, includes) = (row, false)
        }
        let sign = isAscending ? ">" : "<"
        let marks = Array(repeating: "?", count: key.count).joined(separator: ", ")
        let further = Query(
            sql: key.count == 1
                ? "\(key[0]) \(sign)\(includes ? "=" : "") ?"
                : "(\(key.joined(separator: ", "))) \(sign)\(includes ? "=" : "") (\(marks))",
            arguments: rest.map { position.key[$0] })
        guard let sorting, let column = sortingColumn, let value = position.sorted else {
            return [query(further, key)]
        }
        func equal(_ test: String, _ arguments: [DatabaseValue]) -> Query {
            query(
                Query(sql: "\(sorting) \(test) AND \(further.sql)", arguments: arguments + further.arguments),
                key)
        }
        if value.isNull {
            let same = equal("IS NULL", [])
            guard isAscending else { return [same] }
            // The least value of all, and of those in a column that makes numbers texts.
            let least = column.affinity == .text ? "''" : "-9e999"
            return [same, query(Query(sql: "\(sorting) >= \(least)"), terms)]
        }
        let pages = [
            equal("= ?", [value]), query(Query(sql: "\(sorting) \(sign) ?", arguments: [value]), terms),
        ]
        // A column of the key is never NULL.
        return isAscending || rest.count < table.key.count
            ? pages : pages + [query(Query(sql: "\(sorting) IS NULL"), key)]
    }

    /// Returns a statement that counts rows up to a limit, or nil if that could take long.
    func count(upTo limit: Int) -> Query? {
        guard !table.isView, !table.isVirtual, search == nil else { return nil }
        guard conditions.isEmpty || table.hasIndex(beginningWith: conditions.map(\.column)) else {
            return nil
        }
        var sql = "SELECT count(*) FROM (SELECT 1 FROM main.\(table.name.quotedDatabaseIdentifier)"
        let filters = filters
        if !filters.isEmpty { sql += " WHERE " + filters.map(\.sql).joined(separator: " AND ") }
        return Query(sql: sql + " LIMIT \(limit))", arguments: filters.flatMap(\.arguments))
    }

    /// Returns a statement that reads some columns of the first row, in full.
    func firstRow(_ columns: [String]) -> Query {
        var query = Query(
            sql: "SELECT \(columns.map(\.quotedDatabaseIdentifier).joined(separator: ", "))"
                + " FROM main.\(table.name.quotedDatabaseIdentifier)")
        let filters = filters
        if !filters.isEmpty { query.sql += " WHERE " + filters.map(\.sql).joined(separator: " AND ") }
        query.sql += " LIMIT 1"
        query.arguments = filters.flatMap(\.arguments)
        return query
    }

    // MARK: - The parts of a statement

    /// The key, the value that sorts, and two values for each column: its type, and what is shown.
    private func selection(_ columns: Range<Int>, _ length: Int) -> String {
        var terms = table.key.map(\.quotedDatabaseIdentifier)
        terms.append(table.key.isEmpty ? "NULL" : sortingColumn?.name.quotedDatabaseIdentifier ?? "NULL")
        for column in table.columns[columns] { terms += Self.cell(column.name, length: length) }
        return terms.joined(separator: ", ")
    }

    /// Returns the expressions for a cell. They leave the pages of a large blob unread.
    static func cell(_ column: String, length: Int) -> [String] {
        let name = column.quotedDatabaseIdentifier
        return [
            "typeof(\(name))",
            "CASE typeof(\(name)) WHEN 'text' THEN substr(\(name), 1, \(length)) WHEN 'blob' THEN "
                + "CASE WHEN length(\(name)) > 16 THEN length(\(name)) ELSE \(name) END ELSE \(name) END",
        ]
    }

    private var filters: [Query] {
        var filters = conditions.map { condition in
            Query(sql: "\(condition.column.quotedDatabaseIdentifier) = ?", arguments: [condition.value])
        }
        if let search {
            var pattern = "%".unicodeScalars
            for scalar in search.unicodeScalars {
                if "%_\\".unicodeScalars.contains(scalar) { pattern.append("\\") }
                pattern.append(scalar)
            }
            pattern.append("%")
            let columns = table.columns.prefix(Self.searchedColumns).map(\.name.quotedDatabaseIdentifier)
            filters.append(
                Query(
                    sql: "("
                        + columns.map { "(typeof(\($0)) <> 'blob' AND \($0) LIKE ? ESCAPE '\\')" }
                        .joined(separator: " OR ") + ")",
                    arguments: columns.map { _ in DatabaseValue(.string(String(pattern))) }))
        }
        return filters
    }
}

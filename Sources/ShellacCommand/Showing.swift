// The `shellac show` verb: prints a table's rows as a text table, JSON, JSON lines or CSV.

import Shellac

/// `shellac show`: the rows of a table.
struct Showing {
    private enum Form: String, CaseIterable {
        case table, lines, json, jsonl, csv
    }

    private let file: LookedAtFile
    private let output: Output
    private let arguments: Arguments

    init(_ file: LookedAtFile, _ output: Output, _ arguments: Arguments) {
        (self.file, self.output, self.arguments) = (file, output, arguments)
    }

    func run() throws -> ExitCode {
        let asked = try arguments.choice("--as", Form.self)
        let form = asked ?? .table
        let limit = try arguments.number("--limit").map { Int(min($0, 1e18)) }
        if arguments["--null"] != nil, form == .json || form == .jsonl {
            throw arguments.usage("JSON has its own null: --null is for tables and CSV")
        }
        if form == .csv, let null = arguments["--null"], !ExchangeFormat.isNullWord(null, separator: ",") {
            throw arguments.usage("--null needs a word without a comma, a quote or a line break")
        }
        try file.read { db in
            let sql = try Selection(
                db, arguments.words[1], columns: columns(db), where: arguments["--where"],
                order: arguments["--order"], limit: limit
            ).sql
            switch form {
            case .table: try writeTable(db, sql, asked == nil ? .linesIfTooNarrow : .columns)
            case .lines: try writeTable(db, sql, .lines)
            case .json: try export(db, sql, .json)
            case .jsonl: try export(db, sql, .jsonLines)
            case .csv: try export(db, sql, .csv(null: arguments["--null"] ?? ""))
            }
        }
        return .done
    }

    private func export(_ db: Database, _ sql: String, _ format: ExchangeFormat) throws {
        let request = SQLRequest<Row>(sql: sql)
        try db.exportRows(of: request, to: .chunks { try output.write($0) }, as: format)
    }

    /// Returns the columns to select, as SQL.
    private func columns(_ db: Database) throws -> String {
        guard let list = arguments["--columns"] else { return "*" }
        let parts = list.split(separator: ",")
        if parts.isEmpty { throw arguments.usage("--columns needs names") }
        let table = arguments.words[1]
        try Selection.checkExists(table, db)
        let names = try db.columns(in: table, in: "main").map(\.name)
        // A hidden row id is not among the columns, and may be named.
        let isHidden = try db.tableExists(table, in: "main") && db.primaryKey(table, in: "main").isHiddenRowID
        let known = names + (isHidden ? ["rowid"] : [])
        return try parts.map { part in
            let name = String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            guard known.contains(where: { $0.isSameName(as: name) }) else {
                throw Failure(
                    .sql, "\(table) has no column \(name): there are \(names.joined(separator: ", "))")
            }
            return name.quotedDatabaseIdentifier
        }.joined(separator: ", ")
    }

    private func writeTable(_ db: Database, _ sql: String, _ layout: TextTable.Layout) throws {
        let statement = try db.makeStatement(sql: sql)
        var table = TextTable(output, statement.columnNames, layout: layout)
        let rows = try Row.fetchCursor(statement)
        while let row = try rows.next() {
            try table.add(row.databaseValues.map { Self.cell($0, null: arguments["--null"]) })
        }
        try table.finish()
    }

    /// Returns a value in a readable form.
    static func cell(_ value: DatabaseValue, null: String? = nil) -> TextTable.Cell {
        switch value.storage {
        case .null: TextTable.Cell(null ?? "NULL", style: .faint)
        case .int64, .double: TextTable.Cell(value.debugDescription, isNumber: true)
        case .string(let text): TextTable.Cell(text)
        case .blob(let bytes):
            bytes.count <= 16
                ? TextTable.Cell(value.debugDescription)
                : TextTable.Cell("blob of \(bytes.count) bytes", style: .faint)
        }
    }
}

/// The SQL that reads the rows of a table or a view.
struct Selection {
    let sql: String

    init(
        _ db: Database, _ name: String, columns: String = "*", where condition: String? = nil,
        order: String? = nil,
        limit: Int? = nil
    ) throws {
        try Self.checkExists(name, db)
        var sql = "SELECT \(columns) FROM main.\(name.quotedDatabaseIdentifier)"
        // A comment at the end of the user's SQL must not hide what follows.
        func ended(_ text: String) -> String { text.contains("--") ? text + "\n" : text }
        if let condition { sql += " WHERE (\(ended(condition)))" }
        if let order {
            sql += " ORDER BY \(ended(order))"
        } else {
            let key = try db.primaryKey(name, in: "main").columns.map(\.quotedDatabaseIdentifier)
            if !key.isEmpty { sql += " ORDER BY \(key.joined(separator: ", "))" }
        }
        if let limit { sql += " LIMIT \(limit)" }
        self.sql = sql
    }

    /// Throws unless there is such a table or view.
    static func checkExists(_ name: String, _ db: Database) throws {
        guard try db.tableExists(name, in: "main") || db.viewExists(name, in: "main") else {
            throw Failure(.sql, try missing(db, name))
        }
    }

    static func missing(_ db: Database, _ name: String) throws -> String {
        let names = try db.tableNames() + db.viewNames()
        let list = names.isEmpty ? "there are none" : "there are \(names.joined(separator: ", "))"
        return "there is no table \(name): \(list)"
    }
}

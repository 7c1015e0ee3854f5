// The `shellac recover` verb: what can be read of a damaged file, as SQL or in a new file.

import Shellac

/// `shellac recover`: what can be read of a damaged file.
struct Recovery {
    private let file: LookedAtFile
    private let output: Output
    private let arguments: Arguments

    init(_ file: LookedAtFile, _ output: Output, _ arguments: Arguments) {
        (self.file, self.output, self.arguments) = (file, output, arguments)
    }

    /// An entry of the schema.
    private struct Entry {
        let type: String
        let name: String
        let table: String
        let sql: String

        init?(_ values: [DatabaseValue]) {
            guard values.count == 4, case .string(let type) = values[0].storage,
                case .string(let name) = values[1].storage, case .string(let table) = values[2].storage,
                case .string(let sql) = values[3].storage
            else { return nil }
            (self.type, self.name, self.table, self.sql) = (type, name, table, sql)
        }
    }

    /// The result for one table.
    private struct Report {
        let table: String
        var count = 0
        var isWhole = true
        var losses: [String] = []

        var json: JSON {
            .object([
                ("name", .text(table)), ("rows", .number(count)), ("isWhole", .bool(isWhole)),
                ("losses", .texts(losses)),
            ])
        }
    }

    func run() throws -> ExitCode {
        let isJSON = try arguments.choice("--as", TextOrJSON.self) == .json
        if isJSON, arguments["--into"] == nil {
            throw Failure(
                .usage, "recover writes SQL to the standard output, and a report as JSON only with --into")
        }
        let target: any RecoveryTarget =
            try arguments["--into"].map { try FileTarget($0) } ?? SQLTarget(output)
        // Not in a transaction: SQLite ends one for some errors of a damaged file.
        let reports = try file.queue.unsafeRead { db in
            do { return try recover(db, target) } catch { throw Failure(error, path: file.path) }
        }
        try target.finish()
        try file.checkStill()
        if isJSON {
            try output.json(
                .object([
                    ("isWhole", .bool(reports.allSatisfy(\.isWhole))),
                    ("tables", .array(reports.map(\.json))),
                ]))
        }
        let isSQL = target is SQLTarget
        for report in isJSON ? [] : reports { try write(report, isSQL ? "-- " : "") }
        return reports.allSatisfy(\.isWhole) ? .done : .found
    }

    private func write(_ report: Report, _ prefix: String) throws {
        try output.line(
            prefix + TextWidth.visible("\(report.table): \(String.count(report.count, "row")) saved"))
        for loss in report.losses { try output.line(prefix + TextWidth.visible("    \(loss)")) }
    }

    // MARK: - The schema

    private func recover(_ db: Database, _ target: any RecoveryTarget) throws -> [Report] {
        for name in ["user_version", "application_id"] {
            if let number = try? Int64.fetchOne(db, sql: "PRAGMA \(name)"), number != 0 {
                try target.execute("PRAGMA \(name) = \(number)")
            }
        }
        var (entries, schema): ([Entry], Report) = ([], Report(table: "sqlite_schema"))
        let rows = RowRecovery(
            db, table: "main.sqlite_schema", rowID: "rowid", columns: ["type", "name", "tbl_name", "sql"]
        ) { _, values in if let entry = Entry(values) { entries.append(entry) } }
        try rows.run()
        schema.count = entries.count
        note(rows, [], &schema)
        var reports = schema.isWhole ? [] : [schema]
        let tables = entries.filter { $0.type == "table" && !$0.name.hasPrefix("sqlite_") }
        let virtual = tables.filter { $0.sql.uppercased().hasPrefix("CREATE VIRTUAL") }
        for table in tables where !virtual.contains(where: { table.name.hasPrefix($0.name + "_") }) {
            reports.append(
                try recover(table, entries, isVirtual: virtual.contains { $0.name == table.name }, db, target)
            )
        }
        if tables.contains(where: { $0.sql.uppercased().contains("AUTOINCREMENT") }) {
            try recoverSequences(db, target)
        }
        for entry in entries where entry.type != "table" {
            do {
                try (target as? FileTarget)?.flush()
                try target.execute(entry.sql)
            } catch let error as DatabaseError {
                var report = Report(table: "\(entry.type) \(entry.name)")
                report.isWhole = false
                report.losses = ["could not be made: \(error.message ?? "\(error.resultCode)")"]
                reports.append(report)
            }
        }
        return reports
    }

    /// Copies the numbers that AUTOINCREMENT has given last.
    private func recoverSequences(_ db: Database, _ target: any RecoveryTarget) throws {
        var sequences: [[DatabaseValue]] = []
        let rows = RowRecovery(db, table: "main.sqlite_sequence", rowID: "rowid", columns: ["name", "seq"]) {
            sequences.append($1)
        }
        guard (try? rows.run()) != nil else { return }
        try (target as? FileTarget)?.flush()
        for values in sequences {
            let (name, number) = (SQLTarget.literal(values[0]), SQLTarget.literal(values[1]))
            try target.execute("DELETE FROM sqlite_sequence WHERE name = \(name) AND seq < \(number)")
            try target.execute(
                "INSERT INTO sqlite_sequence (name, seq) SELECT \(name), \(number) "
                    + "WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = \(name))")
        }
    }

    // MARK: - Tables

    private func recover(
        _ table: Entry, _ entries: [Entry], isVirtual: Bool, _ db: Database, _ target: any RecoveryTarget
    ) throws -> Report {
        var report = Report(table: table.name)
        let name = table.name.quotedDatabaseIdentifier
        do {
            try (target as? FileTarget)?.flush()
            try target.execute(table.sql)
            // Hidden and generated columns cannot be inserted.
            let columns = try String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [table.name])
            let quoted = columns.map(\.quotedDatabaseIdentifier)
            guard let rowID = SchemaFacts.rowIDName(besides: columns),
                try hasRowIDs(table.name, rowID, db)
            else {
                try recoverByKey(name, quoted, db, target, &report)
                return report
            }
            var count = 0
            let rows = RowRecovery(db, table: "main.\(name)", rowID: rowID, columns: quoted) { id, values in
                try target.insert(into: name, [rowID] + quoted, [id.databaseValue] + values)
                count += 1
            }
            try rows.run()
            var known: Set<Int64> = []
            if !isVirtual, !rows.lost.isEmpty {
                try useIndexes(of: table.name, columns, db, rows, &known)
            }
            report.count = count
            note(rows, known, &report)
        } catch let error as DatabaseError {
            report.isWhole = false
            report.losses.append("could not be read: \(error.message ?? "\(error.resultCode)")")
        }
        return report
    }

    private func hasRowIDs(_ table: String, _ rowID: String, _ db: Database) throws -> Bool {
        do {
            _ = try db.makeStatement(sql: "SELECT \(rowID) FROM main.\(table.quotedDatabaseIdentifier)")
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR { return false }
    }

    private func useIndexes(
        of table: String, _ columns: [String], _ db: Database, _ rows: RowRecovery,
        _ known: inout Set<Int64>
    ) throws {
        let key = try? String.fetchAll(
            db, sql: "SELECT name FROM pragma_table_info(?) WHERE pk = 1 AND type = 'INTEGER' COLLATE NOCASE",
            arguments: [table])
        let indexes = try String.fetchAll(
            db, sql: "SELECT name FROM pragma_index_list(?) WHERE NOT partial", arguments: [table])
        for index in indexes {
            let names = try Row.fetchAll(
                db, sql: "SELECT name FROM pragma_index_info(?) ORDER BY seqno", arguments: [index]
            ).map { row in try row["name"] as String? }
            // An expression has no name.
            guard let first = names.first ?? nil else { continue }
            let covered = Set((names.compactMap { $0 } + (key ?? [])).map { $0.lowercased() })
            try rows.useIndex(
                index.quotedDatabaseIdentifier, first.quotedDatabaseIdentifier,
                isComplete: columns.allSatisfy { covered.contains($0.lowercased()) }, known: &known)
        }
    }

    /// Notes the rows that are lost.
    private func note(_ rows: RowRecovery, _ known: Set<Int64>, _ report: inout Report) {
        guard !rows.lost.isEmpty else { return }
        report.isWhole = false
        if let error = rows.error { report.losses.append("SQLite says: \(error)") }
        let ranges = rows.lost.map { range in
            switch (range.lowerBound, range.upperBound) {
            case (.min, .max): "all"
            case (.min, let last): "up to \(last)"
            case (let first, .max): "from \(first) on"
            case (let first, let last): first == last ? "\(first)" : "\(first) to \(last)"
            }
        }
        let more = ranges.count > 20 ? ", and \(ranges.count - 20) more ranges" : ""
        report.losses.append("row IDs not read: \(ranges.prefix(20).joined(separator: ", "))\(more)")
        if !known.isEmpty {
            report.losses.append("indexes name \(String.count(known.count, "row")) of these")
        }
    }

    /// Reads a table without row IDs: forward and backward by its primary key.
    private func recoverByKey(
        _ name: String, _ columns: [String], _ db: Database, _ target: any RecoveryTarget,
        _ report: inout Report
    ) throws {
        let key = try db.primaryKey(report.table, in: "main").columns.map(\.quotedDatabaseIdentifier)
        var seen = 0
        for order in ["", " DESC"] {
            let list = key.map { $0 + order }.joined(separator: ", ")
            do {
                let cursor = try Row.fetchCursor(
                    db,
                    sql:
                        "SELECT \(columns.joined(separator: ", ")) FROM main.\(name) NOT INDEXED ORDER BY \(list)"
                )
                while let row = try cursor.next() {
                    try target.insert(into: name, columns, row.databaseValues)
                    seen += 1
                }
                report.count = seen
                return
            } catch let error as DatabaseError
                where error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_IOERR
            {
                if report.isWhole { report.losses.append("SQLite says: \(error.message ?? "")") }
                report.isWhole = false
                report.count = seen
            }
        }
        report.losses.append("rows in the middle of the primary key were not read")
    }
}

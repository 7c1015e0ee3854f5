// The `shellac diff` verb: compares the schemas and rows of two databases.

import Shellac

/// `shellac diff`: the differences between two databases.
struct Differences {
    private let file: LookedAtFile
    private let output: Output
    private let arguments: Arguments
    private let isJSON: Bool

    init(_ file: LookedAtFile, _ output: Output, _ arguments: Arguments) throws {
        (self.file, self.output, self.arguments) = (file, output, arguments)
        isJSON = try arguments.choice("--as", TextOrJSONLines.self) == .jsonl
    }

    func run() throws -> ExitCode {
        let other = try LookedAtFile(arguments.words[1])
        var isDifferent = false
        let schemas = try (objects(file), objects(other))
        if !arguments.has("--rows") { isDifferent = try writeSchema(schemas.0, schemas.1) }
        if !arguments.has("--schema") {
            // SQLite compares the rows, with both files attached. So their number does not matter.
            try file.queue.unsafeRead { db in
                try db.execute(sql: "ATTACH ? AS shellac_other", arguments: [other.attachedName])
            }
            try file.read { db in
                for table in try comparable(db) where try write(table, db) { isDifferent = true }
            }
            try other.checkStill()
        }
        if !isDifferent, !isJSON { try output.line("no difference") }
        return isDifferent ? .found : .done
    }

    // MARK: - The schema

    private struct Object {
        let kind: String
        let name: String
        let sql: String
    }

    private func objects(_ file: LookedAtFile) throws -> [Object] {
        try file.read { db in
            let own = try OwnTables(db)
            return try Row.fetchAll(
                db,
                sql: """
                    SELECT type, name, sql, tbl_name FROM main.sqlite_master
                    WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite@_%' ESCAPE '@'
                    ORDER BY type <> 'table', type <> 'view', type, name
                    """
            ).compactMap { row in
                guard try isCompared(row[1], own), try isCompared(row[3], own) else { return nil }
                return Object(kind: try row[0], name: try row[1], sql: try row[2])
            }
        }
    }

    /// Whether a table or a trigger is compared. Which migrations have run always is.
    private func isCompared(_ name: String, _ own: OwnTables) -> Bool {
        arguments.has("--all") || !own.contains(name, countingMigrations: false)
    }

    private func writeSchema(_ old: [Object], _ new: [Object]) throws -> Bool {
        func same(_ a: Object, _ b: Object) -> Bool { a.kind == b.kind && a.name.isSameName(as: b.name) }
        var isDifferent = false
        for object in old {
            let other = new.first { same($0, object) }
            guard other.map({ Self.normal($0.sql) != Self.normal(object.sql) }) ?? true else { continue }
            try write(object, other)
            isDifferent = true
        }
        for object in new where !old.contains(where: { same($0, object) }) {
            try write(nil, object)
            isDifferent = true
        }
        return isDifferent
    }

    /// Writes the difference between two declarations, of which one may be absent.
    private func write(_ old: Object?, _ new: Object?) throws {
        guard let object = old ?? new else { return }
        if isJSON {
            let change = old == nil ? "added" : new == nil ? "removed" : "changed"
            return try output.line(
                JSON.object([
                    ("change", .text(change)), ("kind", .text(object.kind)), ("name", .text(object.name)),
                    ("old", .text(old?.sql)), ("new", .text(new?.sql)),
                ]).line)
        }
        let isChanged = old != nil && new != nil
        let indentation = isChanged ? "  " : ""
        if isChanged { try output.line("~ \(object.kind) \(TextWidth.visible(object.name))", .changed) }
        if let old { try write("-", old.sql, .bad, indentation: indentation) }
        if let new { try write("+", new.sql, .good, indentation: indentation) }
    }

    /// Returns SQL in a normal form, without differences in blanks outside of texts.
    private static func normal(_ sql: String) -> [UInt8] {
        var normal: [UInt8] = []
        var quote: UInt8?
        for byte in sql.utf8 {
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "[") {
                quote = UInt8(ascii: "]")
            } else if "\"'`".utf8.contains(byte) {
                quote = byte
            } else if byte == 0x20 || 0x09...0x0D ~= byte {
                if normal.last != 0x20 { normal.append(0x20) }
                continue
            } else if "(),".utf8.contains(byte) {
                if normal.last == 0x20 { normal.removeLast() }
                normal.append(byte)
                normal.append(0x20)
                continue
            }
            normal.append(byte)
        }
        return normal
    }

    private func write(_ sign: String, _ text: String, _ style: Output.Style, indentation: String = "") throws
    {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            try output.line("\(indentation)\(sign) \(TextWidth.visible(String(line)))", style)
        }
    }

    // MARK: - Rows

    private struct Comparable {
        let name: String
        let key: [String]
        let columns: [String]
        let isRowIDHidden: Bool
    }

    /// Returns the tables of both databases, with their common columns. A virtual table is left
    /// out, as its rows are in other tables, which are compared.
    private func comparable(_ db: Database) throws -> [Comparable] {
        let virtual = try Set(
            String.fetchAll(
                db, sql: "SELECT lower(name) FROM main.sqlite_master WHERE type = 'table' AND rootpage = 0"))
        let own = try OwnTables(db)
        return try db.tableNames().compactMap { name in
            guard !virtual.contains(name.asciiLowercased), isCompared(name, own),
                try db.tableExists(name, in: "shellac_other")
            else { return nil }
            let others = try db.columns(in: name, in: "shellac_other").map(\.name)
            func isShared(_ column: String) -> Bool { others.contains { $0.isSameName(as: column) } }
            let columns = try db.columns(in: name, in: "main").map(\.name).filter(isShared)
            let key = try db.primaryKey(name, in: "main")
            guard key.isHiddenRowID || key.columns.allSatisfy(isShared), !key.columns.isEmpty else {
                return nil
            }
            return Comparable(
                name: name, key: key.columns, columns: columns, isRowIDHidden: key.isHiddenRowID)
        }
    }

    /// Writes the rows of a table that differ. Returns whether there are any.
    private func write(_ table: Comparable, _ db: Database) throws -> Bool {
        let name = table.name.quotedDatabaseIdentifier
        let key = table.key.map(\.quotedDatabaseIdentifier)
        let match = key.map { "a.\($0) IS b.\($0)" }.joined(separator: " AND ")
        func columns(_ alias: String) -> String {
            ((table.isRowIDHidden ? key : []) + table.columns.map(\.quotedDatabaseIdentifier)).map {
                "\(alias).\($0)"
            }
            .joined(separator: ", ")
        }
        let names = (table.isRowIDHidden ? table.key : []) + table.columns
        let order = key.map { "a.\($0)" }.joined(separator: ", ")
        var isDifferent = false
        func write(
            _ change: String, _ members: [(name: String, value: JSON)], _ line: () -> String,
            _ style: Output.Style
        ) throws {
            if !isDifferent, !isJSON { try output.line(TextWidth.visible(table.name), .heading) }
            isDifferent = true
            guard isJSON else { return try output.wrapped("  " + line(), style) }
            try output.line(
                JSON.object([("change", .text(change)), ("table", .text(table.name))] + members).line)
        }
        for (sign, change, here, there, style) in [
            ("-", "deleted", "main", "shellac_other", Output.Style.bad),
            ("+", "inserted", "shellac_other", "main", .good),
        ] {
            let rows = try Row.fetchCursor(
                db,
                sql: "SELECT \(columns("a")) FROM \(here).\(name) AS a WHERE NOT EXISTS "
                    + "(SELECT 1 FROM \(there).\(name) AS b WHERE \(match)) ORDER BY \(order)")
            while let row = try rows.next() {
                let values = row.databaseValues
                try write(
                    change, [("row", .row(names, values))], { "\(sign) \(Self.text(names, values))" }, style)
            }
        }
        let compared = table.columns.filter { column in !table.key.contains { $0.isSameName(as: column) } }
        guard !compared.isEmpty else { return isDifferent }
        let differs = compared.map(\.quotedDatabaseIdentifier).map {
            // Neither a collation nor a conversion may make two values equal.
            "(a.\($0) COLLATE BINARY IS NOT b.\($0) COLLATE BINARY OR typeof(a.\($0)) <> typeof(b.\($0)))"
        }
        let both = compared.map(\.quotedDatabaseIdentifier).flatMap { ["a.\($0)", "b.\($0)"] }
        let rows = try Row.fetchCursor(
            db,
            sql: "SELECT \((key.map { "a.\($0)" } + both).joined(separator: ", ")) FROM main.\(name) AS a "
                + "JOIN shellac_other.\(name) AS b ON \(match) WHERE \(differs.joined(separator: " OR ")) ORDER BY \(order)"
        )
        while let row = try rows.next() {
            let values = row.databaseValues
            let changes = compared.enumerated().compactMap { index, column in
                let (old, new) = (values[key.count + 2 * index], values[key.count + 2 * index + 1])
                return old == new ? nil : (column: column, old: old, new: new)
            }
            func text() -> String {
                let list = changes.map { change in
                    "\(TextWidth.visible(change.column)): \(Self.text(change.old)) → \(Self.text(change.new))"
                }
                return "~ \(Self.text(table.key, values)) | \(list.joined(separator: ", "))"
            }
            let json = changes.map { change in
                (
                    name: change.column,
                    value: JSON.object([("old", .value(change.old)), ("new", .value(change.new))])
                )
            }
            try write(
                "updated", [("key", .row(table.key, values)), ("changes", .object(json))], text, .changed)
        }
        return isDifferent
    }

    /// Returns values after the names of their columns.
    static func text(_ names: [String], _ values: [DatabaseValue]) -> String {
        zip(names, values).map { "\(TextWidth.visible($0)): \(text($1))" }.joined(separator: ", ")
    }

    static func text(_ value: DatabaseValue) -> String {
        if case .blob(let bytes) = value.storage, bytes.count > 32 { return "blob of \(bytes.count) bytes" }
        return TextWidth.visible(value.debugDescription)
    }
}

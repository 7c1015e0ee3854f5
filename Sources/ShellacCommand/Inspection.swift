// The `shellac inspect` verb: a one-page summary of a database file.

import Shellac

/// `shellac inspect`: the content of a file, on one page.
struct Inspection {
    private let file: LookedAtFile
    private let output: Output
    private let arguments: Arguments

    init(_ file: LookedAtFile, _ output: Output, _ arguments: Arguments) {
        (self.file, self.output, self.arguments) = (file, output, arguments)
    }

    func run() throws -> ExitCode {
        let isJSON = try arguments.choice("--as", TextOrJSON.self) == .json
        try file.read { db in
            let facts = try SchemaFacts(db, all: arguments.has("--all"))
            let sizes = try Self.sizes(db)
            if isJSON { return try output.json(json(db, facts, sizes)) }
            try writeFile(db)
            try writeTables(db, facts, sizes)
            if !facts.views.isEmpty {
                try output.line()
                try output.line("views", .heading)
                for view in facts.views { try output.line("  " + TextWidth.visible(view)) }
            }
            try writeUnreadable(facts)
            try writeForeignKeys(facts)
            try writeIndexes(facts, sizes)
        }
        return .done
    }

    private static func pragma(_ name: String, _ db: Database) throws -> String {
        try String.fetchOne(db, sql: "SELECT CAST(\(name) AS TEXT) FROM pragma_\(name)") ?? ""
    }

    private func json(_ db: Database, _ facts: SchemaFacts, _ sizes: [String: Int]?) throws -> JSON {
        func number(_ name: String) throws -> JSON { .number(Int(try Self.pragma(name, db))) }
        let state = FileState(file.location)
        let tables = try facts.tables.map { table in
            JSON.object([
                ("name", .text(table.name)), ("rows", .number(try Self.rowCount(table, db))),
                ("size", .number(Self.size(table, sizes))),
                ("indexes", .texts(table.indexes.map(\.name))),
                ("columns", .texts(table.columns.map(\.name))),
            ])
        }
        let keys = facts.unindexedForeignKeys.map { key, remedy in
            JSON.object([
                ("table", .text(key.originTable)), ("columns", .texts(key.originColumns)),
                ("refersTo", .text(key.destinationTable)), ("remedy", .text(remedy)),
            ])
        }
        let indexes = facts.superfluousIndexes.map { table, index, reason in
            JSON.object([
                ("name", .text(index.name)), ("table", .text(table)), ("columns", .texts(index.columns)),
                ("size", .number(sizes?[index.name.asciiLowercased])), ("reason", .text(reason)),
            ])
        }
        return .object([
            ("path", .text(file.path)), ("size", .number(state.size)), ("pages", try number("page_count")),
            ("pageSize", try number("page_size")), ("freePages", try number("freelist_count")),
            ("encoding", .text(try Self.pragma("encoding", db))),
            ("journal", .text(state.isInLogMode ? "wal" : "rollback")),
            ("journalSize", .number(state.isInLogMode ? state.logSize : state.journalSize)),
            ("userVersion", try number("user_version")), ("applicationID", try number("application_id")),
            ("tables", .array(tables)), ("views", .texts(facts.views)),
            ("tablesLeftOut", .number(facts.ownTableCount)),
            (
                "unreadableTables",
                .array(
                    facts.unreadable.map { name, reason in
                        .object([("name", .text(name)), ("reason", .text(reason))])
                    })
            ),
            ("foreignKeysWithoutIndex", .array(keys)), ("indexesNotNeeded", .array(indexes)),
        ])
    }

    private static func rowCount(_ table: SchemaFacts.Table, _ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM main.\(table.name.quotedDatabaseIdentifier)") ?? 0
    }

    private static func size(_ table: SchemaFacts.Table, _ sizes: [String: Int]?) -> Int? {
        table.isVirtual ? nil : sizes.map { $0[table.name.asciiLowercased] ?? 0 }
    }

    private func writeFile(_ db: Database) throws {
        func pragma(_ name: String) throws -> String { try Self.pragma(name, db) }
        let state = FileState(file.location)
        try output.line(TextWidth.visible(file.path), .heading)
        let (pages, free) = (Int(try pragma("page_count")) ?? 0, Int(try pragma("freelist_count")) ?? 0)
        var facts = [
            (
                "size",
                "\(String.size(state.size)), \(String.count(pages, "page")) of \(try pragma("page_size")) bytes, \(free) free"
            ),
            ("encoding", try pragma("encoding")),
            ("journal", Self.journal(state)),
        ]
        let versions = [("user_version", "user version"), ("application_id", "application")]
        for (name, title) in versions {
            let value = try pragma(name)
            if value != "0" { facts.append((title, value)) }
        }
        for (name, value) in facts {
            try output.line("  " + name + String(repeating: " ", count: 14 - name.count) + value)
        }
    }

    /// Describes the journal mode of the database, and the journal files that programs have left
    /// behind.
    static func journal(_ state: FileState) -> String {
        if state.isInLogMode {
            return "write-ahead log"
                + (state.logSize > 0 ? ", which holds \(String.size(state.logSize))" : ", which is empty")
        }
        return "rollback journal"
            + (state.journalSize > 0 ? ", and one of \(String.size(state.journalSize)) is there" : "")
    }

    /// Returns the bytes of each table and index. Nil if SQLite was built without the table that
    /// has them.
    static func sizes(_ db: Database) throws -> [String: Int]? {
        do {
            let rows = try Row.fetchAll(
                db, sql: "SELECT lower(name), sum(pgsize) FROM dbstat WHERE aggregate = TRUE GROUP BY name")
            return try Dictionary(rows.map { (try $0[0], try $0[1]) }, uniquingKeysWith: +)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return nil
        }
    }

    private func writeTables(_ db: Database, _ facts: SchemaFacts, _ sizes: [String: Int]?) throws {
        try output.line()
        guard !facts.tables.isEmpty else {
            try output.line("There are no tables.")
            return try writeOwnTables(facts)
        }
        var table = TextTable(output, ["table", "rows", "size", "indexes", "columns"])
        for one in facts.tables {
            let size = Self.size(one, sizes).map(String.size) ?? ""
            try table.add([
                .init(one.name), .init(try Self.rowCount(one, db)), .init(size, isNumber: true),
                .init(one.indexes.count), .init(one.columns.count),
            ])
        }
        try table.finish()
        try writeOwnTables(facts)
    }

    private func writeOwnTables(_ facts: SchemaFacts) throws {
        guard facts.ownTableCount > 0 else { return }
        let count = facts.ownTableCount
        try output.line(
            "\(String.count(count, "table")) of SQLite and Shellac \(count == 1 ? "is" : "are") left out: "
                + "see --all", .faint)
    }

    private func writeUnreadable(_ facts: SchemaFacts) throws {
        guard !facts.unreadable.isEmpty else { return }
        try output.line()
        try output.line("tables that cannot be read here", .heading)
        for (name, reason) in facts.unreadable {
            try output.line("  " + TextWidth.visible("\(name): \(reason)"))
        }
    }

    private func writeForeignKeys(_ facts: SchemaFacts) throws {
        let keys = facts.unindexedForeignKeys
        guard !keys.isEmpty else { return }
        try output.line()
        try output.line("foreign keys without an index", .heading)
        for (key, remedy) in keys {
            let place = String.place(key.originTable, key.originColumns)
            try output.line("  " + TextWidth.visible("\(place) → \(key.destinationTable)"))
            try output.line("    " + output.styled(TextWidth.visible(remedy), .faint))
        }
    }

    private func writeIndexes(_ facts: SchemaFacts, _ sizes: [String: Int]?) throws {
        let indexes = facts.superfluousIndexes
        guard !indexes.isEmpty else { return }
        try output.line()
        try output.line("indexes that are not needed", .heading)
        for (table, index, reason) in indexes {
            let size = sizes?[index.name.asciiLowercased].map { ", \(String.size($0))" } ?? ""
            let columns = index.columns.joined(separator: ", ")
            try output.line(
                "  " + TextWidth.visible("\(index.name) on \(table)(\(columns))\(size): \(reason)"))
        }
    }
}

// The `shellac inspect` verb: a one-page summary of a database file.

import Shellac

/// `shellac inspect`: the content of a file, on one page.
struct Inspection {
    private let file: LookedAtFile
    private let output: Output

    init(_ file: LookedAtFile, _ output: Output) { (self.file, self.output) = (file, output) }

    func run() throws -> ExitCode {
        try file.read { db in
            let facts = try SchemaFacts(db)
            let sizes = try Self.sizes(db)
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

    private func writeFile(_ db: Database) throws {
        func pragma(_ name: String) throws -> String {
            try String.fetchOne(db, sql: "SELECT CAST(\(name) AS TEXT) FROM pragma_\(name)") ?? ""
        }
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
        guard !facts.tables.isEmpty else { return try output.line("There are no tables.") }
        var table = TextTable(output, ["table", "rows", "size", "indexes", "columns"])
        for one in facts.tables {
            let count =
                try Int.fetchOne(db, sql: "SELECT count(*) FROM main.\(one.name.quotedDatabaseIdentifier)")
                ?? 0
            let size = one.isVirtual ? nil : sizes.map { $0[one.name.asciiLowercased] ?? 0 }
            try table.add([
                .init(one.name), .init(count), .init(size.map(String.size) ?? "", isNumber: true),
                .init(one.indexes.count), .init(one.columns.count),
            ])
        }
        try table.finish()
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

// The `shellac journal` verb: the transactions that a journal has kept.

import Shellac

/// `shellac journal`: the entries of a journal, with their changes.
struct JournalListing {
    private let file: LookedAtFile
    private let output: Output
    private let number: Int64
    private let limit: Int?
    private let isJSON: Bool

    init(_ file: LookedAtFile, _ output: Output, _ arguments: Arguments) throws {
        (self.file, self.output) = (file, output)
        number = try arguments.number("--after").map { Int64(min($0, 1e18)) } ?? 0
        limit = try arguments.number("--limit").map { Int(min($0, 1e9)) }
        isJSON = try arguments.choice("--as", TextOrJSONLines.self) == .jsonl
    }

    func run() throws -> ExitCode {
        try file.read { db in
            guard try db.tableExists("shellac_journal", in: "main") else {
                throw Failure(.sql, "\(file.path) has no journal: see keepJournal(of:) of the library")
            }
            var last = number
            var left = limit ?? .max
            // (An entry may be large. So a few are read at a time.)
            while left > 0 {
                let entries = try db.journalEntries(after: last, limit: min(left, 20))
                if entries.isEmpty { break }
                for entry in entries { try write(entry, db) }
                left -= entries.count
                last = entries[entries.count - 1].number
            }
        }
        return .done
    }

    private func write(_ entry: JournalEntry, _ db: Database) throws {
        let date = String.fromDatabaseValue(entry.date.databaseValue) ?? ""
        if isJSON {
            let note = entry.note.values.sorted { $0.key < $1.key }
            return try output.line(
                JSON.object([
                    ("number", .number(Int(entry.number))), ("date", .text(date)),
                    ("note", .object(note.map { ($0.key, .text($0.value)) })),
                    ("followsGap", .bool(entry.followsGap)),
                    ("followsOtherCommit", .bool(entry.followsOtherCommit)),
                    ("changes", .array(try entry.changeset.map { try json($0, db) })),
                ]).line)
        }
        let note = entry.note.values.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }.joined()
        try output.line("\(entry.number)  \(date)\(note)", .heading)
        if entry.followsGap { try output.line("  changes before this entry are missing", .bad) }
        if entry.followsOtherCommit {
            try output.line("  another connection has written before this entry, without the journal", .bad)
        }
        for line in try entry.changeset.described(db).split(separator: "\n") {
            let style: Output.Style =
                line.hasPrefix("insert") ? .good : line.hasPrefix("delete") ? .bad : .changed
            try output.wrapped("  \(line)", style)
        }
    }

    private func json(_ change: Changeset.Change, _ db: Database) throws -> JSON {
        let isThere = try db.tableExists(change.table, in: "main")
        let columns = isThere ? try db.columns(in: change.table, in: "main").filter { !$0.isGenerated } : []
        func name(_ column: Int) -> String { column < columns.count ? columns[column].name : "\(column + 1)" }
        func row(_ values: [DatabaseValue?]) -> JSON {
            .object(
                values.enumerated().compactMap { column, value in value.map { (name(column), .value($0)) } })
        }
        return .object([
            ("table", .text(change.table)), ("operation", .text(change.operation.rawValue)),
            ("indirect", .bool(change.isIndirect)), ("key", .array(change.key.map { .value($0) })),
            ("old", change.initialValues.isEmpty ? .null : row(change.initialValues)),
            ("new", change.finalValues.isEmpty ? .null : row(change.finalValues)),
        ])
    }
}

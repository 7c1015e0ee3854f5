// The `shellac doctor` verb: integrity, foreign key, index and journal checks, with remedies.

import Shellac

/// `shellac doctor`: the faults of a database, with remedies.
struct Examination {
    private let file: LookedAtFile
    private let output: Output
    private let arguments: Arguments

    init(_ file: LookedAtFile, _ output: Output, _ arguments: Arguments) {
        (self.file, self.output, self.arguments) = (file, output, arguments)
    }

    /// The result of one check.
    private struct Finding {
        enum Grade: String {
            case good, note, fault
        }

        let grade: Grade
        let text: String
        var remedy: String?
    }

    func run() throws -> ExitCode {
        let isJSON = try arguments.choice("--as", TextOrJSON.self) == .json
        let findings = try findings()
        let faults = findings.count { $0.grade == .fault }
        if isJSON {
            let list = findings.map { finding in
                JSON.object([
                    ("grade", .text(finding.grade.rawValue)), ("text", .text(finding.text)),
                    ("remedy", .text(finding.remedy)),
                ])
            }
            try output.json(.object([("faults", .number(faults)), ("findings", .array(list))]))
        } else {
            for finding in findings { try write(finding) }
            try output.line()
            try output.line(faults == 0 ? "Nothing is wrong." : "\(String.count(faults, "fault")) found.")
        }
        return faults == 0 ? .done : .found
    }

    private func findings() throws -> [Finding] {
        var findings = try integrity()
        try file.read { db in
            let state = FileState(file.location)
            if findings.allSatisfy({ $0.grade == .good }) {
                let facts = try SchemaFacts(db)
                findings += try Self.orphans(db, facts) + Self.mismatches(db, facts)
                findings += try Self.searches(db)
                findings += try Self.pages(db, state) + Self.statistics(db, facts) + Self.indexes(facts)
            }
            findings += Self.journal(state, file.way)
            if state.isInLogMode { findings.append(Self.library) }
            findings += Self.pragmas
        }
        return findings
    }

    private func write(_ finding: Finding) throws {
        let (word, style): (String, Output.Style) =
            switch finding.grade {
            case .good: ("good ", .good)
            case .note: ("note ", .changed)
            case .fault: ("FAULT", .bad)
            }
        try output.line("\(output.styled(word, style))  \(TextWidth.visible(finding.text))")
        if let remedy = finding.remedy { try output.line("       → \(TextWidth.visible(remedy))") }
    }

    // MARK: - Checks

    private func integrity() throws -> [Finding] {
        let lines: [String]
        do {
            // In an access of its own, as a damaged file ends it with an error.
            lines = try file.read { db in try String.fetchAll(db, sql: "PRAGMA main.integrity_check(20)") }
        } catch let failure as Failure where failure.code == .noDatabase {
            lines = [failure.message]
        }
        if lines == ["ok"] { return [Finding(grade: .good, text: "The file is whole (integrity_check).")] }
        let remedy = "restore a backup; or save what can be read: shellac recover FILE --into NEW"
        return lines.enumerated().map { index, line in
            let isIndex = line.contains("missing from index") || line.contains("wrong # of entries in index")
            return Finding(
                grade: .fault, text: line.replacing("\n", with: " "),
                remedy: isIndex ? "REINDEX" : index == lines.count - 1 ? remedy : nil)
        }
    }

    private static func orphans(_ db: Database, _ facts: SchemaFacts) throws -> [Finding] {
        var findings: [Finding] = []
        for table in facts.tables {
            for key in table.foreignKeys {
                guard let parent = facts.table(key.destinationTable), !key.destinationColumns.isEmpty,
                    key.destinationColumns.allSatisfy({ name in
                        parent.columns.contains { $0.name.isSameName(as: name) }
                    })
                else { continue }
                let pairs = key.mapping.map {
                    "parent.\($0.destination.quotedDatabaseIdentifier) = child.\($0.origin.quotedDatabaseIdentifier)"
                }
                let present = key.originColumns.map { "child.\($0.quotedDatabaseIdentifier) IS NOT NULL" }
                // (The parent comes first, as SQLite compares keys with the collation of the
                // parent.)
                let condition =
                    "\(present.joined(separator: " AND ")) AND NOT EXISTS (SELECT 1 FROM "
                    + "\(parent.name.quotedDatabaseIdentifier) AS parent WHERE \(pairs.joined(separator: " AND ")))"
                let from = "\(table.name.quotedDatabaseIdentifier) AS child"
                let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(from) WHERE \(condition)") ?? 0
                guard count > 0 else { continue }
                let place = String.place(table.name, key.originColumns)
                findings.append(
                    Finding(
                        grade: .fault,
                        text:
                            "\(String.count(count, "row")) of \(table.name) "
                            + "\(count == 1 ? "refers" : "refer") by \(place) to \(key.destinationTable), "
                            + "which has no such row.",
                        remedy: "insert what is missing, or: DELETE FROM \(from) WHERE \(condition)"))
            }
        }
        if findings.isEmpty {
            return [Finding(grade: .good, text: "All rows that foreign keys refer to exist.")]
        }
        return findings
    }

    /// Foreign keys that SQLite cannot enforce.
    ///
    /// See "Required and Suggested Database Indexes" in its documentation.
    private static func mismatches(_ db: Database, _ facts: SchemaFacts) throws -> [Finding] {
        var findings: [Finding] = []
        for table in facts.tables {
            for key in table.foreignKeys {
                let place = String.place(table.name, key.originColumns)
                guard let parent = facts.table(key.destinationTable) else {
                    findings.append(
                        Finding(
                            grade: .fault,
                            text:
                                "\(place) refers to the table \(key.destinationTable), which does not exist.",
                            remedy: "create the table, or recreate \(table.name) without the foreign key"))
                    continue
                }
                let isKey =
                    try !key.destinationColumns.isEmpty
                    && db.table(parent.name, hasUniqueKey: key.destinationColumns)
                if !isKey {
                    let target =
                        key.destinationColumns.isEmpty
                        ? parent.name : String.place(parent.name, key.destinationColumns)
                    let columns = key.destinationColumns.map(\.quotedDatabaseIdentifier).joined(
                        separator: ", ")
                    findings.append(
                        Finding(
                            grade: .fault,
                            text:
                                "\(place) refers to \(target), which is not a key: SQLite refuses to write.",
                            remedy: key.destinationColumns.isEmpty
                                ? "name the referenced columns"
                                : "CREATE UNIQUE INDEX \("\(parent.name)_key".quotedDatabaseIdentifier) ON "
                                    + "\(parent.name.quotedDatabaseIdentifier)(\(columns))"))
                }
            }
        }
        return findings
    }

    /// The full-text indexes that Shellac has created.
    private static func searches(_ db: Database) throws -> [Finding] {
        try db.fullTextIndexes().map { name, usesWords, fault in
            if let fault {
                return Finding(
                    grade: .fault, text: "The full-text index \(name) is out of step: \(fault).",
                    remedy: "db.rebuild(fullText:), in the program that owns the file")
            }
            let text = "The full-text index \(name) has the rows of its table."
            guard usesWords else { return Finding(grade: .good, text: text) }
            return Finding(
                grade: .good,
                text: "\(text) Programs without Shellac can neither search nor write: no such tokenizer.")
        }
    }

    private static func pages(_ db: Database, _ state: FileState) throws -> [Finding] {
        let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
        let size = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
        guard free * 4 > pages, free * size > 1_000_000 else {
            return [Finding(grade: .good, text: "\(free) of \(String.count(pages, "page")) are free.")]
        }
        return [
            Finding(
                grade: .note,
                text: "\(free) of \(pages) pages are free: \(String.size(free * size)) that nothing uses.",
                remedy: "VACUUM, when no program uses the database")
        ]
    }

    private static func statistics(_ db: Database, _ facts: SchemaFacts) throws -> [Finding] {
        guard facts.tables.contains(where: { !$0.indexes.isEmpty }) else { return [] }
        if try db.tableExists("sqlite_stat1", in: "main") {
            return [
                Finding(
                    grade: .good, text: "SQLite's planner knows how selective indexes are (sqlite_stat1).")
            ]
        }
        return [
            Finding(
                grade: .note, text: "SQLite's planner guesses how selective indexes are.",
                remedy: "PRAGMA optimize before a program closes the database")
        ]
    }

    private static func indexes(_ facts: SchemaFacts) -> [Finding] {
        facts.unindexedForeignKeys.map { key, remedy in
            Finding(
                grade: .note,
                text:
                    "\(String.place(key.originTable, key.originColumns)) refers to "
                    + "\(key.destinationTable), but has no index.",
                remedy: remedy)
        }
            + facts.superfluousIndexes.map { _, index, reason in
                Finding(
                    grade: .note, text: "The index \(index.name) is not needed: \(reason).",
                    remedy: "DROP INDEX \(index.name.quotedDatabaseIdentifier)")
            }
    }

    private static func journal(_ state: FileState, _ way: LookedAtFile.Way) -> [Finding] {
        if !state.isInLogMode, way == .copied {
            return [
                Finding(
                    grade: .fault,
                    text: "A program was stopped in the middle of a transaction, and left its journal.",
                    remedy:
                        "open the database with a program that writes: SQLite then undoes the unfinished "
                        + "transaction. Never delete the journal"
                )
            ]
        }
        guard state.isInLogMode else {
            return [
                Finding(
                    grade: .note, text: "The journal is a rollback journal: a writer keeps readers out.",
                    remedy: "PRAGMA journal_mode = WAL, unless the file is on a network")
            ]
        }
        if state.logSize > max(state.size, 16_000_000) {
            return [
                Finding(
                    grade: .note,
                    text:
                        "The log holds \(String.size(state.logSize)), and is larger than the database: a reader kept it from being copied.",
                    remedy: "end long-running readers, then run PRAGMA wal_checkpoint(TRUNCATE)")
            ]
        }
        if way == .copied {
            return [
                Finding(
                    grade: .note, text: "The log of \(String.size(state.logSize)) has lost its index.",
                    remedy:
                        "nothing: the next program that opens the database rebuilds it. The log belongs to "
                        + "the file: copy both"
                )
            ]
        }
        return [
            Finding(
                grade: .good,
                text: "The journal is a write-ahead log"
                    + (state.logSize > 0 ? " of \(String.size(state.logSize))." : ", which is empty."))
        ]
    }

    /// The SQLite library of this command. Other programs may use other versions.
    private static var library: Finding {
        guard Features.hasLogResetFault else {
            return Finding(grade: .good, text: "\(Features.sentence).")
        }
        return Finding(
            grade: .note,
            text:
                "\(Features.sentence): commits of programs without Shellac may be lost, if one writes while another copies the log.",
            remedy:
                "SQLite 3.51.3 or newer (or 3.50.7, or 3.44.6) in each program. Shellac protects its own "
                + "connections from the fault"
        )
    }

    /// The facts that no file contains.
    private static var pragmas: [Finding] {
        [
            Finding(
                grade: .note,
                text:
                    "Each connection decides whether foreign keys are enforced, and they are not unless a "
                    + "program asks for it.",
                remedy: "PRAGMA foreign_keys = ON, in each program (Shellac does)")
        ]
    }
}

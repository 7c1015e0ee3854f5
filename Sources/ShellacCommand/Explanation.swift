// The `shellac explain` verb: a query plan in words, and indexes that would help.

import Shellac

/// `shellac explain`: the query plan of SQLite, in words.
struct Explanation {
    private let file: LookedAtFile
    private let output: Output
    private let sql: String
    private let isJSON: Bool

    init(_ file: LookedAtFile, _ output: Output, _ arguments: Arguments) throws {
        (self.file, self.output, sql) = (file, output, arguments.words[1])
        isJSON = try arguments.choice("--as", TextOrJSON.self) == .json
    }

    private struct Step {
        let id: Int
        let parent: Int
        let detail: String
    }

    func run() throws -> ExitCode {
        try file.read { db in
            // If there are several statements, or none, this throws.
            let statement = try db.makeStatement(sql: sql)
            // The plan depends on no value: parameters are NULL.
            let nothing = StatementArguments(statement.parameterNames.map { _ in DatabaseValue.null })
            let steps = try Row.fetchAll(
                db, sql: "EXPLAIN QUERY PLAN \(statement.sql)", arguments: nothing
            ).map {
                Step(id: try $0["id"], parent: try $0["parent"], detail: try $0["detail"])
            }
            let indexes = try advice(statement, SchemaFacts(db))
            if isJSON {
                return try output.json(
                    .object([
                        ("steps", .array(try json(steps, below: 0, db))),
                        ("indexes", .texts(indexes.map(\.sql))),
                    ]))
            }
            if steps.isEmpty {
                try output.line("SQLite reads no table for it.")
            } else {
                try write(steps, below: 0, depth: 0, db)
            }
            try write(indexes)
        }
        return .done
    }

    private func json(_ steps: [Step], below parent: Int, _ db: Database) throws -> [JSON] {
        try steps.filter { $0.parent == parent }.map { step in
            let sentence = PlanWords.sentence(step.detail)
            let count = try sentence.scanned.flatMap { try rowCount($0, db) }
            return .object([
                ("text", .text(sentence.text)), ("detail", .text(step.detail)),
                ("reads", .text(sentence.scanned)), ("rows", .number(count)),
                ("steps", .array(try json(steps, below: step.id, db))),
            ])
        }
    }

    private func write(_ steps: [Step], below parent: Int, depth: Int, _ db: Database) throws {
        for (number, step) in steps.filter({ $0.parent == parent }).enumerated() {
            let sentence = PlanWords.sentence(step.detail)
            let indentation = String(repeating: "   ", count: depth)
            var line = "\(indentation)\(number + 1). \(TextWidth.visible(sentence.text))"
            if let name = sentence.scanned, let count = try rowCount(name, db) {
                line += " (\(String.count(count, "row")))"
            }
            try output.line(sentence.scanned == nil ? line : output.styled(line, .changed))
            try output.line("\(indentation)   \(output.styled(TextWidth.visible(step.detail), .faint))")
            try write(steps, below: step.id, depth: depth + 1, db)
        }
    }

    /// Returns the number of rows of a table. Nil if the name belongs to something else, such as an
    /// alias.
    private func rowCount(_ name: String, _ db: Database) throws -> Int? {
        guard try db.tableExists(name, in: "main") else { return nil }
        return try Int.fetchOne(db, sql: "SELECT count(*) FROM main.\(name.quotedDatabaseIdentifier)")
    }

    private func advice(_ statement: Statement, _ facts: SchemaFacts) throws -> [IndexModel.Candidate] {
        // For a table that is read twice, one of the indexes may exist already.
        try IndexModel.candidates(for: statement).filter { candidate in
            !(facts.table(candidate.table)?.hasIndex(beginningWith: candidate.columns) ?? false)
        }
    }

    private func write(_ indexes: [IndexModel.Candidate]) throws {
        try output.line()
        guard !indexes.isEmpty else { return try output.line("No other index would help it.") }
        try output.line(indexes.count == 1 ? "This index would help:" : "These indexes would help:", .heading)
        for index in indexes { try output.line("  \(TextWidth.visible(index.sql))") }
    }
}

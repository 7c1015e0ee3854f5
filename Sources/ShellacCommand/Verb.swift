/// A verb of the command.
enum Verb: String, CaseIterable {
    case inspect, show, `class`, diagram, diff, explain, doctor, recover, watch, journal, browse

    var synopsis: String {
        switch self {
        case .inspect: "FILE [--all] [--as text|json]"
        case .show:
            "FILE TABLE [--columns NAMES] [--where SQL] [--order SQL] [--limit N] "
                + "[--as table|lines|json|jsonl|csv] [--null TEXT]"
        case .class: "FILE TABLE [--style columns|codable|struct] [--alone]"
        case .diagram: "FILE [--mermaid|--svg] [--check OLD] [--all]"
        case .diff: "A B [--schema|--rows] [--all] [--as text|jsonl]"
        case .explain: "FILE SELECT [--as text|json]"
        case .doctor: "FILE [--as text|json]"
        case .recover: "FILE [--into NEW] [--as text|json]"
        case .watch: "FILE TABLE [--where SQL] [--every SECONDS] [--changes N] [--limit N] [--as text|jsonl]"
        case .journal: "FILE [--after NUMBER] [--limit N] [--as text|jsonl]"
        case .browse: "FILE"
        }
    }

    var summary: String {
        switch self {
        case .inspect:
            "tables with rows and sizes, foreign keys without an index, indexes not needed, the journal"
        case .show: "the rows of a table or a view"
        case .class: "a Swift record for a table, with relations from its foreign keys"
        case .diagram: "the tables and their foreign keys, as a drawing"
        case .diff: "how two databases differ, in their schema and their rows"
        case .explain: "how SQLite runs a query, in words, and the index that would help"
        case .doctor: "what is wrong with a database, and what to do"
        case .recover: "what can be read of a damaged file, as SQL or in a new file"
        case .watch: "the rows of a table as they change, whichever program changes them"
        case .journal: "the transactions that a journal has kept, with their changes"
        case .browse: "tables, rows and the rows that they refer to, on the whole screen, by keys"
        }
    }

    var examples: [(command: String, meaning: String)] {
        switch self {
        case .inspect:
            [
                ("shellac inspect game.sqlite", "everything, on one page"),
                ("shellac inspect game.sqlite --as json | jq '.tables[].rows'", "for other programs"),
            ]
        case .show:
            [
                ("shellac show game.sqlite player", "all rows, as a table"),
                ("shellac show game.sqlite player --columns name,score --as lines", "each value in a line"),
                ("shellac show game.sqlite player --where \"score > 1000\" --order name", "some rows"),
                ("shellac show game.sqlite player --as json | jq '.[].name'", "for other programs"),
                (
                    "shellac show game.sqlite player --as csv --null NULL > players.csv",
                    "NULL distinct from empty text"
                ),
            ]
        case .class:
            [
                ("shellac class game.sqlite player > Player.swift", "a class that lists its columns"),
                (
                    "shellac class game.sqlite player --style struct --alone",
                    "a struct, without the tables it refers to"
                ),
            ]
        case .diagram:
            [
                ("shellac diagram game.sqlite --svg > schema.svg", "as a picture"),
                ("shellac diagram game.sqlite --mermaid >> README.md", "for Markdown"),
                (
                    "shellac diagram game.sqlite --check README.md",
                    "exits with 1 if the drawing is out of date"
                ),
            ]
        case .diff: [("shellac diff yesterday.sqlite today.sqlite", "exits with 1 if they differ")]
        case .explain:
            [
                (
                    "shellac explain game.sqlite \"SELECT * FROM player WHERE teamId = ?\"",
                    "nothing is run, so parameters need no values"
                )
            ]
        case .doctor: [("shellac doctor game.sqlite", "exits with 1 if something is wrong")]
        case .recover:
            [
                ("shellac recover game.sqlite --into new.sqlite", "exits with 1 if something is lost"),
                ("shellac recover game.sqlite > game.sql", "as SQL, with the report in comments"),
            ]
        case .watch:
            [
                ("shellac watch game.sqlite player", "until q; a terminal is redrawn"),
                ("shellac watch game.sqlite player --changes 1", "until the first change"),
            ]
        case .journal:
            [
                ("shellac journal game.sqlite", "all entries, with their notes"),
                ("shellac journal game.sqlite --after 100 --as jsonl", "for other programs"),
            ]
        case .browse: [("shellac browse game.sqlite", "until q; ? lists the keys")]
        }
    }

    var options: [(name: String, meaning: String)] {
        switch self {
        case .browse: []
        case .journal:
            [
                ("--after NUMBER", "later entries than this one"), ("--limit N", "no more than N entries"),
                ("--as text", Self.text), ("--as jsonl", "an object in each line"),
            ]
        case .inspect:
            [("--all", Self.all), ("--as text", Self.text), ("--as json", "an object")]
        case .doctor:
            [("--as text", Self.text), ("--as json", "an object with the findings")]
        case .recover:
            [
                ("--into NEW", "a file to make, and to write the tables and rows into"),
                ("--as text", Self.text), ("--as json", "an object with the report, beside --into"),
            ]
        case .explain:
            [("--as text", Self.text), ("--as json", "an object with the steps and the indexes")]
        case .show:
            [
                ("--columns NAMES", "these columns, with commas between their names"),
                ("--where SQL", "a condition, as in SQL"),
                ("--order SQL", "an order, as in SQL; by default that of the primary key"),
                ("--limit N", "no more than N rows"),
                (
                    "--as table",
                    "columns under their names (without --as, unless a terminal is too narrow for that)"
                ),
                ("--as lines", "each value in a line of its own"),
                ("--as json", "an array of objects; a blob is {\"$base64\":\"…\"}, an infinity 9e999"),
                ("--as jsonl", "an object in each line"),
                ("--as csv", "values between commas"),
                ("--null TEXT", "the word for NULL in a table or in CSV"),
            ]
        case .class:
            [
                ("--style columns", "a class that lists its columns (this is what you get without --style)"),
                ("--style codable", "a class that is Codable"),
                ("--style struct", "a Codable struct"),
                ("--alone", "without the tables that it refers to, and those that refer to it"),
            ]
        case .diagram:
            [
                ("--mermaid", "text for Mermaid (this is what you get without --svg)"),
                ("--svg", "a picture"),
                ("--check OLD", "compares with a file, or with the Mermaid block of a Markdown file"),
                ("--all", Self.all),
            ]
        case .diff:
            [
                ("--schema", "the schema alone"), ("--rows", "the rows alone"), ("--all", Self.all),
                ("--as text", Self.text), ("--as jsonl", "an object in each line"),
            ]
        case .watch:
            [
                ("--where SQL", "a condition, as in SQL"),
                ("--every SECONDS", "how often the file is checked (0.1)"),
                ("--changes N", "ends after so many changed rows"),
                ("--limit N", "how many rows are kept in memory (10000)"),
                ("--as text", "changed rows in lines, as in a pipe"),
                ("--as jsonl", "an object in each line"),
            ]
        }
    }

    private static let all = "with the tables that SQLite and Shellac make for themselves"
    private static let text = "for people (this is what you get without --as)"

    /// The options that have a value. `flags` are those that have none.
    var valued: Set<String> {
        Set(options.map(\.name).filter { $0.contains(" ") }.map { String($0.prefix { $0 != " " }) })
    }
    var flags: Set<String> { Set(options.map(\.name).filter { !$0.contains(" ") }) }

    /// The number of words that may follow the verb.
    var wordCount: ClosedRange<Int> {
        switch self {
        case .inspect, .diagram, .doctor, .recover, .journal, .browse: 1...1
        case .show, .class, .diff, .explain, .watch: 2...2
        }
    }
}

/// The first words of a trigger's SQL, parsed: `CREATE TRIGGER name AFTER UPDATE OF score, name ON player`.
struct TriggerHeading {
    /// The columns behind UPDATE OF. Empty for other triggers.
    ///
    /// SQLite does not mind when there are no such columns: the trigger never fires, then.
    let updatedColumns: [String]

    /// Whether the table has the name of its database before it: `ON main.player`.
    let saysDatabase: Bool

    init(sql: String) {
        let tokens = SQLTokens(sql)
        var columns: [String] = []
        var words = (earlier: "", last: "")
        var rest = tokens.meaningful[...]
        var isTable = false
        while let token = rest.popFirst() {
            let text = tokens.text(token.range)
            var keyword = ""
            if case .word = token.kind { keyword = text.asciiLowercased }
            isTable = keyword == "on"
            if isTable || keyword == "begin" { break }
            if !columns.isEmpty || words == ("update", "of") {
                if text != "," { columns.append(SQLTokens.unquoted(text)) }
            }
            words = (words.last, keyword)
        }
        updatedColumns = columns
        saysDatabase = isTable && rest.dropFirst().first.map { tokens.text($0.range) } == "."
    }
}

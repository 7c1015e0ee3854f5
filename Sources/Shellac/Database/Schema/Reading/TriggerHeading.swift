/// The parsed first words of a trigger's SQL.
///
/// For example: `CREATE TRIGGER name AFTER UPDATE OF score, name ON player`.
struct TriggerHeading {
    /// The columns after UPDATE OF. Empty for other triggers.
    ///
    /// SQLite does not complain if there are no such columns. The trigger then never fires.
    let updatedColumns: [String]

    /// Whether the name of the database precedes the table: `ON main.player`.
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
                if text != "," { columns.append(text.unquotedSQL) }
            }
            words = (words.last, keyword)
        }
        updatedColumns = columns
        saysDatabase = isTable && rest.dropFirst().first.map { tokens.text($0.range) } == "."
    }
}

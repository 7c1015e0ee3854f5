/// The definition of a counter column in the schema: the table whose rows it counts.
///
/// The definition is the name of the column's NOT NULL constraint,
/// `CONSTRAINT "counts player" NOT NULL`. SQLite gives that name no meaning. It survives when the
/// table is altered or renamed, and dumps contain it. So the schema alone defines the counters.
///
/// The layer Counters has the triggers: see ``ColumnMaintenance``.
struct CounterMark: Hashable {
    /// The name of the column.
    let column: String
    /// The table whose rows are counted.
    let countedTable: String
    /// The columns of those rows that refer to the counter's table. Empty if the foreign key of the
    /// counted table determines them.
    let originColumns: [String]

    /// The prefix of the names of all triggers that maintain counters, and of their notes.
    static let ownPrefix = OwnName.prefix + "counter "

    /// The constraint, as SQL.
    var sql: String { "CONSTRAINT \(sentence.quotedDatabaseIdentifier) NOT NULL" }

    private static let verb = "counts"
    private static let preposition = "by"

    /// Returns a name as a word of a sentence. Puts it between quotes unless it is a plain word.
    static func word(_ name: String) -> String {
        let isPlain = !name.isEmpty && name.utf8.allSatisfy(SQLTokens.isWord)
        return isPlain ? name : name.quotedDatabaseIdentifier
    }

    private var sentence: String {
        let columns = originColumns.map(Self.word).joined(separator: ", ")
        return "\(Self.verb) \(Self.word(countedTable))"
            + (columns.isEmpty ? "" : " \(Self.preposition) \(columns)")
    }

    init(column: String, countedTable: String, originColumns: [String]) {
        (self.column, self.countedTable, self.originColumns) = (column, countedTable, originColumns)
    }

    /// Parses the name of a constraint. Returns nil for any name that defines no counter.
    private init?(column: String, _ sentence: String) {
        let tokens = SQLTokens(sentence)
        var words = tokens.meaningful.map { tokens.text($0.range) }[...]
        guard words.popFirst() == Self.verb, let table = words.popFirst() else { return nil }
        var columns: [String] = []
        if let word = words.popFirst() {
            guard word == Self.preposition, let first = words.popFirst() else { return nil }
            columns.append(first)
            while let comma = words.popFirst() {
                guard comma == ",", let next = words.popFirst() else { return nil }
                columns.append(next)
            }
        }
        self.init(
            column: column, countedTable: CheckExpressions.unquoted(table),
            originColumns: columns.map(CheckExpressions.unquoted))
    }

    /// Returns the marks in the SQL that created a table.
    static func marks(in sql: String) -> [CounterMark] {
        // Most tables have none.
        guard sql.contains(verb) else { return [] }
        let tokens = SQLTokens(sql)
        let list = tokens.meaningful
        func word(_ index: Int, _ text: String) -> Bool {
            guard list.indices.contains(index), case .word = list[index].kind else { return false }
            return CaseInsensitiveName.matches(tokens.text(list[index].range), text)
        }
        var marks: [CounterMark] = []
        var depth = 0
        var column: String?
        for (index, token) in list.enumerated() {
            switch token.kind {
            case .opening:
                depth += 1
                if depth == 1 { column = nil }
            case .closing: depth -= 1
            case .comma: if depth == 1 { column = nil }
            case .word where depth == 1, .quoted where depth == 1:
                guard let name = column else {
                    column = CheckExpressions.unquoted(tokens.text(token.range))
                    continue
                }
                guard word(index, "CONSTRAINT"), word(index + 2, "NOT"), word(index + 3, "NULL") else {
                    continue
                }
                let sentence = CheckExpressions.unquoted(tokens.text(list[index + 1].range))
                if let mark = CounterMark(column: name, sentence) { marks.append(mark) }
            default: break
            }
        }
        return marks
    }
}

extension SchemaListing.Object {
    /// Whether the object is a trigger that maintains columns, or its notes. Such a trigger writes
    /// nothing else.
    var maintainsColumns: Bool { name.hasPrefix(CounterMark.ownPrefix) }
}

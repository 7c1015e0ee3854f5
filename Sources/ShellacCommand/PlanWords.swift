/// A step of a query plan in words: see "EXPLAIN QUERY PLAN" in the SQLite documentation.
enum PlanWords {
    struct Sentence {
        let text: String
        /// The table that is read completely.
        var scanned: String?
    }

    static func sentence(_ detail: String) -> Sentence {
        let (detail, isOuter) =
            detail.hasSuffix(" LEFT-JOIN") ? (String(detail.dropLast(10)), true) : (detail, false)
        var sentence = self.inner(detail)
        if isOuter {
            sentence = Sentence(
                text: sentence.text + ", or none if none matches", scanned: sentence.scanned)
        }
        return sentence
    }

    private static func inner(_ detail: String) -> Sentence {
        if let match = detail.wholeMatch(of: /SCAN (\d+) CONSTANT ROWS?/) {
            return Sentence(text: "takes \(String.count(Int(match.1) ?? 0, "row")) of values")
        }
        if detail == "SCAN CONSTANT ROW" { return Sentence(text: "takes a row of values") }
        if let match = detail.wholeMatch(of: /(SCAN|SEARCH) (.+?) VIRTUAL TABLE INDEX (.*)/) {
            return Sentence(text: "asks the virtual table \(match.2)")
        }
        if let match = detail.wholeMatch(of: /SCAN (.+?)(?: USING (COVERING )?INDEX (.+))?/) {
            let table = String(match.1)
            guard let index = match.3 else {
                return Sentence(text: "reads every row of \(table)", scanned: table)
            }
            return match.2 == nil
                ? Sentence(
                    text: "reads every row of \(table), in the order of the index \(index)", scanned: table)
                : Sentence(
                    text: "reads every entry of the index \(index), but not \(table) itself",
                    scanned: table)
        }
        if let match = detail.wholeMatch(of: /SEARCH (.+?) USING (INTEGER PRIMARY KEY|PRIMARY KEY) \((.*)\)/)
        {
            return Sentence(text: "finds rows of \(match.1) by the primary key: \(terms(match.3))")
        }
        if let match = detail.wholeMatch(
            of: /SEARCH (.+?) USING AUTOMATIC (PARTIAL )?(COVERING )?INDEX \((.*)\)/)
        {
            return Sentence(
                text:
                    "makes an index of \(match.1) for this run only, and finds rows with it: \(terms(match.4))",
                scanned: String(match.1))
        }
        if let match = detail.wholeMatch(of: /SEARCH (.+?) USING (COVERING )?INDEX (.+?) \((.*)\)/) {
            return Sentence(
                text: match.2 == nil
                    ? "finds rows of \(match.1) by the index \(match.3): \(terms(match.4))"
                    : "finds rows of \(match.1) in the index \(match.3) alone: \(terms(match.4))")
        }
        if let match = detail.wholeMatch(of: /SEARCH (.+?) USING (COVERING )?INDEX (.+)/) {
            return Sentence(text: "finds the first or last row of \(match.1) by the index \(match.3)")
        }
        if let match = detail.wholeMatch(of: /SEARCH (.+)/) {
            return Sentence(text: "finds the first or last row of \(match.1)")
        }
        if let match = detail.wholeMatch(of: /USE TEMP B-TREE FOR (.+)/) {
            return Sentence(text: sorting(String(match.1)))
        }
        return Sentence(text: structure(detail))
    }

    private static func sorting(_ purpose: String) -> String {
        switch purpose {
        case "ORDER BY": "sorts the rows (ORDER BY)"
        case "GROUP BY": "sorts the rows into groups (GROUP BY)"
        case "DISTINCT": "keeps the rows to leave out duplicates (DISTINCT)"
        case _ where purpose.hasSuffix("OF ORDER BY"): "sorts rows that are equal so far (\(purpose))"
        default: "keeps the values to leave out duplicates (\(purpose))"
        }
    }

    private static func structure(_ detail: String) -> String {
        if let match = detail.wholeMatch(of: /CORRELATED (SCALAR|LIST) SUBQUERY \d+/) {
            return match.1 == "SCALAR"
                ? "for each row, runs a subquery" : "for each row, makes the list of a subquery"
        }
        if detail.wholeMatch(of: /SCALAR SUBQUERY \d+/) != nil { return "runs a subquery, once" }
        if detail.wholeMatch(of: /(LIST SUBQUERY|REUSE LIST SUBQUERY) \d+/) != nil {
            return "makes the list of a subquery, once"
        }
        if let match = detail.wholeMatch(of: /MATERIALIZE (.+)/) {
            return "makes a table of \(match.1), once"
        }
        if let match = detail.wholeMatch(of: /CO-ROUTINE (.+)/) {
            return "runs \(match.1) beside it, row by row"
        }
        if let match = detail.wholeMatch(of: /BLOOM FILTER ON (.+?) \(.*\)/) {
            return "first rules out what cannot be in \(match.1)"
        }
        if let match = detail.wholeMatch(of: /RIGHT-JOIN (.+)/) {
            return "adds the rows of \(match.1) that match none"
        }
        if let match = detail.wholeMatch(of: /USING (ROWID SEARCH ON TABLE|INDEX) (.+) FOR IN-OPERATOR/) {
            return match.1 == "INDEX"
                ? "looks up the values of IN in the index \(match.2)"
                : "looks up the values of IN in \(match.2), by the row id"
        }
        if detail.wholeMatch(of: /INDEX \d+/) != nil { return "one of these ways" }
        switch detail {
        case "MULTI-INDEX OR": return "finds rows in several ways (OR)"
        case "COMPOUND QUERY": return "runs queries one after the other"
        case "LEFT-MOST SUBQUERY": return "the first of them"
        case "UNION ALL": return "adds all rows of the next one (UNION ALL)"
        case "UNION USING TEMP B-TREE": return "adds the rows of the next one that are new (UNION)"
        case "EXCEPT USING TEMP B-TREE": return "takes away the rows of the next one (EXCEPT)"
        case "INTERSECT USING TEMP B-TREE": return "keeps the rows that the next one has, too (INTERSECT)"
        case "MERGE (UNION)", "MERGE (UNION ALL)", "MERGE (EXCEPT)", "MERGE (INTERSECT)":
            return "merges two sorted queries \(detail.dropFirst(6))"
        case "LEFT", "RIGHT": return detail == "LEFT" ? "the first of them" : "the second of them"
        case "SETUP": return "begins with these rows"
        case "RECURSIVE STEP": return "and goes on from each row that was found"
        default: return detail
        }
    }

    /// Describes the terms of a search: `teamId=? AND score>?`.
    private static func terms(_ terms: Substring) -> String {
        terms.replacing(" AND ", with: "\u{0}").split(separator: "\u{0}").map { term in
            for (sign, words) in [("=?", "is given"), (">?", "is above a value"), ("<?", "is below a value")]
            where term.hasSuffix(sign) {
                let name = term.dropLast(2)
                return "\(name == "rowid" ? "the row id" : String(name)) \(words)"
            }
            return String(term)
        }.joined(separator: ", ")
    }
}

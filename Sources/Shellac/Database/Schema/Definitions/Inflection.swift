/// The singular and the plural of English names.
///
/// For example: `team` and `teams`, `formerCountry` and `formerCountries`.
///
/// These rules are good enough for the names of tables. If they fail, name the table:
/// `belongsTo("datum", inTable: "data")`.
package enum Inflection {
    /// Returns the singular of a name. A singular name is returned unchanged.
    package static func singular(_ name: String) -> String {
        let rules = Inflections.default.rules
        return changingLastWord(of: name) { word in
            let lower = word.lowercased()
            if let told = rules.singular(of: lower) { return told.map { (word.count, $0) } }
            if unchanging.contains(lower) { return nil }
            if irregular.contains(where: { $0.singular == lower }) { return nil }
            if let pair = irregular.first(where: { $0.plural == lower }) {
                return (word.count, pair.singular)
            }
            for (ending, replacement) in singularEndings where lower.hasSuffix(ending) {
                return lower.count > ending.count && replacement != ending ? (ending.count, replacement) : nil
            }
            return nil
        }
    }

    /// Returns the plural of a name. A plural name is returned unchanged.
    package static func plural(_ name: String) -> String {
        let rules = Inflections.default.rules
        return changingLastWord(of: name) { word in
            let lower = word.lowercased()
            if let told = rules.plural(of: lower) { return told.map { (word.count, $0) } }
            if unchanging.contains(lower) { return nil }
            if irregular.contains(where: { $0.plural == lower }) { return nil }
            if let pair = irregular.first(where: { $0.singular == lower }) {
                return (word.count, pair.plural)
            }
            for (ending, replacement) in pluralEndings where lower.hasSuffix(ending) {
                return (ending.count, replacement)
            }
            guard let last = lower.last, last.isLetter else { return nil }
            if last == "y", let before = lower.dropLast().last, !"aeiou".contains(before) {
                return (1, "ies")
            }
            return (0, "s")
        }
    }

    /// Names whose plural equals the singular.
    private static let unchanging: Set<String> = [
        "equipment", "information", "rice", "money", "species", "series", "fish", "sheep", "news", "metadata",
        "media", "aircraft",
    ]

    private static let irregular: [(singular: String, plural: String)] = [
        ("person", "people"), ("man", "men"), ("woman", "women"), ("child", "children"), ("foot", "feet"),
        ("tooth", "teeth"), ("goose", "geese"), ("mouse", "mice"), ("ox", "oxen"), ("leaf", "leaves"),
        ("life", "lives"), ("knife", "knives"), ("wife", "wives"), ("half", "halves"), ("shelf", "shelves"),
        ("wolf", "wolves"), ("thief", "thieves"), ("index", "indices"), ("matrix", "matrices"),
        ("vertex", "vertices"), ("axis", "axes"), ("hero", "heroes"), ("potato", "potatoes"),
        ("tomato", "tomatoes"), ("echo", "echoes"), ("quiz", "quizzes"), ("movie", "movies"),
        ("cookie", "cookies"), ("move", "moves"), ("cache", "caches"), ("size", "sizes"), ("datum", "data"),
        ("bus", "buses"), ("alias", "aliases"), ("virus", "viruses"), ("status", "statuses"),
        ("lens", "lenses"), ("gas", "gases"), ("campus", "campuses"), ("bonus", "bonuses"), ("shoe", "shoes"),
        ("tie", "ties"), ("pie", "pies"), ("corpus", "corpora"), ("criterion", "criteria"),
        ("phenomenon", "phenomena"), ("ax", "axes"), ("atlas", "atlases"), ("iris", "irises"),
    ]

    private static let singularEndings: [(String, String)] = [
        ("ss", "ss"), ("us", "us"), ("is", "is"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"),
        ("xes", "x"),
        ("zzes", "zz"), ("yses", "ysis"), ("ies", "y"), ("s", ""),
    ]

    private static let pluralEndings: [(String, String)] = [
        ("ysis", "yses"), ("isis", "ises"), ("ss", "sses"), ("us", "uses"), ("sh", "shes"), ("ch", "ches"),
        ("x", "xes"), ("zz", "zzes"), ("s", "s"),
    ]

    /// Changes the last word of a name in camel case or with underscores. The first letter keeps
    /// its case, and digits at the end remain there.
    ///
    /// - Parameter change: Returns the number of characters to replace at the end, and the
    ///   replacement. Nil for no change.
    private static func changingLastWord(
        of name: String, _ change: (Substring) -> (dropped: Int, ending: String)?
    ) -> String {
        let digits = name.reversed().prefix { $0.isASCII && $0.isNumber }.count
        if digits > 0, digits < name.count {
            return changingLastWord(of: String(name.dropLast(digits)), change) + name.suffix(digits)
        }
        var start = name.startIndex
        var previous: Character?
        for index in name.indices {
            let character = name[index]
            if let previous, !previous.isLetter || character.isUppercase && !previous.isUppercase {
                start = index
            }
            previous = character
        }
        let word = name[start...]
        guard let (dropped, ending) = change(word) else { return name }
        var changed = word.dropLast(dropped) + ending
        if let first = word.first, first.isUppercase, dropped == word.count {
            changed = changed.prefix(1).uppercased() + changed.dropFirst()
        }
        return String(name[..<start] + changed)
    }
}

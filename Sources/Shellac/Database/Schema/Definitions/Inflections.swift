/// The rules by which English names become plural and singular: those that a program adds.
///
/// ```swift
/// Inflections.default.irregularSuffix("octopus", "octopuses")
/// Inflections.default.uncountableWords(["salmon"])
/// "octopus".pluralized    // "octopuses"
/// ```
///
/// Names that are made of those of tables, such as of foreign keys, are made by them. Add rules before the first database is
/// opened: names that were made before stay as they were.
public final class Inflections: Sendable {
    /// The rules of the program.
    public static let `default` = Inflections()

    /// The rules that were added.
    struct Rules: Sendable {
        var uncountable: Set<String> = []
        /// The newest last.
        var pairs: [(singular: String, plural: String)] = []

        /// The plural of a word in lower case: nil inside for one that has none, nil where no rule tells.
        func plural(of word: String) -> String?? {
            if uncountable.contains(word) { return .some(nil) }
            for pair in pairs.reversed() {
                if word.hasSuffix(pair.plural) { return .some(nil) }
                if word.hasSuffix(pair.singular) {
                    return .some(word.dropLast(pair.singular.count) + pair.plural)
                }
            }
            return nil
        }

        /// The singular of a word in lower case: nil inside for one that has none, nil where no rule tells.
        func singular(of word: String) -> String?? {
            if uncountable.contains(word) { return .some(nil) }
            for pair in pairs.reversed() {
                if word.hasSuffix(pair.plural) {
                    return .some(word.dropLast(pair.plural.count) + pair.singular)
                }
                if word.hasSuffix(pair.singular) { return .some(nil) }
            }
            return nil
        }
    }

    private let added = Lock(Rules())
    var rules: Rules { added.withLock { $0 } }

    private init() {}

    /// Adds words whose plural is the singular.
    ///
    /// - Parameter words: The words, in upper or lower case. A name whose last word is one of them stays as it is.
    public func uncountableWords(_ words: [String]) {
        added.withLock { $0.uncountable.formUnion(words.map { $0.lowercased() }) }
    }

    /// Adds the ending of words, or a whole word, with its plural. Later ones go before earlier ones.
    ///
    /// - Parameters:
    ///   - singular: The ending of the singular.
    ///   - plural: That of the plural.
    public func irregularSuffix(_ singular: String, _ plural: String) {
        added.withLock { $0.pairs.append((singular.lowercased(), plural.lowercased())) }
    }

    /// Returns a name in the plural. A name that is in the plural stays as it is.
    ///
    /// - Parameter name: The name, of which the last word changes: `formerTeam` becomes `formerTeams`.
    public func pluralize(_ name: String) -> String { Inflection.plural(name) }

    /// Returns a name in the singular. A name that is in the singular stays as it is.
    ///
    /// - Parameter name: The name, of which the last word changes: `formerTeams` becomes `formerTeam`.
    public func singularize(_ name: String) -> String { Inflection.singular(name) }
}

extension String {
    /// The English plural of a name: `team` becomes `teams`.
    public var pluralized: String { Inflection.plural(self) }

    /// The English singular of a name: `teams` becomes `team`.
    public var singularized: String { Inflection.singular(self) }
}

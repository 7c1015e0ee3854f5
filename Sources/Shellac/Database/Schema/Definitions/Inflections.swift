/// The rules that a program adds for the plural and singular of English names.
///
/// ```swift
/// Inflections.default.irregularSuffix("octopus", "octopuses")
/// Inflections.default.uncountableWords(["salmon"])
/// "octopus".pluralized    // "octopuses"
/// ```
///
/// Names derived from the names of tables, such as those of foreign keys, follow these rules. Add
/// rules before the first database is opened: names derived earlier do not change.
public final class Inflections: Sendable {
    /// The rules of the program.
    public static let `default` = Inflections()

    /// The added rules.
    struct Rules: Sendable {
        var uncountable: Set<String> = []
        /// The pairs, newest last.
        var pairs: [(singular: String, plural: String)] = []

        /// Returns the plural of a word in lower case. Returns an inner nil if it has none, and an
        /// outer nil if no rule applies.
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

        /// Returns the singular of a word in lower case. Returns an inner nil if it has none, and
        /// an outer nil if no rule applies.
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

    /// Adds words whose plural equals the singular.
    ///
    /// - Parameter words: The words, in upper or lower case. A name whose last word is one of them
    ///   does not change.
    public func uncountableWords(_ words: [String]) {
        added.withLock { $0.uncountable.formUnion(words.map { $0.lowercased() }) }
    }

    /// Adds a word ending, or a whole word, with its plural. Later rules take precedence over
    /// earlier ones.
    ///
    /// - Parameters:
    ///   - singular: The ending of the singular.
    ///   - plural: The ending of the plural.
    public func irregularSuffix(_ singular: String, _ plural: String) {
        added.withLock { $0.pairs.append((singular.lowercased(), plural.lowercased())) }
    }

    /// Returns the plural of a name. A plural name is returned unchanged.
    ///
    /// - Parameter name: The name. Its last word changes: `formerTeam` becomes `formerTeams`.
    public func pluralize(_ name: String) -> String { Inflection.plural(name) }

    /// Returns the singular of a name. A singular name is returned unchanged.
    ///
    /// - Parameter name: The name. Its last word changes: `formerTeams` becomes `formerTeam`.
    public func singularize(_ name: String) -> String { Inflection.singular(name) }
}

extension String {
    /// The English plural of a name: `team` becomes `teams`.
    public var pluralized: String { Inflection.plural(self) }

    /// The English singular of a name: `teams` becomes `team`.
    public var singularized: String { Inflection.singular(self) }
}

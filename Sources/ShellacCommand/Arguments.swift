/// The forms of a verb's result, for people and for programs.
enum TextOrJSON: String, CaseIterable {
    case text, json
}

/// The forms of results in lines.
enum TextOrJSONLines: String, CaseIterable {
    case text, jsonl
}

/// The arguments of a verb.
struct Arguments {
    let verb: Verb
    private(set) var words: [String] = []
    private var values: [String: String] = [:]
    private var flags: Set<String> = []

    init(_ verb: Verb, _ given: some Sequence<String>) throws {
        self.verb = verb
        var rest = Array(given)[...]
        var takesOptions = true
        while let word = rest.popFirst() {
            guard takesOptions, word.hasPrefix("-"), word != "-" else {
                words.append(word)
                continue
            }
            if word == "--" {
                takesOptions = false
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            let name = parts[0]
            if verb.flags.contains(name) {
                guard parts.count == 1 else { throw usage("\(name) takes no value") }
                flags.insert(name)
            } else if verb.valued.contains(name) {
                guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                    throw usage("\(name) needs a value")
                }
                values[name] = value
            } else {
                throw usage("\(verb.rawValue) has no option \(name)")
            }
        }
        guard verb.wordCount ~= words.count else {
            throw usage(
                words.count < verb.wordCount.lowerBound
                    ? "\(verb.rawValue) needs \(verb.synopsis)"
                    : "\(words[verb.wordCount.upperBound]) is one word too many")
        }
    }

    func has(_ flag: String) -> Bool { flags.contains(flag) }

    subscript(_ option: String) -> String? { values[option] }

    /// Returns the value of an option that accepts only some words.
    func choice<Choice: RawRepresentable & CaseIterable>(_ option: String, _ type: Choice.Type) throws
        -> Choice?
    where Choice.RawValue == String {
        guard let word = values[option] else { return nil }
        guard let choice = Choice(rawValue: word) else {
            throw usage(
                "\(option) must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", ")), not \(word)"
            )
        }
        return choice
    }

    func number(_ option: String) throws -> Double? {
        guard let word = values[option] else { return nil }
        guard let number = Double(word), number >= 0, number.isFinite else {
            throw usage("\(option) must be a number, not \(word)")
        }
        return number
    }

    func usage(_ sentence: String) -> Failure {
        Failure(.usage, "\(sentence): see shellac \(verb.rawValue) --help")
    }
}

/// The texts of `--help`.
enum Help {
    /// The version of the command, which is that of the library.
    static let version = "0.1.0"

    static var general: String {
        var text = """
            USAGE: shellac VERB FILE …

            Looks into any SQLite file, and changes nothing: neither the file, nor its log, nor the log's index.


            """
        text += verbs + "\nEXAMPLES:\n"
        for verb in Verb.allCases { text += "  \(verb.examples[0].command)\n" }
        text += "\nEXIT CODES:\n"
        for code in ExitCode.allCases { text += "  \(code.rawValue)  \(code.meaning)\n" }
        text +=
            "\nshellac VERB --help describes one verb, and shellac --version names the version. Colours are shown in a terminal, unless NO_COLOR is set.\n"
        return text
    }

    /// The verbs, each in a line.
    static var verbs: String {
        Verb.allCases.map { "  \(padded($0.rawValue, 9))\($0.summary)\n" }.joined()
    }

    static func text(_ verb: Verb) -> String {
        var text = "USAGE: shellac \(verb.rawValue) \(verb.synopsis)\n\nShows \(verb.summary).\n"
        if !verb.options.isEmpty {
            text += "\nOPTIONS:\n"
            for option in verb.options { text += "  \(padded(option.name, 18))\(option.meaning)\n" }
        }
        text += "\nEXAMPLES:\n"
        for example in verb.examples { text += "  \(example.command)\n      \(example.meaning)\n" }
        return text
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

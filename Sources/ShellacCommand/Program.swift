// The entry point of the `shellac` command: signal setup, dispatch of verbs, exit codes.

import CSQLite
import Shellac

/// The command `shellac`.
@main
enum Program {
    static func main() {
        // If the reader of a pipe is gone, a write fails instead, after which temporary files are
        // removed.
        shellac_ignore_closed_pipes()
        // The parent process may have left these blocked: then Control-C, or a request to end,
        // would have no effect.
        var interruptions = sigset_t()
        sigemptyset(&interruptions)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&interruptions, number) }
        sigprocmask(SIG_UNBLOCK, &interruptions, nil)
        exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    private static func run(_ words: [String]) -> ExitCode {
        let output = Output()
        do {
            let code = try perform(words, output)
            try output.flush()
            return code
        } catch is OutputClosed {
            return .done
        } catch let failure as Failure {
            // Text that was written before the failure must appear before it.
            do { try output.flush() } catch is OutputClosed { return .done } catch {}
            Output.complain(failure.message)
            return failure.code
        } catch {
            Output.complain("\(error)")
            return .unreadable
        }
    }

    private static func perform(_ words: [String], _ output: Output) throws -> ExitCode {
        guard let first = words.first else {
            Output.complain("no verb was given: see shellac --help", Help.verbs)
            return .usage
        }
        if first == "--version" {
            try output.line("shellac \(Help.version), SQLite \(String(cString: sqlite3_libversion()))")
            return .done
        }
        if ["--help", "-h", "help"].contains(first) {
            if words.count == 2, let verb = Verb(rawValue: words[1]) {
                try output.write(Help.text(verb))
            } else {
                try output.write(Help.general)
            }
            return .done
        }
        guard let verb = Verb(rawValue: first) else {
            throw Failure(.usage, "there is no verb \(first): see shellac --help")
        }
        let rest = words.dropFirst()
        if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            try output.write(Help.text(verb))
            return .done
        }
        let arguments = try Arguments(verb, rest)
        // It opens the file itself, for each reading.
        if verb == .browse { return try Browsing(output, arguments).run() }
        let file = try LookedAtFile(arguments.words[0], isDamaged: verb == .recover)
        switch verb {
        case .inspect: return try Inspection(file, output, arguments).run()
        case .show: return try Showing(file, output, arguments).run()
        case .class: return try ClassPrinting(file, output, arguments).run()
        case .diagram: return try Drawing(file, output, arguments).run()
        case .diff: return try Differences(file, output, arguments).run()
        case .explain: return try Explanation(file, output, arguments).run()
        case .doctor: return try Examination(file, output, arguments).run()
        case .recover: return try Recovery(file, output, arguments).run()
        case .watch: return try Watching(file, output, arguments).run()
        case .journal: return try JournalListing(file, output, arguments).run()
        case .browse: return .done
        }
    }
}

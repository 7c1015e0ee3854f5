import Foundation
import TestSupport

/// The samples of one document that the library was made after, as they are printed there: see
/// `Tests/Samples`.
///
/// A line of a file that begins with `@@@` begins a sample. It says the line in the document, how
/// the sample is surrounded, and what becomes of it. `@@+` begins a line in front of the sample,
/// and `@@-` one behind it, which are not the document's.
struct SampleFile: Sendable {
    /// The code around a sample.
    enum Form: String {
        /// It is in a function whose arguments are a connection and a queue.
        case statements
        /// It declares types, which are nested in one of their own, since other samples declare
        /// such types, too.
        case types
        /// It is a file as it is.
        case file
        /// It is a program of its own: it declares what others declare, too, and extends it.
        case script
        /// It is no Swift, or none of this library's users.
        case other
    }

    /// The fate of a sample.
    enum Fate: String, CaseIterable {
        /// It compiles as it is printed.
        case printed
        /// It compiles by what the compiler proposes.
        case fixed
        /// The compiler says what to write, and proposes nothing.
        case told
        /// It does not.
        case refused
        /// It was never meant to be compiled here: a reason is given.
        case other
    }

    struct Sample: Sendable {
        let line: Int
        let form: Form
        let fate: Fate
        /// Texts that the source has in the end, parts of messages, or the reason.
        var notes: [String] = []
        var lines: [String] = []
        var before: [String] = []
        var after: [String] = []

        init(line: Int, form: Form, fate: Fate) { (self.line, self.form, self.fate) = (line, form, fate) }

        var name: String { "Line\(line)" }

        /// The sample with the code around it. It has nothing in the places that it leaves to its
        /// reader.
        var source: String {
            let filled = lines.map(Self.filled)
            let body = (before + filled + after).joined(separator: "\n")
            let (head, foot) =
                switch form {
                case .statements:
                    (
                        "func line\(line)(_ db: Database, _ dbQueue: DatabaseQueue, _ row: Row) throws {\n",
                        "\n}"
                    )
                case .types: ("enum \(name) {\n", "\n}")
                case .file, .script, .other: ("", "")
                }
            return "import Foundation\nimport Shellac\n" + head + body + foot + "\n"
        }

        /// A line without its elisions: `...` alone, and as an argument.
        private static func filled(_ line: String) -> String {
            if line.trimmingCharacters(in: .whitespaces) == "..." { return "" }
            return elisions.reduce(line) { $0.replacing($1.0, with: $1.1) }
        }

        /// The code that a reader would write in the place of dots.
        private static let elisions = [
            (", ...)", ")"), (", ...]", "]"), ("filter { ... }", "filter { _ in true }"), ("{ ... }", "{}"),
            ("value(...)", "value(atIndex: 0)"), ("(...)", "()"),
            ("transactionObserver: ...)", "transactionObserver: observer)"), (": ...)", ": [])"),
            (":...)", ": [])"),
            ("<#code#>", "_ = db"), ("import GRDB", "import Shellac"),
            ("fetch...", "fetchOne(db, \"SELECT ...\")!"), ("json = ...", "json: [String: Int64] = [:]"),
        ]
    }

    let name: String
    let support: String
    let samples: [Sample]

    init(_ name: String) throws {
        self.name = name
        let url = Repository.root.appending(path: "Tests/Samples/\(name).txt")
        var support: [String] = []
        var samples: [Sample] = []
        for line in try String(contentsOf: url, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false
        )
        .map(String.init) {
            if line.hasPrefix("@@@ ") {
                let words = line.split(separator: " ")
                guard words.count == 4, let number = Int(words[1]),
                    let form = Form(rawValue: String(words[2])),
                    let fate = Fate(rawValue: String(words[3]))
                else { throw CocoaError(.fileReadCorruptFile) }
                samples.append(Sample(line: number, form: form, fate: fate))
            } else if samples.isEmpty {
                support.append(line)
            } else if line.hasPrefix("@@+") {
                samples[samples.count - 1].before.append(String(line.dropFirst(4)))
            } else if line.hasPrefix("@@-") {
                samples[samples.count - 1].after.append(String(line.dropFirst(4)))
            } else if line.hasPrefix("@@<") {
                samples[samples.count - 1].before.append(line)
            } else if line.hasPrefix("@@:") {
                samples[samples.count - 1].notes.append(String(line.dropFirst(4)))
            } else {
                samples[samples.count - 1].lines.append(line)
            }
        }
        /// The lines of other samples, in the place of `@@< LINE`.
        func included(_ lines: [String]) -> [String] {
            lines.flatMap { line -> [String] in
                guard line.hasPrefix("@@<"), let number = Int(line.dropFirst(4)) else { return [line] }
                return samples.first { $0.line == number }?.lines ?? []
            }
        }
        for index in samples.indices { samples[index].before = included(samples[index].before) }
        self.support = included(support).joined(separator: "\n")
        self.samples = samples
    }

    /// Returns the outcome of compiling each sample.
    func compiled() async throws -> [Int: FixIts.Outcome] {
        let meant = samples.filter { $0.form != .other }
        let together = meant.filter { $0.form != .script }
        var modules = [(support, Dictionary(uniqueKeysWithValues: together.map { ($0.name, $0.source) }))]
        modules += meant.filter { $0.form == .script }.map { ("", [$0.name: $0.source]) }
        var outcomes: [String: FixIts.Outcome] = [:]
        for (support, sources) in modules {
            try await outcomes.merge(FixIts.apply(to: sources, beside: support)) { $1 }
        }
        return Dictionary(
            uniqueKeysWithValues: meant.compactMap { sample in outcomes[sample.name].map { (sample.line, $0) }
            })
    }
}

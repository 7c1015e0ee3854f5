import Foundation

/// A Swift block of a Markdown text, or several that go on from one another, as one Swift file.
///
/// Each block is a script of its own that imports Shellac and Foundation. An HTML comment right
/// above the block contains the code that it needs and the reader need not see. Words behind
/// `compile:` say more:
///
///     <!-- compile: run
///     let dbQueue = try DatabaseQueue(configuration: .shown)
///     -->
///
///     <!-- compile: continues -->
///
///     <!-- compile: only: it needs a cluster -->
///
/// - `continues`: the block goes on from the block before it.
/// - `mainActor`: the script compiles in a module whose code belongs to the main actor, too.
/// - `run`: the script is run, in an empty folder, and must come to its end. Each comment that is a
///   line of SQL then says what the code above it runs, on connections that have the configuration
///   `.shown`. That code runs no more since the comment before it, or since the beginning of its
///   block, except for transactions and questions about the schema. Below a request at the left
///   margin, `let best = …`, that is the SQL of the request, which is fetched. Values appear there
///   as `?` or as they are, and `…` leaves words out. The comment behind a `print(…)` says what is
///   printed, and what follows a colon explains it.
/// - `only:`: the script is not run, and what follows says why.
public struct DocumentationScript: Sendable {
    public let file: String
    /// The line of each block's first line.
    public private(set) var lines: [Int] = []
    public private(set) var source: String
    /// Whether it is run, and not compiled alone.
    public private(set) var isRun = false
    /// The reason why it is not run, if the comment gives one.
    public private(set) var reason: String?
    /// Whether it is compiled a second time, as code of the main actor.
    private var isForMainActor = false
    /// The lines at which something is compared, all of which must be reached.
    private var comparedLines: [Int] = []
    /// The number of comments that say what SQL is run.
    public private(set) var shownStatements = 0
    /// The number of comments that say what is printed.
    public private(set) var shownLines = 0

    private enum Place { case text, block, otherBlock, comment }

    /// Returns the scripts of a Markdown text.
    public static func scripts(of markdown: String, file: String) -> [DocumentationScript] {
        var scripts: [DocumentationScript] = []
        var place = Place.text
        var hidden: [String] = []
        var words: Set<Substring> = []
        var reason: String?
        let lines = markdown.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for (number, line) in zip(1..., lines) {
            switch place {
            case .text where line == "```swift":
                place = .block
                if !words.contains("continues") || scripts.isEmpty {
                    scripts.append(
                        DocumentationScript(
                            file: file, source: "import Foundation\nimport Shellac\n",
                            isRun: words.contains("run"), reason: reason,
                            isForMainActor: words.contains("mainActor")))
                }
                let script = scripts.count - 1
                scripts[script].lines.append(number + 1)
                scripts[script].source += hidden.joined()
                if scripts[script].isRun { scripts[script].source += "ShownSQL.begin()\n" }
                scripts[script].source += location(file, number + 1)
                (hidden, words, reason) = ([], [], nil)
            case .text where line.hasPrefix("```"):
                place = .otherBlock
            case .text where line.hasPrefix("<!-- compile:"):
                let said = line.dropFirst("<!-- compile:".count).replacing("-->", with: "")
                let parts = said.split(separator: "only: ", maxSplits: 1, omittingEmptySubsequences: false)
                words = Set(parts[0].split(separator: " "))
                reason = parts.dropFirst().first?.trimmingCharacters(in: .whitespaces)
                hidden = [location(file, number + 1)]
                place = line.hasSuffix("-->") ? .text : .comment
            case .block where line == "```":
                scripts[scripts.count - 1].showStatements(from: number)
                place = .text
            case .otherBlock where line == "```", .comment where line == "-->":
                place = .text
            case .block:
                scripts[scripts.count - 1].source += line + "\n"
            case .comment:
                hidden.append(line + "\n")
            case .text, .otherBlock:
                break
            }
        }
        for index in scripts.indices where scripts[index].isRun {
            let lines = scripts[index].comparedLines.map(String.init).joined(separator: ", ")
            scripts[index].source += "ShownSQL.end([\(lines)])\n" + Self.shown
        }
        return scripts
    }

    /// Returns a failure for each script that is not run and has no reason.
    public static func unreasoned(_ scripts: [DocumentationScript]) -> [String] {
        scripts.filter { !$0.isRun && $0.reason == nil }.map {
            "The block at \($0.file):\($0.lines[0]) is not run. Write `<!-- compile: run -->` above it, or `only:` and the reason."
        }
    }

    private static func location(_ file: String, _ line: Int) -> String {
        "#sourceLocation(file: \"\(file)\", line: \(line))\n"
    }

    // MARK: - The SQL that is shown

    /// Lets the last block compare the statements of its comments with those that it runs.
    private mutating func showStatements(from end: Int) {
        guard isRun, let first = lines.last else { return }
        var all = source.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        // The source ends with a line feed, and so with an empty line.
        let start = all.count - 1 - (end - first)
        var index = start
        /// The request that a line at the left margin has declared, and nothing has followed since
        /// but its own lines.
        var request: Substring?
        while index < all.count - 1 {
            if let match = all[index].firstMatch(of: /^let (\w+)(: [^=]+)? =/) {
                request = match.1
            } else if all[index].first.map({ $0 != " " && $0 != "/" && $0 != "}" && $0 != ")" }) == true {
                request = nil
            }
            guard Self.isSQL(all[index]) else {
                if let match = all[index].firstMatch(of: /^( *)print\((.+)\) +\/\/ (.+)$/) {
                    all[index] =
                        "\(match.1)ShownSQL.print(line: \(first + index - start), ##\"\(match.3)\"##, \(match.2))"
                    shownLines += 1
                    comparedLines.append(first + index - start)
                }
                index += 1
                continue
            }
            let isAtMargin = all[index].hasPrefix("//")
            var statements: [String] = []
            let line = first + index - start
            let place = index
            while index < all.count - 1, let comment = all[index].firstMatch(of: /^ *\/\/ +(.*)$/) {
                if Self.isSQL(all[index]) {
                    statements.append(String(comment.1))
                } else {
                    statements[statements.count - 1] += " " + comment.1
                }
                all[index] = ""
                index += 1
            }
            shownStatements += statements.count
            comparedLines.append(line)
            let texts = statements.map { "##\"\($0)\"##" }.joined(separator: ", ")
            let of = isAtMargin ? request.map { ", of: \($0), in: dbQueue" } ?? "" : ""
            all[place] = "ShownSQL.check(line: \(line), [\(texts)]\(of))"
        }
        source = all.joined(separator: "\n")
    }

    private static func isSQL(_ line: String) -> Bool {
        line.firstMatch(
            of:
                /^ *\/\/ (SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH|CREATE|ALTER|DROP|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/
        ) != nil
    }

    /// The code by which a script that is run compares.
    private static let shown = #"""
        #sourceLocation(file: "ShownSQL.swift", line: 1)
        nonisolated final class ShownSQL: @unchecked Sendable {
            private static let shared = ShownSQL()
            private let lock = NSLock()
            private var ran: [(sql: String, expanded: String)] = []
            private var reached: Set<Int> = []
            private var hasFailed = false

            static func trace(_ event: TraceEvent) {
                if event.sql.hasPrefix("--") { return }
                shared.lock.withLock { shared.ran.append((event.sql, event.expandedSQL)) }
            }

            static func begin() { shared.lock.withLock { shared.ran = [] } }

            static func check<R: FetchRequest>(line: Int, _ expected: [String], of request: R, in queue: some DatabaseWriter)
            where R.RowDecoder: DatabaseFetchable {
                begin()
                do {
                    _ = try queue.read { db in try request.fetchAll(db).count }
                } catch {
                    Swift.print("line \(line): \(error)")
                }
                check(line: line, expected)
            }

            static func check<Value>(line: Int, _ expected: [String], of value: Value, in queue: some DatabaseWriter) {
                check(line: line, expected)
            }

            static func check(line: Int, _ expected: [String]) {
                shared.lock.withLock { _ = shared.reached.insert(line) }
                let ends = ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE"]
                func isEnd(_ sql: String) -> Bool { ends.contains { sql.hasPrefix($0) } }
                let showsEnds = expected.contains(where: isEnd)
                // The schema is asked for at the first use of a table.
                let ran = shared.lock.withLock { shared.ran }.filter { ran in
                    !ran.sql.hasPrefix("PRAGMA ") && !ran.sql.contains("sqlite_master ") && (showsEnds || !isEnd(ran.sql))
                }
                let isRight = ran.count == expected.count && zip(ran, expected).allSatisfy { ran, expected in
                    matches(ran.sql, expected) || matches(ran.expanded, expected)
                }
                if !isRight {
                    let texts = ran.map { $0.sql == $0.expanded ? $0.sql : "\($0.sql) (\($0.expanded))" }
                    Swift.print("line \(line): \(expected) is shown, and \(texts) was run")
                    shared.lock.withLock { shared.hasFailed = true }
                }
                begin()
            }

            static func print(line: Int, _ expected: String, _ values: Any...) {
                shared.lock.withLock { _ = shared.reached.insert(line) }
                let printed = values.map { "\($0)" }.joined(separator: " ")
                if matches(printed, expected) || expected.hasPrefix(printed + ":") { return }
                Swift.print("line \(line): \(expected) is shown, and \(printed) was printed")
                shared.lock.withLock { shared.hasFailed = true }
            }

            private static func matches(_ sql: String, _ expected: String) -> Bool {
                let parts = expected.components(separatedBy: "…")
                guard parts.count > 1 else { return sql == expected }
                var rest = Substring(sql)
                for (index, part) in parts.enumerated() where !part.isEmpty {
                    guard let range = index == 0 ? rest.range(of: part, options: .anchored) : rest.range(of: part)
                    else { return false }
                    rest = rest[range.upperBound...]
                }
                return parts.last == "" || rest.isEmpty
            }

            static func end(_ lines: [Int]) {
                let missed = Set(lines).subtracting(shared.lock.withLock { shared.reached }).sorted()
                if !missed.isEmpty { Swift.print("the lines \(missed) are not reached") }
                if !missed.isEmpty || shared.lock.withLock({ shared.hasFailed }) { exit(1) }
            }
        }

        nonisolated extension Configuration {
            static var shown: Configuration {
                var configuration = Configuration()
                configuration.prepareDatabase { db in db.trace { event in ShownSQL.trace(event) } }
                return configuration
            }
        }

        """#

    // MARK: - Compiling and running

    /// Returns a failure for each script that does not compile, or fails. Two are compiled at a
    /// time.
    public static func failures(of scripts: [DocumentationScript]) async throws -> [String] {
        let folder = try TemporaryFolder()
        let objects = try SwiftScript.objects()
        return try await withThrowingTaskGroup(of: (Int, String)?.self) { group in
            var waiting = scripts.enumerated().makeIterator()
            func startNext() {
                guard let (index, script) = waiting.next() else { return }
                group.addTask {
                    try await script.failure(in: folder, named: "\(index)", objects: objects).map {
                        (index, $0)
                    }
                }
            }
            startNext()
            startNext()
            var failures: [(Int, String)] = []
            for try await failure in group {
                if let failure { failures.append(failure) }
                startNext()
            }
            return failures.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func failure(in folder: TemporaryFolder, named name: String, objects: [String]) async throws
        -> String?
    {
        let url = folder.url.appending(path: "\(name).swift")
        try Data(source.utf8).write(to: url)
        if isForMainActor {
            let result = try await SwiftScript.compile(
                url, options: ["-default-isolation", "MainActor"], warningsAreErrors: true)
            if !result.succeeded {
                return
                    "The block at \(file):\(lines[0]) does not compile on the main actor:\n\(result.output)"
            }
        }
        guard isRun else {
            let result = try await SwiftScript.compile(url, warningsAreErrors: true)
            return result.succeeded
                ? nil : "The block at \(file):\(lines[0]) does not compile:\n\(result.output)"
        }
        let program = folder.url.appending(path: "\(name).program")
        let built = try await SwiftScript.build(url, as: program, linking: objects)
        if !built.succeeded { return "The block at \(file):\(lines[0]) does not compile:\n\(built.output)" }
        let place = folder.url.appending(path: "\(name).folder")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        let result = try await Command.run(
            ["SWIFT_BACKTRACE=enable=no", "timeout", "60", program.path], in: place)
        return result.succeeded ? nil : "The block at \(file):\(lines[0]) fails:\n\(result.output)"
    }
}

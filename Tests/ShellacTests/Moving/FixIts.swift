import Foundation
import TestSupport

/// Applies the fix-its that the compiler proposes to sources, as a user does who accepts each of
/// them.
enum FixIts {
    /// The outcome for one source.
    struct Outcome: Sendable {
        /// The source, with all that was proposed.
        var source: String
        /// The number of times that fix-its were proposed.
        var rounds = 0
        /// The compiler's messages in the end, if it does not compile.
        var output = ""

        var compiles: Bool { output.isEmpty }

        /// The errors, without their places.
        var errors: [String] {
            output.split(separator: "\n").compactMap {
                $0.firstMatch(of: /^\/.*?:\d+:\d+: error: (.*)$/).map { String($0.1) }
            }
        }
    }

    /// A range of a source, and the text that replaces it. Columns are counted from 0, in UTF-8.
    private struct Edit: Hashable {
        var line: Int
        var column: Int
        var length: Int
        var text: String
    }

    /// Compiles sources by their names as files of one module, beside a file that all may use.
    /// Applies the fix-its of the errors in each, again and again.
    ///
    /// They are type-checked together, for this is quick, and those that pass are compiled to where
    /// data races are errors.
    static func apply(to sources: [String: String], beside support: String = "") async throws -> [String:
        Outcome]
    {
        var outcomes = sources.mapValues { Outcome(source: $0) }
        var open = Set(sources.keys)
        let last = "-emit-sil"
        let first = sources.count == 1 ? last : "-typecheck"
        for round in 1...10 where !open.isEmpty {
            let said = try await compile(outcomes.filter { open.contains($0.key) }, support, first)
            for name in open {
                guard let output = said[name] else {
                    open.remove(name)
                    continue
                }
                let edits = edits(output)
                if edits.isEmpty || round == 10 {
                    outcomes[name]?.output = output
                    open.remove(name)
                    continue
                }
                let source = apply(edits, to: outcomes[name]?.source ?? "")
                outcomes[name] = Outcome(source: source, rounds: round)
            }
        }
        let passing = outcomes.filter { first != last && $0.value.compiles }
        for (name, output) in try await compile(passing, support, last) {
            outcomes[name]?.output = output
        }
        return outcomes
    }

    /// Compiles one source, as above.
    static func apply(to source: String) async throws -> Outcome {
        try await apply(to: ["Source": source])["Source"] ?? Outcome(source: source)
    }

    /// Returns what the compiler says of each file that has errors.
    private static func compile(
        _ files: [String: Outcome], _ support: String, _ mode: String
    ) async throws -> [String: String] {
        if files.isEmpty { return [:] }
        let folder = try TemporaryFolder()
        // A single file is a program.
        var paths: [String] = []
        if !support.isEmpty { paths.append(try folder.write(support.utf8, to: "Support.swift")) }
        for (name, file) in files.sorted(by: { $0.key < $1.key }) {
            paths.append(try folder.write(file.source.utf8, to: "\(name).swift"))
        }
        let words = ["swiftc", mode] + (mode == "-emit-sil" ? ["-o", "/dev/null"] : [])
        let result = try await Command.run(
            words + (support.isEmpty ? [] : ["-parse-as-library"]) + [
                "-wmo", "-swift-version", "6", "-suppress-warnings",
                "-diagnostic-style", "llvm", "-module-name", "Sample", "-I", try Repository.modules().path,
                "-I", Repository.root.appending(path: "Sources/CSQLite").path,
            ] + paths)
        if result.succeeded { return [:] }
        var said: [String: String] = [:]
        var (name, isError): (String?, Bool) = (nil, false)
        for line in result.output.split(separator: "\n", omittingEmptySubsequences: false) {
            if let match = line.firstMatch(of: /^(.+?):\d+(?::\d+)?: (error|warning|note): .*/) {
                if match.2 != "note" {
                    let file = match.1.split(separator: "/").last?.split(separator: ".").first
                    name = match.1.hasPrefix(folder.path) ? file.map(String.init) : nil
                    isError = match.2 == "error"
                }
            }
            if isError { said[name ?? "Support", default: ""] += line + "\n" }
        }
        if let output = said["Support"] ?? (said.isEmpty ? result.output : nil) {
            throw SupportError(output: output)
        }
        return said
    }

    /// The error of code around the sources that does not compile.
    struct SupportError: Error {
        let output: String
    }

    /// Reads what the compiler says: a line that names a place, the source, the range below it, and
    /// the text that is proposed.
    private static func edits(_ output: String) -> Set<Edit> {
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var edits: Set<Edit> = []
        for index in lines.indices where lines.indices.contains(index + 3) {
            guard let match = lines[index].firstMatch(of: /^.*?:(\d+):(\d+): (error|note): (.*)$/),
                let line = Int(match.1), let column = Int(match.2), lines[index + 2].contains("^")
            else { continue }
            let proposed = lines[index + 3]
            let isInPlace = proposed.hasPrefix(" ") && proposed.firstMatch(of: /:\d+:\d+:/) == nil
            if !isInPlace,
                match.4.hasPrefix("did you mean to use 'try'?")
                    || match.4.contains("it is not marked with 'try'")
            {
                // Of a property, and in a closure, the compiler says so, and shows no text.
                edits.insert(Edit(line: line - 1, column: column - 1, length: 0, text: "try "))
                continue
            }
            if !isInPlace || !proposed.contains(":"),
                lines[index + 1].hasSuffix("(") || lines[index + 1].hasSuffix(","),
                let label = match.4.firstMatch(of: /has been renamed to '\w+\((?:_:)*(\w+):/)?.1, label != "_"
            {
                // It shows what belongs in the line that it points at. The argument is in the next
                // one.
                let text = "\(label): "
                edits.insert(Edit(line: line, column: -1, length: 0, text: text))
            }
            // Of the three ways to call what throws, the first one is taken.
            let isNote = match.3 == "note" && !match.4.hasPrefix("did you mean to use 'try'?")
            guard isInPlace, !isNote else { continue }
            let marks = Array(lines[index + 2].utf8)
            var lastEnd = -2
            for word in proposed.matches(of: /\S+(?: \S+)*/) {
                var column = proposed.utf8.distance(from: proposed.startIndex, to: word.range.lowerBound)
                // One that was pushed aside by the one in front of it is made in the next round.
                if column <= lastEnd + 1 { break }
                lastEnd = column + word.output.utf8.count
                var end = column
                while end < marks.count, marks[end] == UInt8(ascii: "~") || marks[end] == UInt8(ascii: "^") {
                    end += 1
                }
                let isReplaced = end - column > 1
                // A fix that begins or ends with a space is written so.
                var text = String(word.output)
                if text.hasSuffix(":") || text.hasSuffix("try") || text == "_" { text += " " }
                if text.hasPrefix("as ") { (text, column) = (" " + text, column - 1) }
                edits.insert(
                    Edit(
                        line: line - 1, column: column, length: isReplaced ? end - column : 0,
                        text: text))
            }
        }
        return edits
    }

    private static func apply(_ edits: Set<Edit>, to source: String) -> String {
        var lines = source.split(separator: "\n", omittingEmptySubsequences: false).map { Array($0.utf8) }
        for edit in edits.sorted(by: { ($0.line, $0.column) > ($1.line, $1.column) }) {
            guard lines.indices.contains(edit.line), edit.column + edit.length <= lines[edit.line].count
            else { continue }
            var edit = edit
            if edit.column < 0 { edit.column = lines[edit.line].prefix { $0 == UInt8(ascii: " ") }.count }
            lines[edit.line].replaceSubrange(
                edit.column..<edit.column + edit.length, with: Array(edit.text.utf8))
        }
        return lines.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }
}

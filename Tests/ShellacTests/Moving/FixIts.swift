import TestSupport

/// Applies what the compiler proposes to a source, as somebody would who accepts each of its fix-its.
enum FixIts {
    /// A place in a source, and what stands there in its place. Columns are counted from 0, in UTF-8.
    private struct Edit: Hashable {
        var line: Int
        var column: Int
        var length: Int
        var text: String
    }

    /// Compiles a source, and applies the fix-its of its errors, again and again. Returns the source that compiles, and how often
    /// something was proposed; or what the compiler said last.
    static func apply(to source: String) async throws -> Result<(source: String, rounds: Int), Failure> {
        var source = source
        for round in 0..<10 {
            let result = try await SwiftScript.compile(
                source: source, options: ["-diagnostic-style", "llvm"])
            if result.succeeded { return .success((source, round)) }
            let edits = edits(result.output)
            guard !edits.isEmpty else { return .failure(Failure(source: source, output: result.output)) }
            source = apply(edits, to: source)
        }
        return .failure(Failure(source: source, output: "it does not come to an end"))
    }

    struct Failure: Error {
        let source: String
        let output: String
    }

    /// Reads what the compiler says: a line that names a place, the source, the range below it, and the text that is proposed.
    private static func edits(_ output: String) -> Set<Edit> {
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var edits: Set<Edit> = []
        for index in lines.indices where lines.indices.contains(index + 3) {
            guard let match = lines[index].firstMatch(of: /^.*?:(\d+):(\d+): (error|note): (.*)$/),
                let line = Int(match.1), lines[index + 2].contains("^")
            else { continue }
            let proposed = lines[index + 3]
            if match.3 == "note", match.4.hasPrefix("did you mean to use 'try'?"), let column = Int(match.2),
                !proposed.hasPrefix(" ")
            {
                // Of a property, the compiler says so, and shows no text.
                edits.insert(Edit(line: line - 1, column: column - 1, length: 0, text: "try "))
                continue
            }
            let isProposal = proposed.hasPrefix(" ") && proposed.firstMatch(of: /:\d+:\d+:/) == nil
            // Of the three ways to call what throws, the first one is taken.
            let isNote = match.3 == "note" && !match.4.hasPrefix("did you mean to use 'try'?")
            guard isProposal, !isNote else { continue }
            let marks = Array(lines[index + 2].utf8)
            var lastEnd = -2
            for word in proposed.matches(of: /\S+/) {
                let column = proposed.utf8.distance(from: proposed.startIndex, to: word.range.lowerBound)
                // One that was pushed aside by the one in front of it is made in the next round.
                if column <= lastEnd + 1 { break }
                lastEnd = column + word.output.utf8.count
                var end = column
                while end < marks.count, marks[end] == UInt8(ascii: "~") || marks[end] == UInt8(ascii: "^") {
                    end += 1
                }
                let isReplaced = end - column > 1
                // What ends with a space is written so.
                let text =
                    word.output.hasSuffix(":") || word.output == "try" ? word.output + " " : word.output
                edits.insert(
                    Edit(
                        line: line - 1, column: column, length: isReplaced ? end - column : 0,
                        text: String(text)))
            }
        }
        return edits
    }

    private static func apply(_ edits: Set<Edit>, to source: String) -> String {
        var lines = source.split(separator: "\n", omittingEmptySubsequences: false).map { Array($0.utf8) }
        for edit in edits.sorted(by: { ($0.line, $0.column) > ($1.line, $1.column) }) {
            guard lines.indices.contains(edit.line), edit.column + edit.length <= lines[edit.line].count
            else { continue }
            lines[edit.line].replaceSubrange(
                edit.column..<edit.column + edit.length, with: Array(edit.text.utf8))
        }
        return lines.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }
}

// The `shellac diagram` verb: Mermaid or SVG output, and the check of an existing diagram.

import CSQLite
import Shellac

/// `shellac diagram`: the tables and their foreign keys.
struct Drawing {
    private let file: LookedAtFile
    private let output: Output
    private let arguments: Arguments

    init(_ file: LookedAtFile, _ output: Output, _ arguments: Arguments) {
        (self.file, self.output, self.arguments) = (file, output, arguments)
    }

    func run() throws -> ExitCode {
        if arguments.has("--svg"), arguments.has("--mermaid") {
            throw arguments.usage("a diagram is either for Mermaid or an SVG")
        }
        let facts = try file.read { db in try SchemaFacts(db, all: arguments.has("--all")) }
        guard let old = arguments["--check"] else {
            try output.write(arguments.has("--svg") ? SVGDiagram.text(facts) : MermaidDiagram.text(facts))
            return .done
        }
        return try check(old, facts)
    }

    /// Compares the diagram with that of a file.
    private func check(_ path: String, _ facts: SchemaFacts) throws -> ExitCode {
        let descriptor = shellac_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else {
            throw Failure(.unreadable, "\(path) cannot be read: \(String(cString: shellac_error_text()))")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(descriptor, &piece, piece.count), count > 0 { bytes += piece[..<count] }
        let text = String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
        let isSVG = arguments.has("--svg") || text.prefix(200).contains("<svg")
        let new = isSVG ? SVGDiagram.text(facts) : MermaidDiagram.text(facts)
        let old = isSVG ? text : Self.mermaidBlock(of: text)
        let (before, after) = (Self.lines(old), Self.lines(new))
        if before == after { return .done }
        if isSVG {
            try output.line("\(path) is not the diagram of \(file.path)")
        } else {
            // In both, a table's lines come before the next table's. So the lines alone show the
            // differences.
            for change in after.difference(from: before) {
                switch change {
                case .remove(_, let line, _): try output.line("- \(TextWidth.visible(line))", .bad)
                case .insert(_, let line, _): try output.line("+ \(TextWidth.visible(line))", .good)
                }
            }
        }
        return .found
    }

    private static func lines(_ text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// Returns the Mermaid block of a Markdown file, or the whole text of another file.
    private static func mermaidBlock(of text: String) -> String {
        guard let start = text.firstRange(of: "```mermaid\n") else { return text }
        let rest = text[start.upperBound...]
        return rest.firstRange(of: "```").map { String(rest[..<$0.lowerBound]) } ?? String(rest)
    }
}

/// A diagram as text for Mermaid: see "Entity Relationship Diagrams" in its documentation.
enum MermaidDiagram {
    static func text(_ facts: SchemaFacts) -> String {
        var text = "erDiagram\n"
        for table in facts.tables {
            text += "    \(quoted(table.name)) {\n"
            for column in table.columns {
                let isForeign = table.foreignKeys.contains {
                    $0.originColumns.contains { $0.isSameName(as: column.name) }
                }
                let keys = [column.primaryKeyIndex > 0 ? "PK" : nil, isForeign ? "FK" : nil].compactMap { $0 }
                let name = word(column.name, "column")
                text += "        \(word(column.type, "ANY")) \(name)"
                if !keys.isEmpty { text += " \(keys.joined(separator: ", "))" }
                // If Mermaid does not accept a name, its quoted form follows.
                if name != column.name { text += " \(quoted(column.name))" }
                text += "\n"
            }
            text += "    }\n"
        }
        for table in facts.tables {
            for key in table.foreignKeys {
                // A row refers to one row, or to none if a column may be NULL.
                let isRequired = key.originColumns.allSatisfy { name in
                    table.columns.contains {
                        $0.name.isSameName(as: name) && ($0.isNotNull || $0.primaryKeyIndex > 0)
                    }
                }
                text +=
                    "    \(quoted(table.name)) }o--\(isRequired ? "||" : "o|") \(quoted(key.destinationTable)) : "
                text += "\(quoted(key.originColumns.joined(separator: ", ")))\n"
            }
        }
        return text
    }

    /// Returns a name in the form that Mermaid accepts for a column or a type.
    private static func word(_ name: String, _ other: String) -> String {
        let word = String(
            name.map { character in
                character.isASCII
                    && (character.isLetter || character.isNumber || "_-()[]".contains(character))
                    ? character : "_"
            })
        guard let first = word.first else { return other }
        return first.isLetter ? word : "c\(word)"
    }

    private static func quoted(_ name: String) -> String {
        let isPlain =
            !name.isEmpty && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        if isPlain, name.first?.isLetter == true { return name }
        // Mermaid has no way to write a quote.
        let scalars = TextWidth.visible(name).unicodeScalars.map { $0 == "\"" ? "'" : $0 }
        return "\"\(String(String.UnicodeScalarView(scalars)))\""
    }
}

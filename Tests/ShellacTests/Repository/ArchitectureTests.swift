import Foundation
import TestSupport
import Testing

/// The article on the architecture, and what it speaks of.
@Suite("Architecture")
struct ArchitectureTests {
    @Test("the layers of the article are those of .ci/layers, in their order")
    func layers() throws {
        let script = try text(".ci/layers")
        let list = try #require(script.firstMatch(of: /(?m)^layers=\(\s*([^)]*)\)/)).1
        let layers = list.split { " \n".contains($0) }.map(String.init)
        #expect(layers.count > 10)
        #expect(Self.layers(in: try article()) == layers)
    }

    @Test("the layers are the words in bold of a numbered list")
    func readingLayers() {
        let text =
            "Of **Layers**:\n\n1. **Support**: a lock.\n2. **Values**: **all** of them.\n- **Rows**: none.\n"
        #expect(Self.layers(in: text) == ["Support", "Values"])
    }

    @Test("the article has four walks, of at most fifteen functions each, and all that they name is declared")
    func walks() throws {
        let walks = Self.walks(in: try article())
        #expect(
            walks.map(\.heading) == [
                "A row to a property and a snapshot", "A save", "A rollback", "An event to an observer",
            ])
        let declared = try declarations()
        #expect(declared.isSuperset(of: ["Record", "updateChanges", "hasDatabaseChanges", "init"]))
        for walk in walks {
            #expect(walk.names.count { $0.contains("(") } <= 15, "\(walk.heading)")
            for name in walk.names {
                let unknown = Self.words(of: name).filter { !declared.contains($0) }
                #expect(unknown.isEmpty, "\"\(walk.heading)\" names \(name): nothing declares \(unknown)")
            }
        }
    }

    @Test("the names of a walk are the words in backticks, and the parts of one are declared each by itself")
    func readingWalks() throws {
        let text = """
            # Page

            `before`

            ## The walks

            A `first` paragraph.

            ### A save

            1. `Record.save(_:)` asks
               ``RecordPlan``.
            2. It is `packed`.

            ### A rollback

            Nothing.

            ## After

            `after`
            """
        let walks = Self.walks(in: text)
        #expect(walks.map(\.heading) == ["A save", "A rollback"])
        #expect(walks.map(\.names) == [["Record.save(_:)", "RecordPlan", "packed"], []])
        #expect(Self.words(of: "Record.save(_:)") == ["Record", "save"])
        #expect(Self.words(of: "LiveRow.Storage.init(row:)") == ["LiveRow", "Storage", "init"])
        let source = """
            public final class Record: P {
                static func `default`<T>(_ a: T) -> T { a }
                private(set) var name = 0, other = 1
                required init(row: Row) {}
                case none(Int)
                // func commented()
            }
            """
        #expect(Self.declarations(in: source) == ["Record", "default", "name", "init", "none"])
    }

    // MARK: - Reading

    private struct Walk {
        let heading: String
        let names: [String]
    }

    private static func layers(in article: String) -> [String] {
        article.matches(of: /(?m)^[0-9]+\. \*\*([A-Za-z]+)\*\*/).map { String($0.1) }
    }

    private static func walks(in article: String) -> [Walk] {
        guard let section = article.firstMatch(of: /(?s)\n## The walks\n(.*?)(?:\n## |$)/)?.1 else {
            return []
        }
        return "\n\(section)".split(separator: "\n### ", omittingEmptySubsequences: false).dropFirst().map {
            part in
            let lines = part.split(separator: "\n", maxSplits: 1)
            let names = lines.dropFirst().joined().matches(of: /`+([^`]+)`+/).map { String($0.1) }
            return Walk(heading: String(lines[0]), names: names)
        }
    }

    /// The names that stand in one: `Record.save(_:)` is of `Record` and `save`.
    private static func words(of name: String) -> [String] {
        name.prefix { $0 != "(" }.split(separator: ".").map(String.init)
    }

    /// What a source declares. (Of several properties in one line, it is the first one.)
    private static func declarations(in source: String) -> Set<String> {
        let code = source.replacing(/(?m)^\s*\/\/.*$/, with: "")
        let names = code.matches(
            of: /\b(?:class|struct|enum|protocol|typealias|func|var|let|case)\s+`?([A-Za-z_]\w*)/)
        let initializers = code.matches(of: /\b(init|deinit|subscript)\b\s*[?<({]/)
        return Set(names.map { String($0.1) } + initializers.map { String($0.1) })
    }

    private func declarations() throws -> Set<String> {
        let folder = Repository.root.appending(path: "Sources/Shellac")
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }
            .reduce(into: []) { $0.formUnion(Self.declarations(in: try text("Sources/Shellac/\($1)"))) }
    }

    private func article() throws -> String { try text("Sources/Shellac/Shellac.docc/Architecture.md") }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
    }
}

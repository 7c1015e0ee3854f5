import Foundation
import TestSupport
import Testing

/// The article on the architecture, and what it speaks of.
@Suite("Architecture")
struct ArchitectureTests {
    @Test("the storeys and layers of the article are those of .ci/layers, in their order")
    func layers() throws {
        let storeys = try Repository.storeys()
        #expect(storeys.count == 5 && storeys.allSatisfy { !$0.layers.isEmpty })
        #expect(Self.storeys(in: try article()) == storeys)
    }

    @Test("the layers are the words in bold of a numbered list, below the headings of their storeys")
    func readingLayers() {
        let text = """
            ## Layers

            Of **Layers**:

            ### Ground

            1. **Support**: a lock.
            2. **Values**: **all** of them.
            - **Rows**: none.

            ### Database

            3. **Schema**: tables.

            ## After

            ### Walks

            1. **None**: of these.
            """
        #expect(
            Self.storeys(in: text) == [
                .init("Ground", ["Support", "Values"]), .init("Database", ["Schema"]),
            ])
    }

    @Test("the table of slots has all slots, and no two of them share a number")
    func slots() throws {
        var declared: [Slot] = []
        for (layer, source) in try sources() {
            let found = source.matches(of: /static var (\w+): Self \{ Slot\((\d+)/)
            declared += found.map { Slot(name: String($0.1), number: Int($0.2) ?? -1, layer: layer) }
        }
        declared.sort { $0.number < $1.number }
        #expect(declared.map(\.number) == Array(0..<declared.count))
        #expect(declared.count == 10)
        let rows = try article().matches(of: /(?m)^\| `(\w+)` \| (\d+) \| (\w+) \| [^|]+ \|$/)
        let listed = rows.map {
            Slot(name: String($0.1), number: Int($0.2) ?? -1, layer: String($0.3))
        }
        #expect(listed == declared)
    }

    @Test(
        "the table of base classes has all that another layer subclasses, and a reason for each with one subclass"
    )
    func baseClasses() throws {
        var layers: [String: String] = [:]
        var subclasses: [String: Set<String>] = [:]
        for (layer, source) in try sources() {
            for declaration in Self.classes(in: source) {
                layers[declaration.name] = layer
                if let base = declaration.base { subclasses[base, default: []].insert(declaration.name) }
            }
        }
        let crossing = subclasses.filter { base, names in
            layers[base] != nil && names.contains { layers[$0] != layers[base] }
        }
        #expect(crossing["RequestSupplement"] == ["AdaptedRows", "IncludedRelations", "FetchedScopes"])
        var listed: Set<String> = []
        for row in try article().matches(of: /(?m)^\| `(\w+)` \| (\w+) \| (`[^|]+`) \| ([^|]*)\|$/) {
            let base = String(row.1)
            listed.insert(base)
            let names = Set(row.3.matches(of: /`(\w+)`/).map { String($0.1) })
            #expect(layers[base] == String(row.2), "\(base)")
            #expect(names == subclasses[base], "\(base)")
            #expect((names.count == 1) == (row.4.count > 20), "\(base): a reason is for one subclass alone")
        }
        #expect(listed == Set(crossing.keys))
    }

    @Test(
        "the table of late conformances has all protocols that a layer casts to and an upper one conforms to")
    func lateConformances() throws {
        let sources = try sources()
        var layers: [String: String] = [:]
        var casts: Set<String> = []
        for (layer, source) in sources {
            for type in source.matches(
                of: /(?m)^(?:(?:@\w+|public|open|final|nonisolated) )*(?:class|struct|protocol) (\w+)/)
            {
                layers[String(type.1)] = layer
            }
        }
        for (layer, source) in sources {
            let names = source.matches(of: /as\? any (\w+)/).map { String($0.1) }
            casts.formUnion(names.filter { layers[$0] == layer })
        }
        var found: [String: Set<String>] = [:]
        for (layer, source) in sources {
            for match in source.matches(of: /(?m)^extension (\w+): (\w+) \{/) {
                let (type, name) = (String(match.1), String(match.2))
                guard casts.contains(name), layers[name] != layer, layers[type] != layer else { continue }
                found[name, default: []].insert("`\(type)` in \(layer)")
            }
        }
        #expect(found["ConstraintExplaining"] == ["`Database` in Constraints"])
        var listed: [String: Set<String>] = [:]
        for row in try article().matches(of: /(?m)^\| `(\w+)` \| (\w+) \| ([^|]+ in [^|]+) \|$/) {
            #expect(layers[String(row.1)] == String(row.2), "\(row.1)")
            listed[String(row.1)] = Set(row.3.split(separator: ", ").map(String.init))
        }
        #expect(listed == found)
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

    private struct Slot: Equatable {
        let name: String
        let number: Int
        let layer: String
    }

    /// The classes that a source declares outside of other declarations, and what they inherit from
    /// or conform to first.
    private static func classes(in source: String) -> [(name: String, base: String?)] {
        source.matches(
            of:
                /(?m)^(?:(?:@[\w(),]+|public|open|final|private|nonisolated) )*class (\w+)(?:<[^>]*>)?(?:\s*:\s*(\w+))?/
        )
        .map { (String($0.1), $0.2.map(String.init)) }
    }

    /// The sources, with their layers, and without their comments.
    private func sources() throws -> [(layer: String, source: String)] {
        try Repository.storeys().flatMap { storey in
            try storey.layers.flatMap { layer in
                let folder = "Sources/Shellac/\(storey.name)/\(layer)"
                return try FileManager.default.subpathsOfDirectory(
                    atPath: Repository.root.appending(path: folder).path
                )
                .filter { $0.hasSuffix(".swift") }
                .map { (layer, try text("\(folder)/\($0)").replacing(/(?m)^\s*\/\/.*$/, with: "")) }
            }
        }
    }

    private struct Walk {
        let heading: String
        let names: [String]
    }

    private static func storeys(in article: String) -> [Repository.Storey] {
        guard let section = article.firstMatch(of: /(?s)(?:^|\n)## Layers\n(.*?)(?:\n## |$)/)?.1 else {
            return []
        }
        return section.split(separator: "\n### ", omittingEmptySubsequences: false).dropFirst().map { part in
            let name = part.prefix { $0 != "\n" }
            let layers = part.matches(of: /(?m)^[0-9]+\. \*\*([A-Za-z]+)\*\*/).map { String($0.1) }
            return Repository.Storey(String(name), layers)
        }
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

    /// Returns the names within one: `Record.save(_:)` is of `Record` and `save`.
    private static func words(of name: String) -> [String] {
        name.prefix { $0 != "(" }.split(separator: ".").map(String.init)
    }

    /// Returns the names that a source declares. (Of several properties in one line, it is the
    /// first one.)
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

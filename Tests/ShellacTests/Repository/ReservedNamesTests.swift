import Foundation
import TestSupport
import Testing

/// `.ci/reserved`, which lists the names that a subclass of `Record` inherits, and the rule for new
/// ones.
@Suite struct ReservedNamesTests {
    @Test(
        "the article lists the names that record classes inherit, and no new one breaks the rule",
        .behaviour(123))
    func upToDate() async throws {
        let checked = try await Command.run([".ci/reserved", "--check"], in: Repository.root)
        #expect(checked.succeeded && checked.output.isEmpty, "\(checked.output)")
        let groups = try Self.groups()
        #expect(groups["Properties of a record"]?.contains("hasDatabaseChanges") == true)
        #expect(groups["Methods of a record, to override"]?.contains("validate") == true)
        #expect(groups["Functions of the class"]?.contains("filter") == true)
    }

    @Test("a property of a subclass cannot have the names that the article says, and can have the others")
    func properties() async throws {
        let groups = try Self.groups()
        let refused = try #require(groups["Properties of a record"])
        let methods = try #require(groups["Methods of a record, to override"])
        let others = try #require(groups["Other methods of a record"])
        let hiding = try #require(groups["Properties of a record, from its protocols"])
        let wrong = try await SwiftScript.compile(source: Self.program(refused))
        #expect(!wrong.succeeded)
        for name in refused {
            let errors = wrong.output.split(separator: "\n").filter { $0.contains(": error: ") }
            #expect(errors.contains { $0.contains("'\(name)'") }, "\(name): \(wrong.output)")
        }
        let free = Set(methods).union(others).union(hiding).subtracting(refused)
        #expect(free.count > 40)
        let right = try await SwiftScript.compile(source: Self.program(free.sorted()))
        #expect(right.succeeded, "\(right.output)")
    }

    @Test("the names of all public members are found, and of no others")
    func found() async throws {
        let script = try Script(members: "", allowed: "color turn")
        try script.writeMembers(
            """
            /// Not `public var commented`.
            public final var color: String { "public var quoted { }" }
            var internalName = 1
            public final func turn(by angle: Int) {
                public var inner = 1
            }
            public final func _hidden() {}
            open func databaseTurn() {}
            public final func save<T>(
                _ value: T, then: (Database) -> Void,
                in writer: some DatabaseWriter
            ) {}
            """)
        let written = try await script.run()
        #expect(written.succeeded && written.output == "reserved: wrote PublicAPI.md\n", "\(written.output)")
        let groups = try Self.groups(in: script.article())
        #expect(
            groups == [
                "Properties of a record": ["color"],
                "Methods of a record, to override": ["databaseTurn"],
                "Other methods of a record": ["save", "turn"],
                "Functions of the class": ["filter"],
            ])
        #expect(try await script.run("--check").succeeded)
    }

    @Test(
        "a new name that may collide with one of a subclass is refused",
        arguments: [
            "public final var color: Int { 1 }", "public static var color: Int { 1 }",
            "public final func color() {}", "public static func color(_ value: Int) {}",
            "public final func color(then: (Database) -> Void) {}",
        ])
    func broken(member: String) async throws {
        let script = try Script(members: member)
        let refused = try await script.run()
        #expect(refused.status == 1)
        #expect(
            refused.output.contains(
                "reserved: color of Record may collide with a name of a subclass: begin it with `database`"),
            "\(refused.output)")
    }

    @Test(
        "a name that keeps the rule is accepted",
        arguments: [
            "public final var databaseColor: Int { 1 }", "public final func color(_ db: Database) {}",
            "public final func color(in writer: some DatabaseWriter) {}", "final var color = 1",
            "public final func databaseColor() {}", "public final var _color: Int { 1 }",
        ])
    func kept(member: String) async throws {
        let script = try Script(members: member)
        let accepted = try await script.run()
        #expect(accepted.succeeded, "\(accepted.output)")
    }

    @Test("an exception that no name needs fails, and so does a list that is out of date")
    func outOfDate() async throws {
        let script = try Script(members: "public final var color: Int { 1 }", allowed: "color shade")
        let checked = try await script.run("--check")
        #expect(checked.status == 1)
        #expect(
            checked.output.split(separator: "\n").map(String.init) == [
                "reserved: shade needs no exception: take it out of reserved.allowed",
                "reserved: the list of PublicAPI.md is out of date: .ci/reserved writes it",
            ])
    }

    // MARK: - Reading

    /// Returns the names of each group of the article.
    private static func groups(in article: String? = nil) throws -> [String: [String]] {
        let file = Repository.root.appending(path: "Sources/Shellac/Shellac.docc/PublicAPI.md")
        let text = try article ?? String(contentsOf: file, encoding: .utf8)
        let groups = text.matches(of: /\*\*([^*]+)\.\*\*[^`*]*(?:`[^`]+`[^`*]*)*\n\n```text\n([^`]*)\n```/)
        return Dictionary(
            uniqueKeysWithValues: groups.map { group in
                (String(group.1), group.2.split(whereSeparator: \.isWhitespace).map(String.init))
            })
    }

    /// Returns a program with a subclass that has properties of these names.
    private static func program(_ names: [String]) -> String {
        let properties = names.map { "    final var `\($0)` = Character(\"a\")\n" }.joined()
        return "import Shellac\n\nclass Player: Record {\n\(properties)}\n"
    }

    /// A copy of the script beside a few sources.
    private struct Script {
        let folder: TemporaryFolder

        init(members: String, allowed: String = "") throws {
            folder = try TemporaryFolder()
            for name in [".ci", "Sources/Shellac/Shellac.docc"] {
                try FileManager.default.createDirectory(
                    at: folder.url.appending(path: name), withIntermediateDirectories: true)
            }
            try FileManager.default.copyItem(
                at: Repository.root.appending(path: ".ci/reserved"),
                to: folder.url.appending(path: ".ci/reserved"))
            _ = try folder.write("\(allowed)\n".utf8, to: ".ci/reserved.allowed")
            _ = try folder.write(
                """
                # Public API

                <!-- reserved: .ci/reserved writes this list -->
                <!-- reserved: end -->

                """.utf8, to: "Sources/Shellac/Shellac.docc/PublicAPI.md")
            _ = try folder.write(
                """
                public protocol PersistableRecord: TableRecord {}
                public protocol TableRecord {}
                extension TableRecord {
                    public static func filter(_ condition: Bool) {}
                }
                public protocol Other {
                    var other: Int { get }
                }
                nonisolated open class Record: PersistableRecord {}

                """.utf8, to: "Sources/Shellac/Record.swift")
            try writeMembers(members)
        }

        func writeMembers(_ members: String) throws {
            _ = try folder.write(
                "extension Record {\n\(members)\n}\n".utf8, to: "Sources/Shellac/Members.swift")
        }

        func run(_ words: String...) async throws -> Command {
            try await Command.run(["python3", folder.path(".ci/reserved")] + words)
        }

        func article() throws -> String {
            try String(
                contentsOfFile: folder.path("Sources/Shellac/Shellac.docc/PublicAPI.md"), encoding: .utf8)
        }
    }
}

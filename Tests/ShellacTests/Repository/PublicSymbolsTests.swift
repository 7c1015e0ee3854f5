import Foundation
import TestSupport
import Testing

/// The documented symbols have comments. Symbols that users never call are marked as hidden, and
/// not shown.
@Suite struct PublicSymbolsTests {
    @Test("every public symbol has a comment, or is hidden from the documentation")
    func comments() async throws {
        let library = try await PublicSymbols.ofLibrary()
        #expect(library.symbols.count > 1000)
        let silent = library.symbols.filter(\.lacksComment)
        #expect(silent.isEmpty, "\(silent.listed)")
        let marks = try Self.hiddenMarks()
        #expect(marks > 0)
        print(
            "documentation: \(library.symbols.count) public symbols have comments, and \(marks) marks hide others"
        )
    }

    @Test("every public function that throws says what, or hands on what its closure throws")
    func errors() async throws {
        let throwing = try await PublicSymbols.ofLibrary().symbols
            .filter { $0.isThrowing && !$0.isSpelling }
        #expect(throwing.count > 100)
        let silent = throwing.filter(\.lacksErrors)
        #expect(silent.isEmpty, "\(silent.listed)")
        print(
            "documentation: \(throwing.count - silent.count) of \(throwing.count) public functions that throw say what"
        )
    }

    @Test("every public function says its parameters, where there is more than the database")
    func parameters() async throws {
        let functions = try await PublicSymbols.ofLibrary().symbols
            .filter { $0.hasParametersToSay && !$0.isSpelling }
        #expect(functions.count > 100)
        let silent = functions.filter(\.lacksParameters)
        #expect(silent.isEmpty, "\(silent.count):\n\(silent.listed)")
        print(
            "documentation: \(functions.count - silent.count) of \(functions.count) public functions say their parameters"
        )
    }

    @Test("the comment of a spelling leads to a symbol that is written by hand, and says the rest")
    func spellings() async throws {
        let symbols = try await PublicSymbols.ofLibrary().symbols
        let names = Set(symbols.filter { !$0.isSpelling }.map(\.name))
        let spellings = symbols.filter(\.isSpelling)
        #expect(spellings.count > 50)
        let lost = spellings.filter { spelling in
            !(PublicSymbol.verb(in: spelling.comment).map(names.contains) ?? false)
        }
        #expect(lost.isEmpty, "\(lost.listed)")
        print("documentation: \(spellings.count) public functions are spellings, which lead to others")
    }

    @Test("the verb of a spelling is the symbol of its first sentence, without what distinguishes it")
    func verbs() {
        for (comment, verb) in [
            ("See ``Team/none()``.", "Team.none()"),
            ("See ``filter(_:by:)``.\n\nIt is ``short``.", "filter(_:by:)"),
            ("See ``Team/filter(key:)-(Int)``.", "Team.filter(key:)"),
            ("See ``Team/filter(key:)-4oswn``.", "Team.filter(key:)"),
            ("See ``Shellac/filter(_:by:)``.", "filter(_:by:)"),
        ] {
            #expect(PublicSymbol.verb(in: comment) == verb)
        }
        for comment in ["Returns none.", "Returns none: see ``Team/none()``.", "See ``Team``.", ""] {
            #expect(PublicSymbol.verb(in: comment) == nil)
        }
    }

    @Test("LiveRow and other plumbing is hidden")
    func plumbing() async throws {
        let names = try await Set(PublicSymbols.ofLibrary().symbols.map(\.name))
        #expect(names.contains("Record.insert(_:)") && names.contains("DatabaseReader.read(file:line:_:)"))
        for hidden in [
            "LiveRow", "DatabaseFetchable.currentElement(of:)", "Record.currentElement(of:)", "Row.kept(_:)",
            "PersistenceOperation", "Record.persist(_:in:)", "RelationDefinition", "HasMany.definition",
            "DatabaseDecodingContext", "DatabaseReader.read(at:_:)", "DatabasePool.write(at:priority:_:)",
            "CallSite.init(_:_:_:)", "SQLOrderingBuilder.buildBlock(_:)", "Date.fromSQLiteValue(_:)",
        ] {
            #expect(!names.contains(hidden), "\(hidden)")
        }
    }

    @Test("symbols without a comment are found, where they stand, and hidden ones are not")
    func findings() async throws {
        let folder = try TemporaryFolder()
        let source = try folder.write(
            """
            /// A game.
            public protocol Game {
                /// Plays it.
                ///
                /// - Throws: what the rules say.
                func play() throws
                /// Ends it.
                func end() throws
            }

            /// A game with cards.
            public struct Cards: Game, Equatable, Codable {
                public var count: Int
                /// Shuffles.
                public func shuffle(by order: (Int) throws -> Int) rethrows {}
                /// Deals.
                public func deal(by order: (Int) throws -> Int) throws {}
                public func play() throws {}
                public func end() throws {}
                func cheat() {}
            }

            @_documentation(visibility: internal)
            extension Cards {
                public func sort() throws {}
            }

            extension Game {
                @_documentation(visibility: internal)
                @inlinable public func hide() throws {}
                public func show() throws {}
                public func _prepare() {}
            }

            extension Cards {
                /// Turns some.
                ///
                /// - Parameter count: How many.
                public func turn(_ count: Int, of suit: Suit) {}
                /// Counts some.
                ///
                /// - Parameters:
                ///   - suit: Theirs.
                ///   - most: How many at most.
                public func count(in db: Int, of suit: Suit, atMost most: Int) {}
                /// Gives one away.
                public func give(_ db: Int) {}
                /// The one at a place.
                public subscript(place: Int) -> Int { place }
                /// Compares them.
                public static func < (a: Cards, b: Cards) -> Bool { false }
            }

            extension Cards: Hashable {
                public func hash(into hasher: inout Hasher) {}
            }

            public enum Suit: String {
                case hearts
                /// Those of the dealer.
                case spades
            }
            """.utf8, to: "Games.swift")
        let build = try await Command.run(
            ["swiftc", "-emit-module", "-parse-as-library", "-module-name", "Games", source], in: folder.url)
        try #require(build.succeeded, "\(build.output)")
        let symbols = try await PublicSymbols(of: "Games", in: [folder.url]).symbols
        #expect(
            Set(symbols.filter(\.lacksComment).map { "\($0.file):\($0.line) \($0.name)" }) == [
                "\(source):13 Cards.count", "\(source):31 Game.show()", "\(source):58 Suit",
                "\(source):59 Suit.hearts",
            ])
        #expect(
            Set(symbols.filter { $0.isThrowing && $0.lacksErrors }.map(\.name)) == [
                "Game.end()", "Cards.end()", "Cards.deal(by:)", "Game.show()",
            ])
        #expect(
            Set(symbols.filter { $0.hasParametersToSay && $0.lacksParameters }.map(\.name)) == [
                "Cards.shuffle(by:)", "Cards.deal(by:)", "Cards.turn(_:of:)", "Cards.subscript(_:)",
            ])
    }

    /// Returns how many declarations, and extensions, are marked as hidden in the sources.
    private static func hiddenMarks() throws -> Int {
        let sources = Repository.root.appending(path: "Sources/Shellac")
        return try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter {
            $0.hasSuffix(".swift")
        }
        .map { file in
            try String(contentsOf: sources.appending(path: file), encoding: .utf8)
                .split(separator: "\n").count { $0.contains("@_documentation(visibility: internal)") }
        }
        .reduce(0, +)
    }
}

extension PublicSymbol {
    /// Whether `.ci/spellings` has written it.
    fileprivate var isSpelling: Bool { file.contains("/Sources/Shellac/Spellings/") }

    /// Returns the name of the symbol that the comment of a spelling leads to.
    fileprivate static func verb(in comment: String) -> String? {
        comment.firstMatch(of: /^See ``(?:Shellac\/)?([^`)]+\))(?:-[^`]+)?``\./).map {
            String($0.1).replacing("/", with: ".")
        }
    }

    /// Whether there is no comment: neither one of its own, nor that of a requirement.
    fileprivate var lacksComment: Bool { comment.allSatisfy(\.isWhitespace) }

    /// Whether it is a function of ours that takes more than the database, and no operator.
    fileprivate var hasParametersToSay: Bool {
        !isOperator && !hasForeignComment && parameters.contains { $0 != "db" }
    }

    /// Whether the comment does not list all that the function takes, but for the database.
    fileprivate var lacksParameters: Bool {
        parameters.contains { name in
            name != "db" && !comment.contains("- Parameter \(name):") && !comment.contains("  - \(name):")
        }
    }

    /// Whether the comment does not say what is thrown, in a line of its own or in a sentence.
    fileprivate var lacksErrors: Bool { !comment.contains(/(?i)\bthrow/) }
}

extension [PublicSymbol] {
    /// The symbols, one below the other.
    fileprivate var listed: String {
        map { "\($0.file):\($0.line): \($0.name)" }.sorted().joined(separator: "\n")
    }
}

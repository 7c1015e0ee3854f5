public import Foundation

/// The public symbols of a module, as the compiler lists them for documentation. Symbols that are
/// marked as hidden, or have a name that begins with an underscore, are left out.
public struct PublicSymbols: Sendable {
    /// The files of the symbol graph, by their names: what DocC reads.
    public let files: [String: Data]

    /// The symbols, without what the compiler derives from them for other types.
    public let symbols: [PublicSymbol]

    /// Returns the symbols of the library, which are extracted once for all tests.
    public static func ofLibrary() async throws -> PublicSymbols { try await library.value }

    private static let library = Task {
        try await PublicSymbols(
            of: "Shellac", in: [Repository.modules(), Repository.root.appending(path: "Sources/CSQLite")])
    }

    /// Extracts the symbols of a module that was built.
    ///
    /// - Parameters:
    ///   - module: Its name.
    ///   - folders: The folders of the module, and of the modules that it imports.
    public init(of module: String, in folders: [URL]) async throws {
        let folder = try TemporaryFolder()
        let target = try await Command.run(["swiftc", "-print-target-info"])
        guard let triple = target.output.firstMatch(of: /"triple": "([^"]+)"/)?.1 else {
            throw SymbolGraphError(output: target.output)
        }
        let extraction = try await Command.run(
            [
                "swift", "symbolgraph-extract", "-module-name", module, "-target", String(triple),
                "-minimum-access-level", "public", "-output-dir", folder.path,
            ] + folders.flatMap { ["-I", $0.path(percentEncoded: false)] })
        guard extraction.succeeded else { throw SymbolGraphError(output: extraction.output) }
        var (files, symbols) = ([String: Data](), [PublicSymbol]())
        for name in try folder.fileNames() {
            let data = try Data(contentsOf: folder.url.appending(path: name))
            files[name] = data
            symbols += try JSONDecoder().decode(SymbolGraph.self, from: data).symbols.compactMap {
                PublicSymbol($0, of: module)
            }
        }
        (self.files, self.symbols) = (files, symbols)
    }
}

/// One of the symbols of a module.
public struct PublicSymbol: Sendable {
    /// Its name, behind those of the types that contain it.
    public let name: String
    /// The path of the file that declares it.
    public let file: String
    /// The line in it.
    public let line: Int
    /// Its comment, or the one that it has from the requirement which it satisfies. Empty if there
    /// is none.
    public let comment: String
    /// Its declaration.
    public let declaration: String
    /// The names that its parameters have inside of it.
    public let parameters: [String]
    /// Whether it is an operator.
    public let isOperator: Bool
    /// Whether its comment is that of another module, whose requirement it satisfies.
    public let hasForeignComment: Bool

    /// Whether it throws, and does not only hand on what its arguments throw.
    public var isThrowing: Bool {
        // Behind the parameters, and not in one of them.
        var depth = 0
        let outside = declaration.filter { character in
            if "([".contains(character) { depth += 1 }
            if ")]".contains(character) { depth -= 1 }
            return depth == 0
        }
        return outside.contains(/\bthrows\b/)
    }

    fileprivate init?(_ symbol: SymbolGraph.Symbol, of module: String) {
        // Leaves out the members that a protocol's extension adds to each conforming type, those of
        // other modules, and those that the compiler makes.
        guard !symbol.identifier.precise.contains("::SYNTHESIZED::"), let location = symbol.location else {
            return nil
        }
        name = symbol.pathComponents.joined(separator: ".")
        file = URL(string: location.uri)?.path(percentEncoded: false) ?? location.uri
        line = location.position.line + 1
        comment = symbol.docComment?.lines.map(\.text).joined(separator: "\n") ?? ""
        declaration = symbol.declarationFragments?.map(\.spelling).joined() ?? ""
        parameters = symbol.functionSignature?.parameters?.map { $0.internalName ?? $0.name } ?? []
        isOperator = symbol.kind.identifier == "swift.func.op"
        hasForeignComment = symbol.docComment.map { $0.module != module } ?? false
    }
}

/// The part of a symbol graph that is read.
private struct SymbolGraph: Decodable {
    struct Symbol: Decodable {
        struct Identifier: Decodable { let precise: String }
        struct Location: Decodable {
            struct Position: Decodable { let line: Int }
            let uri: String
            let position: Position
        }
        struct Comment: Decodable {
            struct Line: Decodable { let text: String }
            let module: String?
            let lines: [Line]
        }
        struct Fragment: Decodable { let spelling: String }
        struct Kind: Decodable { let identifier: String }
        struct Signature: Decodable {
            struct Parameter: Decodable {
                let name: String
                let internalName: String?
            }
            let parameters: [Parameter]?
        }

        let kind: Kind
        let identifier: Identifier
        let pathComponents: [String]
        let location: Location?
        let docComment: Comment?
        let declarationFragments: [Fragment]?
        let functionSignature: Signature?
    }

    let symbols: [Symbol]
}

/// A symbol graph that could not be made.
private struct SymbolGraphError: Error { let output: String }

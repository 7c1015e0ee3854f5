public import Foundation

/// This repository, as it was when the tests were built.
public enum Repository {
    /// The folder of Package.swift.
    public static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The folder of the built modules, which is beside the running tests.
    public static func modules() throws -> URL {
        guard let executable = Bundle.main.executableURL else { throw CocoaError(.fileNoSuchFile) }
        return executable.deletingLastPathComponent().appending(path: "Modules")
    }

    /// A storey of the library, and its layers, from the lowest one on.
    public struct Storey: Equatable, Sendable {
        public let name: String
        public let layers: [String]

        public init(_ name: String, _ layers: [String]) { (self.name, self.layers) = (name, layers) }
    }

    /// The storeys that `.ci/layers` lists, from the lowest one on.
    public static func storeys() throws -> [Storey] {
        let script = try String(contentsOf: root.appending(path: ".ci/layers"), encoding: .utf8)
        let list = script.firstMatch(of: /(?m)^storeys=\(\n([^)]*)\)/)?.1 ?? ""
        return list.matches(of: /'([^']*)'/).compactMap { match in
            let words = match.1.split(separator: " ").map(String.init)
            return words.first.map { Storey($0, Array(words.dropFirst())) }
        }
    }
}

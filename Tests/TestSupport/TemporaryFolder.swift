public import Foundation

/// A folder of its own for a test. It is removed, with all that it contains, when it is released.
public final class TemporaryFolder: Sendable {
    public let url: URL

    public init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "shellac-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The path of the folder.
    public var path: String { url.path(percentEncoded: false) }

    /// The path of a file in the folder, whether it exists or not.
    public func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file into the folder, and returns its path.
    public func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
        let path = path(name)
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    /// The names of the files in the folder, in order.
    public func fileNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// The paths of the files in the folder that this process has open.
    public func openFiles() throws -> [String] {
        let descriptors = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: descriptors).compactMap { descriptor in
            // A descriptor may be closed by another thread meanwhile.
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\(descriptor)")
        }.filter { $0.hasPrefix("\(path)/") }.sorted()
    }
}

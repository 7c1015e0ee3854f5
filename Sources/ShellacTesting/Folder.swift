// A temporary folder that is removed with its object.

import Foundation

/// A folder for the files of one test. It is removed when the object is freed.
final class Folder {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "shellac-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Returns the path of a file in the folder.
    func path(_ name: String) -> String { url.appending(path: name).path }

    /// Removes a database file, and the files beside it.
    func remove(_ name: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path(name) + suffix)
        }
    }
}

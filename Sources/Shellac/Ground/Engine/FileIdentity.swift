// Identifies a file by device and inode number, and reads file sizes.

import CSQLite

/// The identity of a file, which distinguishes it from another file at the same path.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let file: UInt64

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, file) = (
            UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)
        )
    }

    /// Returns the size of a file, or nil if there is no file.
    static func size(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }
}

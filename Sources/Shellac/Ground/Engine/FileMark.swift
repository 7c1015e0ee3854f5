// Detects on Linux that a file was moved, deleted or replaced, by link count and change time.

import CSQLite

/// The last noted link count and change time of a file.
///
/// Moving, deleting or replacing a file changes its file entry. Checking an open file costs a third
/// of checking its path.
///
/// The descriptor can neither read nor write. Closing any other descriptor would release the locks
/// that the process holds on the file. See "How To Corrupt An SQLite Database File", section 2.2.
/// Such descriptors only exist on Linux.
struct FileMark: ~Copyable {
    private let descriptor: Int32
    private var entry = shellac_file_entry()
    /// Whether every later change will give the entry another time.
    private var isSettled = false

    init?(_ path: String) {
        descriptor = shellac_open_name(path)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Whether the entry is the same as when it was last noted. False if that cannot be determined.
    func isUnchanged() -> Bool {
        var now = shellac_file_entry()
        return isSettled && shellac_read_file_entry(descriptor, &now) != 0 && now.names == entry.names
            && now.seconds == entry.seconds && now.nanoseconds == entry.nanoseconds
    }

    /// Notes the current entry.
    mutating func note() {
        isSettled = false
        guard shellac_read_file_entry(descriptor, &entry) != 0 else { return }
        // The clock for change times only advances every few milliseconds. So a change right now
        // may get the same time as the previous one.
        var now = timespec()
        shellac_file_time(&now)
        isSettled = (entry.seconds, entry.nanoseconds) < (Int64(now.tv_sec), Int64(now.tv_nsec))
    }
}

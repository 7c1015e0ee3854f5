// Detects on Linux that a file was moved, deleted or replaced, by link count and change time.

import CSQLite

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The link count and the change time of a file, as they were last noted.
///
/// Moving, deleting or replacing a file changes its entry. Asking an open file costs a third of what asking for its name costs. The
/// descriptor neither reads nor writes: closing another kind would end the locks that the process has on the file. See "How To Corrupt An
/// SQLite Database File", section 2.2. There is no such descriptor outside of Linux.
struct FileMark: ~Copyable {
    private let descriptor: Int32
    private var entry = shellac_file_entry()
    /// Whether each later change gives the entry another time.
    private var isSettled = false

    init?(_ path: String) {
        descriptor = shellac_open_name(path)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Whether the entry is as it was noted last. It is not where nobody can tell.
    func isUnchanged() -> Bool {
        var now = shellac_file_entry()
        return isSettled && shellac_read_file_entry(descriptor, &now) != 0 && now.names == entry.names
            && now.seconds == entry.seconds && now.nanoseconds == entry.nanoseconds
    }

    /// Notes the entry as it is.
    mutating func note() {
        isSettled = false
        guard shellac_read_file_entry(descriptor, &entry) != 0 else { return }
        // The clock that entries have their times from moves every few milliseconds: a change now may have the time of the one before.
        var now = timespec()
        shellac_file_time(&now)
        isSettled = (entry.seconds, entry.nanoseconds) < (Int64(now.tv_sec), Int64(now.tv_nsec))
    }
}

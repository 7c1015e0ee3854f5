// A temporary private copy of a database and its log, deleted after use or on a signal.

import CSQLite

/// A copy of a database and its log, in a private folder. It is deleted with its owner, even if the
/// program is interrupted.
final class PrivateCopy {
    let path: String
    private let folder: String

    static let endings = ["", "-wal", "-journal", "-shm"]

    init(of original: String, _ state: FileState) throws {
        folder = try Self.makeFolder()
        path = folder + "/copy.sqlite"
        Interruption.remove(files: Self.endings.map { path + $0 }, folder: folder)
        do {
            for ending in ["", "-wal", "-journal"] { try Self.copy(original + ending, to: path + ending) }
            guard FileState(original).hasSameFileAndLog(as: state) else {
                throw Failure(.busy, "\(original) was written to while it was copied: try again")
            }
        } catch {
            remove()
            throw error
        }
    }

    deinit { remove() }

    private func remove() {
        for ending in Self.endings { unlink(path + ending) }
        rmdir(folder)
        Interruption.forget(files: Self.endings.map { path + $0 }, folder: folder)
    }

    private static func makeFolder() throws -> String {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(parent)/shellac-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else {
            throw Failure(
                .unreadable,
                "the database must be copied, but no folder can be made in \(parent): "
                    + "\(String(cString: shellac_error_text()))"
            )
        }
        return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func copy(_ from: String, to: String) throws {
        let source = shellac_open(from, O_RDONLY | O_CLOEXEC, 0)
        guard source >= 0 else {
            if shellac_errno() == ENOENT { return }
            throw Failure(.unreadable, "\(from) cannot be read: \(String(cString: shellac_error_text()))")
        }
        defer { close(source) }
        let target = shellac_open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        defer { if target >= 0 { close(target) } }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(source, &buffer, buffer.count)
            if count == 0 { return }
            if count < 0 {
                if shellac_errno() == EINTR { continue }
                throw Failure(.unreadable, "\(from) cannot be read: \(String(cString: shellac_error_text()))")
            }
            guard write(target, buffer, count) == count else {
                throw Failure(
                    .unreadable, "\(from) cannot be copied to \(to): \(String(cString: shellac_error_text()))"
                )
            }
        }
    }
}

/// The cleanup when the program is interrupted. Its files are removed, and the terminal is as it
/// was before.
enum Interruption {
    // Written while the signals are blocked, and read by their handler.
    nonisolated(unsafe) private static var names: [UnsafeMutablePointer<CChar>] = []
    nonisolated(unsafe) private static var restoreTerminal: (@convention(c) () -> Void)?

    static func remove(files: [String], folder: String) {
        install { names += files.compactMap { strdup($0) } + [strdup(folder)].compactMap { $0 } }
    }

    /// Forgets files that have been removed.
    static func forget(files: [String], folder: String) {
        let gone = Set(files + [folder])
        install {
            names.removeAll { name in
                guard gone.contains(String(cString: name)) else { return false }
                free(name)
                return true
            }
        }
    }

    /// Calls a function before the program ends. It must be safe in a signal handler.
    static func restoreTerminal(by restore: @escaping @convention(c) () -> Void) {
        install { restoreTerminal = restore }
    }

    private static func install(_ change: () -> Void) {
        var (signals, before) = (sigset_t(), sigset_t())
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        change()
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                Interruption.restoreTerminal?()
                for name in Interruption.names where unlink(name) != 0 { rmdir(name) }
                _exit(128 + number)
            }
        }
    }
}

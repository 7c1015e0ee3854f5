import Foundation
import Shellac

/// The place of a database, and how it is opened.
struct Place {
    let path: String
    let mode: Mode

    enum Mode: String {
        case log, persist, journal, unconfirmed
    }

    init?(_ path: String, mode: String) {
        guard let mode = Mode(rawValue: mode) else { return nil }
        (self.path, self.mode) = (path, mode)
    }

    private var isInCluster: Bool { path.contains(":") }

    /// The database of another name beside it.
    func beside(_ suffix: String) -> Place { Place(path: path + suffix, mode: mode) }
    private init(path: String, mode: Mode) { (self.path, self.mode) = (path, mode) }

    func loadExtension() throws { if isInCluster { try Database.loadExtension("libcephsqlite.so") } }

    var journalMode: String { [.persist, .journal].contains(mode) ? "persist" : "wal" }

    func open() throws -> DatabaseQueue { try DatabaseQueue(path: path, configuration: configuration) }

    var configuration: Configuration {
        var configuration = Configuration.ceph()
        if !isInCluster {
            configuration.vfs = nil
            configuration.busyMode = .timeout(60)
        }
        if mode == .unconfirmed { configuration.verifiesCommits = false }
        if [.persist, .journal].contains(mode) { configuration.journalMode = .persist }
        if mode == .journal { configuration.lockingMode = .normal }
        return configuration
    }
}

/// Something that was expected, and is not so.
struct Failure: Error, CustomStringConvertible {
    let description: String
}

func expect(_ isSo: Bool, _ what: @autoclosure () -> String) throws {
    if !isSo { throw Failure(description: what()) }
}

/// Writes a line at once: a process that is killed next has written it.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

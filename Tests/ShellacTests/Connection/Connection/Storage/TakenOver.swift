import ShellacTesting
import TestSupport

@testable import Shellac

/// A file with players, over storage that can be taken over.
final class TakenOver: Sendable {
    let file: TemporaryDatabase
    let storage: FaultyStorage
    let queue: DatabaseQueue

    enum Mode: String, CaseIterable, Codable {
        case logAlone, log, delete, truncate, persist, persistAlone

        var isAlone: Bool { self == .logAlone || self == .persistAlone }
        var journalMode: JournalMode {
            switch self {
            case .logAlone, .log: .wal
            case .delete: .delete
            case .truncate: .truncate
            case .persist, .persistAlone: .persist
            }
        }
    }

    init(_ mode: Mode = .logAlone, configure: (inout Configuration) -> Void = { _ in }) throws {
        file = try TemporaryDatabase(journalMode: mode.journalMode)
        storage = FaultyStorage(sharesMemory: !mode.isAlone)
        let vfs = storage.name
        queue = try file.queue {
            $0.vfs = vfs
            $0.journalMode = mode.journalMode
            $0.lockingMode = mode.isAlone ? .exclusive : .normal
            $0.temporaryStorage = .memory
            $0.verifiesCommits = true
            configure(&$0)
        }
        try queue.write { db in try db.insert("Arthur") }
    }

    /// Returns the names in the file, read without the storage that is taken over.
    func namesOnDisk() throws -> [String] { try file.queue().names() }
}

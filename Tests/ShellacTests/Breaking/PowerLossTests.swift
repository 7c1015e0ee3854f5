import Foundation
import ShellacTesting
import TestSupport
import Testing

@testable import Shellac

/// After a power loss, a database contains each acknowledged transaction, and no partial one.
///
/// The storage records all writes. From them, the test builds the files that the machine may find.
/// These have all synced bytes, and any part of the others, in pieces of 512 bytes. The gate checks
/// some of these states. `SHELLAC_POWER_LOSSES` is the number of states to check for each event.
@Suite("A power loss at any moment")
struct PowerLossTests {
    enum Setting: String, CaseIterable, Sendable {
        case rollbackJournal, truncatedJournal, queueWithLog, pool

        func open(_ file: TemporaryDatabase, _ storage: FaultyStorage) throws -> any DatabaseWriter {
            try (self == .pool ? Writer.pool : .queue).open(file) { configuration in
                configuration = StampClock().configuration(configuration)
                configuration.vfs = storage.name
                configuration.checkpoints = .atCommit
                switch self {
                case .rollbackJournal: configuration.journalMode = .delete
                case .truncatedJournal: configuration.journalMode = .truncate
                case .queueWithLog: configuration.journalMode = .wal
                case .pool: break
                }
                // A log is synced at each commit, and copied often.
                configuration.prepareDatabase { db in
                    try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 20")
                }
            }
        }
    }

    private static let losses = environmentNumber("SHELLAC_POWER_LOSSES")

    @Test("leaves all that was acknowledged, and nothing in part", arguments: Setting.allCases)
    func powerLoss(_ setting: Setting) throws {
        var generator = SeededGenerator(seed: 1)
        var states = 0
        for workload in Workload.all {
            states += try losePower(in: workload, setting, using: &generator)
        }
        #expect(states > 100)
        if Self.losses != nil { print("\(setting): \(states) states after a power loss") }
    }

    /// Runs a workload, and checks the states after a power loss. Returns their number.
    private func losePower(
        in workload: Workload, _ setting: Setting, using generator: inout SeededGenerator
    ) throws -> Int {
        let (file, storage, log) = (try TemporaryDatabase(), FaultyStorage(), WriteLog())
        try FileManager.default.removeItem(atPath: file.path)
        storage.log = log
        let writer = try setting.open(file, storage)
        try Workload.fill(writer)
        let run = try workload.prepare(writer)
        let before = try writer.inDatabase { db in try db.everything() }
        let first = log.count
        try run.body()
        let after = try writer.inDatabase { db in try db.everything() }
        log.mark(1)
        try writer.vacuum()

        let folder = try TemporaryFolder()
        var states = 0
        let gap = Self.losses == nil ? max((log.count - first) / 2, 1) : 1
        for count in stride(from: first, through: log.count, by: gap) {
            for attempt in 0..<(Self.losses ?? 3) {
                let share = [0, 100, 50][attempt % 3]
                let (files, acknowledged) = log.files(after: count) {
                    Int.random(in: 0..<100, using: &generator) < share
                }
                let found = try content(of: files, main: file.path, in: folder, "\(states)")
                #expect(
                    found == after || acknowledged == nil && found == before,
                    "\(workload.name), after \(count) of \(log.count) events, attempt \(attempt): \(found)")
                states += 1
            }
        }
        return states
    }

    /// Returns the content of a database with the given files.
    private func content(
        of files: [String: [UInt8]], main: String, in folder: TemporaryFolder, _ name: String
    ) throws -> [String] {
        let path = folder.path("\(name).sqlite")
        defer {
            for suffix in ["", "-journal", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
        }
        for (file, bytes) in files where file.hasPrefix(main) && !file.hasSuffix("-shm") {
            try Data(bytes).write(to: URL(filePath: path + file.dropFirst(main.count)))
        }
        return try DatabaseQueue(path: path).inDatabase { db in
            let check = try String.fetchOne(db, sql: "PRAGMA integrity_check")
            return try check == "ok" ? db.everything() : ["\(check ?? "")"]
        }
    }
}

import CSQLite
import Foundation
import ShellacTesting
import TestSupport
import Testing

@testable import Shellac

/// An operation of the storage that fails.
private final class StorageBreakage: SteppedFault {
    private let storage: FaultyStorage
    private let fault: FaultyStorage.Fault
    private(set) var hasStruck = false

    init(_ storage: FaultyStorage, _ fault: FaultyStorage.Fault) {
        (self.storage, self.fault) = (storage, fault)
    }

    func strike(_ writer: any DatabaseWriter, _ body: () throws -> Void) throws {
        storage.fault = fault
        let outcome = Result { try body() }
        hasStruck = storage.faultsCount > 0
        storage.fault = nil
        try outcome.get()
    }

    func causes(_ error: DatabaseError) -> Bool {
        [.SQLITE_IOERR, .SQLITE_FULL, .SQLITE_BUSY, .SQLITE_CANTOPEN].contains(error.resultCode)
    }
}

/// A workload whose storage fails changes nothing, whichever operation fails.
///
/// The gate fails some operations of each workload. `SHELLAC_BREAKING_STRIDE=1` fails all of them.
@Suite("A storage whose nth operation fails")
struct FaultyStorageTests {
    private static let stride = environmentNumber("SHELLAC_BREAKING_STRIDE")

    struct Kind: Sendable, CustomTestStringConvertible {
        let name: String
        let operations: Set<FaultyStorage.Operation>
        var code: Int32?
        var lasts = false
        var tears = false
        var testDescription: String { name }

        static let all = [
            Kind(name: "a read fails", operations: [.read, .size]),
            Kind(name: "all reads fail", operations: [.read, .size], lasts: true),
            Kind(name: "a write fails", operations: [.write, .truncate, .delete]),
            Kind(name: "a write fails after its half", operations: [.write], tears: true),
            Kind(name: "all writes fail", operations: [.write, .truncate, .delete], lasts: true),
            Kind(name: "the disk is full", operations: [.write], code: SQLITE_FULL, lasts: true),
            Kind(name: "the disk is full for a moment", operations: [.write], code: SQLITE_FULL),
            Kind(name: "nothing reaches the disk", operations: [.sync]),
            Kind(name: "nothing reaches the disk any more", operations: [.sync], lasts: true),
            Kind(name: "a lock is refused", operations: [.lock, .lockMap]),
            Kind(name: "memory cannot be shared", operations: [.map, .open]),
        ]
    }

    /// A way to open the database.
    struct Opening: Sendable, CustomTestStringConvertible {
        let writer: Writer
        /// Whether SQLite keeps next to no page in memory, and the pages are small. Then statements
        /// read and write at many more places.
        let isTight: Bool
        var testDescription: String { "\(writer)\(isTight ? " with little memory" : "")" }

        static let all = Writer.allCases.flatMap { writer in
            [false, true].map { Opening(writer: writer, isTight: $0) }
        }
    }

    private func run(_ workload: Workload, _ opening: Opening, _ storage: FaultyStorage) throws -> BrokenRun {
        let file = try TemporaryDatabase()
        let opened = try opening.writer.open(file) { configuration in
            configuration = StampClock().configuration(configuration)
            configuration.vfs = storage.name
            configuration.checkpoints = .atCommit
            configuration.prepareDatabase { db in
                if opening.isTight {
                    try db.execute(sql: "PRAGMA page_size = 512; PRAGMA cache_size = 1")
                }
                withExtendedLifetime(file) {}
            }
        }
        try Workload.fill(opened)
        return try BrokenRun(workload, opened)
    }

    @Test(
        "leaves the rows, the records and the connection as they were",
        arguments: Opening.all, Kind.all)
    func fails(_ opening: Opening, _ kind: Kind) throws {
        let storage = FaultyStorage()
        storage.tearsWrites = kind.tears
        var (failures, forgiven) = (0, 0)
        for workload in Workload.all {
            let counts = try BrokenRun.strikeEverywhere(
                stride: Self.stride ?? (opening.isTight ? 211 : 41),
                run: { try run(workload, opening, storage) },
                fault: { count in
                    StorageBreakage(
                        storage, .init(kind.operations, after: count, lasts: kind.lasts, code: kind.code))
                },
                named: { "\(kind.name) after \($0)" })
            failures += counts.failures
            forgiven += counts.forgiven
        }
        if Self.stride != nil {
            print("\(opening.testDescription), \(kind.name): \(failures) failures, \(forgiven) forgiven")
        }
    }
}

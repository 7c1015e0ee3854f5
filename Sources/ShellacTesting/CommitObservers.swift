// Observers that note what each commit leaves.

import Shellac

/// Notes what a database holds after each commit.
final class StateRecorder: TransactionObserver {
    private(set) var states: [[String]] = []

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidRollback(_ db: Database) {}
    func databaseDidCommit(_ db: Database) { if let state = try? db.content() { states.append(state) } }
}

/// Marks each commit in the log of a storage.
final class CommitMarker: TransactionObserver {
    private let log: WriteLog
    private var count = 0

    init(_ log: WriteLog) { self.log = log }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidRollback(_ db: Database) {}
    func databaseDidCommit(_ db: Database) {
        count += 1
        log.mark(count)
    }
}

// The commit counter for readers on other connections, and the uses of the commit hook.

import CSQLite
import Synchronization

/// A counter of a connection's commits, for readers of the same database on other connections.
///
/// The number is odd during a commit. This starts with SQLite's commit hook, before the commit
/// becomes visible, and lasts until the committing statement has returned. After each commit, the
/// number is two higher, even if the commit has failed.
///
/// A reader that finds the same even number before and after it begins to read sees exactly the
/// commits up to that number. See `Database.readNumberedState(_:)`. SQLite's own
/// `sqlite3_snapshot_get()` would provide the same, but SQLite is usually compiled without it.
final class CommitNumber: Sendable {
    private let number = Atomic<UInt64>(0)

    /// The number of the last commit, or an odd number during a commit.
    var present: UInt64 { number.load(ordering: .sequentiallyConsistent) }

    /// Notes the beginning of a commit.
    func begin() { number.bitwiseOr(1, ordering: .sequentiallyConsistent) }

    /// Notes the end of a commit, which was successful or has failed.
    func end() { if present & 1 == 1 { number.add(1, ordering: .sequentiallyConsistent) } }

    /// Counts a commit that SQLite does not report, after it is complete. No reader can then claim
    /// to have seen it.
    func skip() { number.add(2, ordering: .sequentiallyConsistent) }
}

/// The uses of a connection's commit hook.
struct CommitHookUses: OptionSet {
    let rawValue: UInt8

    /// The hook numbers commits.
    static let number = CommitHookUses(rawValue: 1)
    /// The hook reports commits to the change handlers before they happen.
    static let changes = CommitHookUses(rawValue: 2)
    /// The hook marks commits for confirmation: see ``CommitConfirmation``.
    static let confirmation = CommitHookUses(rawValue: 4)
    /// The hook checks that the file is still in its place: see ``FilePlace``.
    static let place = CommitHookUses(rawValue: 8)
}

extension Database {
    /// Sets whether the commit hook is needed for the given use. SQLite has only one per
    /// connection, which is installed as long as it has a use.
    func setCommitHook(for use: CommitHookUses, _ isNeeded: Bool) {
        let old = hooks.commit
        if isNeeded { hooks.commit.insert(use) } else { hooks.commit.remove(use) }
        // (If it is installed, the program may have replaced it by its own.)
        guard isNeeded ? old != hooks.commit : old.isEmpty != hooks.commit.isEmpty, !isClosed else { return }
        exchangeCommitHook(for: hooks.commit.isEmpty ? nil : Unretained(self).context)
    }

    /// Installs or removes the commit hook. Returns the previous context.
    @discardableResult
    func exchangeCommitHook(for context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context else { return sqlite3_commit_hook(pointer, nil, nil) }
        return sqlite3_commit_hook(
            pointer,
            { context in
                guard let context else { return 0 }
                return Unretained<Database>(context: context).use { $0.willCommit() } ? 0 : 1
            }, context)
    }

    /// Handles the commit hook. Returns whether SQLite may commit.
    private func willCommit() -> Bool {
        if let place = hooks.place, hooks.commit.contains(.place), !place.allowsCommit(self) { return false }
        if hooks.commit.contains(.number) {
            group.commits.begin()
            owed.insert(.commitDidEnd)
        }
        if hooks.commit.contains(.changes), let changes = object(in: .changes),
            !changes.object.commitHookDidFire()
        {
            return false
        }
        if hooks.commit.contains(.confirmation) {
            hooks.confirmation?.commitWillBegin(self)
            owed.formUnion(.commitDidEnd)
        }
        return true
    }

    /// Ends the number of a commit, because the committing statement has returned.
    func endNumberedCommit() {
        guard owed.contains(.commitDidEnd) else { return }
        owed.remove(.commitDidEnd)
        group.commits.end()
    }

    /// Ends a commit that was made through the C interface, and not by one of Shellac's statements.
    func endUnheardCommit() {
        guard owed.contains(.commitDidEnd) else { return }
        if owed.contains(.confirmation), isInAutocommit, let refusal = confirmCommit(sql: nil) {
            transactionState.keepCommitFailure(refusal)
        }
        endNumberedCommit()
    }
}

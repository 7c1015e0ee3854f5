// The commit counter for readers on other connections, and the uses of the commit hook.

import CSQLite
import Synchronization

/// Numbers the commits of a connection, for those who read the same database by other ones.
///
/// The number is odd while a commit is on its way: from SQLite's commit hook, before anybody can see anything of it, until the
/// statement that commits has returned. It is two more after each of them, also after one that has failed.
///
/// Who begins to read, and finds the same even number before and after, sees the commits up to that number, all of them and no
/// other: see `Database.readNumberedState(_:)`. SQLite itself tells it by `sqlite3_snapshot_get()`, which it is mostly
/// compiled without.
final class CommitNumber: Sendable {
    private let number = Atomic<UInt64>(0)

    /// The number of the last commit, or an odd number while one is on its way.
    var present: UInt64 { number.load(ordering: .sequentiallyConsistent) }

    /// A commit is on its way.
    func begin() { number.bitwiseOr(1, ordering: .sequentiallyConsistent) }

    /// What was on its way is committed, or has failed.
    func end() { if present & 1 == 1 { number.add(1, ordering: .sequentiallyConsistent) } }

    /// Counts a commit that SQLite tells nobody of, once it is done: nobody can say that they have seen it.
    func skip() { number.add(2, ordering: .sequentiallyConsistent) }
}

/// What the commit hook of a connection is for.
struct CommitHookUses: OptionSet {
    let rawValue: UInt8

    /// Commits are numbered.
    static let number = CommitHookUses(rawValue: 1)
    /// The one that follows changes hears of commits before they happen.
    static let changes = CommitHookUses(rawValue: 2)
    /// Commits are confirmed: see ``CommitConfirmation``.
    static let confirmation = CommitHookUses(rawValue: 4)
    /// The file is looked for before: see ``FilePlace``.
    static let place = CommitHookUses(rawValue: 8)
}

extension Database {
    /// Says whether the commit hook is needed for something. SQLite has one for each connection: it is there as long as it is
    /// needed.
    func setCommitHook(for use: CommitHookUses, _ isNeeded: Bool) {
        let old = hooks.commit
        if isNeeded { hooks.commit.insert(use) } else { hooks.commit.remove(use) }
        // (Where it is there, the program may have put its own in that place meanwhile.)
        guard isNeeded ? old != hooks.commit : old.isEmpty != hooks.commit.isEmpty, !isClosed else { return }
        exchangeCommitHook(for: hooks.commit.isEmpty ? nil : Unretained(self).context)
    }

    /// Has SQLite call the commit hook, or not. Returns for whom it did before.
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

    /// SQLite is about to commit. Returns whether it may.
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

    /// The statement has returned that was about to commit.
    func endNumberedCommit() {
        guard owed.contains(.commitDidEnd) else { return }
        owed.remove(.commitDidEnd)
        group.commits.end()
    }

    /// Ends a commit that no statement of ours has made: one of the C interface.
    func endUnheardCommit() {
        guard owed.contains(.commitDidEnd) else { return }
        if owed.contains(.confirmation), isInAutocommit, let refusal = confirmCommit(sql: nil) {
            transactionState.keepCommitFailure(refusal)
        }
        endNumberedCommit()
    }
}

// Debug-only invariant checks of the broker: held events, running statements, SQLite hooks.

#if DEBUG
import CSQLite

extension RunStack {
    /// The active runs, in the order they began.
    var all: [Run] { Self.chain(from: last).reversed() }
    /// The ended runs, kept for reuse.
    var spares: [Run] { Self.chain(from: spare) }

    private static func chain(from first: Unretained<Run>?) -> [Run] {
        Array(
            sequence(first: first) { $0?.object.previous }.prefix { $0 != nil }.compactMap {
                $0?.object
            })
    }
}

extension Broker: CheckedInvariants {
    var _violations: [String] { markViolations + runViolations + hookViolations }

    private var markViolations: [String] {
        var violations = held._violations
        let savepoints = database.transactionLog.savepoints
        violations.expect(
            held.marks.allSatisfy { $0.savepoint <= savepoints.lastNumber },
            "events are held since the savepoints \(held.marks.map(\.savepoint)), of \(savepoints.lastNumber)"
        )
        violations.expect(
            held.isEmpty || savepoints.depth > 0 || !database.isIdle,
            "\(held.count) events are held, and no savepoint is open")
        violations.expect(
            held.elements.allSatisfy {
                $0.marks.contains(.undetected) || $0.table >= 0 && Int($0.table) < tables.names.count
            },
            "an event is held of a table that has no name")
        return violations
    }

    private var runViolations: [String] {
        var violations: [String] = []
        violations.expect(
            runs.isEmpty || !database.isIdle,
            "\(runs.all.count) runs have begun, and no statement is running")
        violations.expect(
            runs.all.allSatisfy { $0.statement != nil }, "a run has begun that belongs to no statement")
        violations.expect(
            runs.spares.allSatisfy { $0.statement == nil && $0.events.isEmpty && $0.veto == nil },
            "events have outlived their run")
        violations.expect(
            runs.all.allSatisfy { $0.audience.map { $0.use { $0.isKept } } ?? true }
                && held.elements.allSatisfy { $0.audience.use { $0.isKept } },
            "an audience is referenced that may no longer exist")
        if database.isIdle {
            violations.expect(
                ends.count == 0, "\(ends.count) handlers have not been called at the end of a transaction")
            violations.expect(!ends.hasLoss, "no observer was notified of a transaction that was lost")
        }
        return violations
    }

    private var hookViolations: [String] {
        var violations: [String] = []
        violations.expect(
            isInstalled == !isUseless,
            "observers \(isUseless ? "are not" : "are") wanted, and receive statements: \(isInstalled)")
        let (hasUpdateHook, hasPreUpdateHook) = (hooks.hasUpdateHook, hooks.hasPreUpdateHook)
        let hasCommitHook = database.hooks.commit.contains(.changes)
        violations.expect(
            isInstalled || !hasUpdateHook && !hasPreUpdateHook && !hasCommitHook, "hooks are left behind")
        if runs.all.count == 1, let run = runs.all.first {
            violations.expect(
                hasUpdateHook == (run.audience != nil)
                    && hasPreUpdateHook == (run.audience?.use { $0.needsPreUpdateHook } ?? false),
                "the hooks are not those that the audience of the only run wants")
        }
        let audiences = runs.all.compactMap(\.audience)
        violations.expect(
            audiences.isEmpty || hasUpdateHook,
            "the audience of a run wants the update hook, which is not there")
        violations.expect(
            !audiences.contains { $0.use { $0.needsPreUpdateHook } } || hasPreUpdateHook,
            "the audience of a run wants the pre-update hook, which is not there")
        guard !database.isClosed else { return violations }
        violations.expect(
            (database.hooks.preUpdate?.isTelling(self) ?? false) == hasPreUpdateHook,
            "the pre-update hook is thought to be \(hasPreUpdateHook ? "" : "not ")installed")
        // SQLite reveals a hook only when it is replaced.
        let own = Unretained(self).context
        let update = sqlite3_update_hook(database.pointer, nil, nil)
        if update != nil { UpdateHooks.installUpdateHook(self) }
        violations.expect(
            update == (hasUpdateHook ? own : nil), "the update hook is not the expected one")
        let commit = database.exchangeCommitHook(for: nil)
        database.exchangeCommitHook(for: commit)
        violations.expect(
            commit == (database.hooks.commit.isEmpty ? nil : Unretained(database).context),
            "the commit hook is not the expected one")
        return violations
    }
}
#endif

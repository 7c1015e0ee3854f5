#if DEBUG
import CSQLite

extension Broker: CheckedInvariants {
    var _violations: [String] { markViolations + runViolations + hookViolations }

    private var markViolations: [String] {
        var violations: [String] = []
        violations.expect(
            zip(marks, marks.dropFirst()).allSatisfy { $0.savepoint < $1.savepoint && $0.start <= $1.start }
                && marks.allSatisfy { $0.start >= 0 && $0.start <= held.count },
            "the marks of savepoints, \(marks), are not in order within \(held.count) held events")
        let savepoints = database.transactionLog.savepoints
        violations.expect(
            marks.allSatisfy { savepoints.contains($0.savepoint) },
            "the marks \(marks) are not those of the open savepoints, \(savepoints.numbers)")
        violations.expect(
            held.isEmpty || savepoints.depth > 0 || !database.isIdle,
            "\(held.count) events are held, and no savepoint is open")
        violations.expect(
            held.allSatisfy { $0.isUndetected || $0.table >= 0 && Int($0.table) < tables.names.count },
            "an event is held of a table that has no name")
        return violations
    }

    private var runViolations: [String] {
        var violations: [String] = []
        violations.expect(loneRun == nil || runs.isEmpty, "a run is alone among \(runs.count) others")
        violations.expect(
            loneRun != nil || loneEvents.count == 0, "\(loneEvents.count) events have outlived their run")
        violations.expect(
            loneAudienceReference?.toOpaque() == loneAudience.map { Unmanaged.passUnretained($0).toOpaque() },
            "the audience of the lone run is not the one that is referred to")
        let isBusy = loneRun != nil || !runs.isEmpty
        violations.expect(
            !isBusy || !database.isIdle, "\(runs.count) runs have begun, and no statement is running")
        if database.isIdle {
            violations.expect(ends.isEmpty, "\(ends.count) are still to be told of the end of a transaction")
            violations.expect(untoldLoss == nil, "nobody was told of a transaction that was lost")
        }
        return violations
    }

    private var hookViolations: [String] {
        var violations: [String] = []
        violations.expect(
            isInstalled == !isUseless,
            "observers \(isUseless ? "are not" : "are") wanted, and hear of statements: \(isInstalled)")
        violations.expect(
            isInstalled || !hasUpdateHook && !hasPreUpdateHook && !hasCommitHook, "hooks are left behind")
        if let loneRun {
            violations.expect(
                loneRun.hasAudience == hasUpdateHook && !hasPreUpdateHook,
                "the hooks are not those that the lone run's audience wants")
        }
        let audiences = runs.compactMap(\.audience)
        violations.expect(
            audiences.isEmpty || hasUpdateHook,
            "the audience of a run wants the update hook, which is not there")
        violations.expect(
            !audiences.contains(where: \.needsPreUpdateHook) || hasPreUpdateHook,
            "the audience of a run wants the pre-update hook, which is not there")
        guard !database.isClosed else { return violations }
        violations.expect(
            (database.hooks.preUpdate?.isTelling(self) ?? false) == hasPreUpdateHook,
            "the pre-update hook is thought to be \(hasPreUpdateHook ? "" : "not ")installed")
        // SQLite tells of a hook only when another one is put in its place.
        let own = Unmanaged.passUnretained(self).toOpaque()
        let update = sqlite3_update_hook(database.pointer, nil, nil)
        if update != nil { installUpdateHook() }
        violations.expect(
            update == (hasUpdateHook ? own : nil), "the update hook is another one than thought")
        let commit = sqlite3_commit_hook(database.pointer, nil, nil)
        let hadCommitHook = hasCommitHook
        if commit != nil { installCommitHook() }
        hasCommitHook = hadCommitHook
        violations.expect(
            commit == (hasCommitHook ? own : nil), "the commit hook is another one than thought")
        return violations
    }
}
#endif

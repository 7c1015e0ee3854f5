// Installs and removes SQLite's update and pre-update hooks as running statements need them.

import CSQLite

/// SQLite's hooks, installed while a run's audience needs their notifications.
struct UpdateHooks {
    var hasUpdateHook = false
    var hasPreUpdateHook = false

    /// Installs the hooks that a run's audience needs. Removes the others if it is the only run.
    @inline(__always)
    mutating func install(for audience: Unretained<Audience>?, isOnlyRun: Bool, _ broker: Broker) {
        let wantsRows = audience != nil
        if wantsRows != hasUpdateHook, wantsRows || isOnlyRun { setUpdateHook(wantsRows, broker) }
        let wantsValues = audience?.use { $0.needsPreUpdateHook } ?? false
        if wantsValues != hasPreUpdateHook, wantsValues || isOnlyRun { setPreUpdateHook(wantsValues, broker) }
    }

    /// Removes all hooks after the last observer was removed.
    mutating func remove(_ broker: Broker) {
        if hasUpdateHook { setUpdateHook(false, broker) }
        if hasPreUpdateHook { setPreUpdateHook(false, broker) }
        broker.database.setCommitHook(for: .changes, false)
    }

    /// Restores the hooks that were installed at another time, and no others.
    mutating func restore(_ hooks: UpdateHooks, _ broker: Broker) {
        if hooks.hasUpdateHook != hasUpdateHook { setUpdateHook(hooks.hasUpdateHook, broker) }
        if hooks.hasPreUpdateHook != hasPreUpdateHook { setPreUpdateHook(hooks.hasPreUpdateHook, broker) }
    }

    @inline(never)
    private mutating func setUpdateHook(_ isOn: Bool, _ broker: Broker) {
        hasUpdateHook = isOn
        if isOn {
            Self.installUpdateHook(broker)
        } else {
            sqlite3_update_hook(broker.database.pointer, nil, nil)
        }
    }

    @inline(never)
    private mutating func setPreUpdateHook(_ isOn: Bool, _ broker: Broker) {
        hasPreUpdateHook = isOn
        // The hook exists if an observer that needs it was added.
        guard let hook = broker.database.hooks.preUpdate else { return }
        if isOn { hook.add(broker) } else { hook.remove(broker) }
    }

    /// Installs the update hook. Returns the context of the previous one.
    @discardableResult
    static func installUpdateHook(_ broker: Broker) -> UnsafeMutableRawPointer? {
        sqlite3_update_hook(
            broker.database.pointer,
            { context, kind, schema, table, rowID in
                guard let context, let schema, let table else { return }
                Unretained<Broker>(context: context).use { $0.rowDidChange(kind, schema, table, rowID) }
            }, Unretained(broker).context)
    }
}

extension DatabaseEvent.Kind {
    init(operation: Int32) {
        switch operation {
        case SQLITE_INSERT: self = .insert
        case SQLITE_UPDATE: self = .update
        default: self = .delete
        }
    }
}

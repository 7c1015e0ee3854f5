// Installs and removes SQLite's update and pre-update hooks as running statements need them.

import CSQLite

/// SQLite's hooks, which are installed while a run's audience wants to hear of what they tell.
struct UpdateHooks {
    var hasUpdateHook = false
    var hasPreUpdateHook = false

    /// Installs the hooks that a run's audience wants. Those that nobody wants are removed where it is the only run.
    @inline(__always)
    mutating func install(for audience: Unretained<Audience>?, isOnlyRun: Bool, _ broker: Broker) {
        let wantsRows = audience != nil
        if wantsRows != hasUpdateHook, wantsRows || isOnlyRun { setUpdateHook(wantsRows, broker) }
        let wantsValues = audience?.use { $0.needsPreUpdateHook } ?? false
        if wantsValues != hasPreUpdateHook, wantsValues || isOnlyRun { setPreUpdateHook(wantsValues, broker) }
    }

    /// Removes all hooks: nobody observes any more.
    mutating func remove(_ broker: Broker) {
        if hasUpdateHook { setUpdateHook(false, broker) }
        if hasPreUpdateHook { setPreUpdateHook(false, broker) }
        broker.database.setCommitHook(for: .changes, false)
    }

    /// Installs those, and no others, that were installed at another time.
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
        // It is there: whoever needs it has asked for it.
        guard let hook = broker.database.hooks.preUpdate else { return }
        if isOn { hook.add(broker) } else { hook.remove(broker) }
    }

    /// Has SQLite call the update hook. Returns for whom it did before.
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

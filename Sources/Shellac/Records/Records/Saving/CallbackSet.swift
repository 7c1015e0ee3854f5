/// Callbacks that are called with a database around an insertion or an update.
///
/// A record that implements one of them may read the database there, and must find the rows that
/// were saved before. Such records are saved one by one, with all callbacks around each. Other
/// records are encoded once, and no callback is called.
///
/// For a class, metadata shows which callbacks it implements: see ``Overrides``. For structs, the
/// language does not reveal this. But the default implementations, which do nothing, note that they
/// were called. So saves are watched until all of them have been noted.
@usableFromInline
struct CallbackSet: OptionSet, Sendable {
    @usableFromInline let rawValue: UInt8

    @usableFromInline
    init(rawValue: UInt8) { self.rawValue = rawValue }

    @usableFromInline static var willSave: CallbackSet { CallbackSet(rawValue: 1) }
    @usableFromInline static var aroundSave: CallbackSet { CallbackSet(rawValue: 2) }
    @usableFromInline static var willInsert: CallbackSet { CallbackSet(rawValue: 4) }
    @usableFromInline static var aroundInsert: CallbackSet { CallbackSet(rawValue: 8) }
    @usableFromInline static var willUpdate: CallbackSet { CallbackSet(rawValue: 16) }
    @usableFromInline static var aroundUpdate: CallbackSet { CallbackSet(rawValue: 32) }

    @usableFromInline static var validate: CallbackSet { CallbackSet(rawValue: 64) }

    static var insertion: CallbackSet { [.willSave, .aroundSave, .willInsert, .validate, .aroundInsert] }
    static var update: CallbackSet { [.willSave, .aroundSave, .willUpdate, .validate, .aroundUpdate] }
    static var all: CallbackSet { [.insertion, .update] }
}

/// The type whose saves are watched, with the callbacks that are known to do nothing.
struct CallbackWatch {
    let type: ObjectIdentifier
    var idle: CallbackSet = []
}

extension Database {
    /// Notes the call of a callback that does nothing.
    @usableFromInline
    func noteIdle(_ callback: CallbackSet, of type: Any.Type) {
        withRecords { records in
            if records.watch?.type == ObjectIdentifier(type) { records.watch?.idle.formUnion(callback) }
        }
    }

    /// Runs a function that saves a struct with all callbacks, and learns which callbacks of its
    /// type do nothing.
    func watchingCallbacks<Result>(
        of type: any MutablePersistableRecord.Type, _ save: () throws -> Result
    ) throws -> Result {
        let records = records
        let plan = try records.plan(for: type, on: self).object
        let outer = exchange(&records.watch, with: CallbackWatch(type: ObjectIdentifier(type)))
        defer {
            if let watch = records.watch { plan.learned.idleCallbacks.formUnion(watch.idle) }
            records.watch = outer
        }
        return try save()
    }
}

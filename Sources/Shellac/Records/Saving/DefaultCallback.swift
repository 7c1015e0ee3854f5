/// The callbacks of a struct that are called with a database around its insertion.
///
/// A struct that implements one of them may look at the database there, and must find the rows inserted before: such
/// structs are inserted one by one. Others take a shorter road. The language does not tell which structs these are. But
/// the implementations that do nothing can say that they were called: so the first record that is inserted is watched.
@usableFromInline
enum DefaultCallback: UInt8 {
    case willSave = 1
    case willInsert = 2
    case aroundSave = 4
    case aroundInsert = 8

    static let all: UInt8 = 15
}

extension Database {
    /// Notes that a callback which does nothing was called.
    @inlinable @inline(__always)
    func note(_ callback: DefaultCallback, of type: Any.Type) {
        if let watchedType { note(callback, of: type, watchedType) }
    }

    @usableFromInline @inline(never)
    func note(_ callback: DefaultCallback, of type: Any.Type, _ watchedType: ObjectIdentifier) {
        if watchedType == ObjectIdentifier(type) { defaultCallbacks |= callback.rawValue }
    }

    /// Runs a function that inserts a record. Returns whether all callbacks of its type do nothing.
    func watchingCallbacks(of type: Any.Type, _ insert: () throws -> Void) rethrows -> Bool {
        let outer = (watchedType, defaultCallbacks)
        (watchedType, defaultCallbacks) = (ObjectIdentifier(type), 0)
        defer { (watchedType, defaultCallbacks) = outer }
        try insert()
        return defaultCallbacks == DefaultCallback.all
    }
}

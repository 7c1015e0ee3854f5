/// The functions and collations that were added to a connection, for adding them to another one.
struct AddedExtensions {
    private(set) var functions: [DatabaseFunction] = []
    private(set) var collations: [DatabaseCollation] = []
    /// A number that changes with each addition or removal.
    private(set) var version = 0
    /// The objects that SQLite has released. They are freed when its call has returned.
    let departures = Departures()

    /// Adds or removes functions. Returns the old functions, for the caller to release. Freeing
    /// them may call this type again, which then sees the updated list.
    mutating func replace(_ isReplaced: (DatabaseFunction) -> Bool, by added: [DatabaseFunction]) -> [Any] {
        let before = functions
        version += 1
        functions = before.filter { !isReplaced($0) } + added
        return before
    }

    /// Adds or removes collations, in the same way.
    mutating func replace(_ isReplaced: (DatabaseCollation) -> Bool, by added: [DatabaseCollation]) -> [Any] {
        let before = collations
        version += 1
        collations = before.filter { !isReplaced($0) } + added
        return before
    }

    /// Removes everything, because the connection closes. The caller releases the result after
    /// SQLite has done so, too.
    mutating func removeAll() -> [Any] {
        defer { (functions, collations) = ([], []) }
        return functions + collations as [Any]
    }
}

/// The objects that SQLite releases in the middle of a call.
///
/// When a function is replaced, SQLite destroys the old function's context before it installs the
/// new one. When a connection is closed, SQLite destroys the contexts of all functions
/// ("sqlite3_create_function_v2()" in the SQLite documentation).
///
/// Such a context may be the last owner of objects of the user, whose `deinit` may use the
/// connection. It could even call the function that no longer exists. So contexts depart: they are
/// put aside, and freed when SQLite has returned.
///
/// This may happen on any thread. If a statement outlives its connection, SQLite closes the
/// connection together with the statement.
final class Departures: @unchecked Sendable {  // `state` has a lock; one thread frees the objects
    private struct State {
        var objects: [AnyObject] = []
        var holders = 0
    }
    private let state = Lock(State())

    /// Calls a function during which SQLite may destroy contexts. They are freed afterwards.
    func hold<Result>(_ body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.holders += 1 }
        defer {
            let departing = state.withLock { state in
                state.holders -= 1
                if state.holders > 0 { return [AnyObject]() }
                defer { state.objects = [] }
                return state.objects
            }
            // Freeing them may call this method again.
            withExtendedLifetime(departing) {}
        }
        return try body()
    }

    /// Keeps an object whose context SQLite has destroyed. It is freed when the function that
    /// caused this has returned.
    func depart(_ object: AnyObject) {
        state.withLock { state in if state.holders > 0 { state.objects.append(object) } }
    }
}

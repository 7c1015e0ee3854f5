/// The functions and collations that were added to a connection: for another one that is to have them, too.
struct AddedExtensions {
    private(set) var functions: [DatabaseFunction] = []
    private(set) var collations: [DatabaseCollation] = []
    /// Changes with what is added.
    private(set) var version = 0
    /// The objects that SQLite has let go of, and that wait for its return.
    let departures = Departures()

    /// Notes a function, or takes one out. Returns what is let go of: it may come back when it is freed, and finds the list
    /// as it is then.
    mutating func replace(_ isReplaced: (DatabaseFunction) -> Bool, by added: [DatabaseFunction]) -> [Any] {
        let before = functions
        version += 1
        functions = before.filter { !isReplaced($0) } + added
        return before
    }

    /// Notes a collation, or takes one out, in the same way.
    mutating func replace(_ isReplaced: (DatabaseCollation) -> Bool, by added: [DatabaseCollation]) -> [Any] {
        let before = collations
        version += 1
        collations = before.filter { !isReplaced($0) } + added
        return before
    }

    /// Takes all out: the connection closes. What is returned is let go of when SQLite has done so, too.
    mutating func removeAll() -> [Any] {
        defer { (functions, collations) = ([], []) }
        return functions + collations as [Any]
    }
}

/// The objects that SQLite lets go of in the middle of something.
///
/// A function that replaces another one is put in its place after the other one's context has been destroyed, and a
/// connection that is being closed destroys the contexts of all functions ("sqlite3_create_function_v2()" in the SQLite
/// documentation). Such a context is all that holds objects of the user, whose `deinit` may use the connection: call the very
/// function that is no more. So contexts depart: they are put aside, and freed when SQLite has returned.
///
/// That may be on any thread: where a statement outlives its connection, SQLite closes that with the statement.
final class Departures: @unchecked Sendable {  // `state` has a lock, and objects that one thread frees
    private struct State {
        var objects: [AnyObject] = []
        var holders = 0
    }
    private let state = Lock(State())

    /// Runs a function that has SQLite destroy contexts. These are freed afterwards.
    func hold<Result>(_ body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.holders += 1 }
        defer {
            let departing = state.withLock { state in
                state.holders -= 1
                if state.holders > 0 { return [AnyObject]() }
                defer { state.objects = [] }
                return state.objects
            }
            // Freeing them may come back here.
            withExtendedLifetime(departing) {}
        }
        return try body()
    }

    /// Keeps an object whose context SQLite has destroyed, to be freed when the function that had it destroyed is done.
    func depart(_ object: AnyObject) {
        state.withLock { state in if state.holders > 0 { state.objects.append(object) } }
    }
}

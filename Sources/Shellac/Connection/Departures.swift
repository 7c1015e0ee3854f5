/// What SQLite lets go of in the middle of something.
///
/// A function that replaces another one is put in its place after the other one's context has been destroyed, and a
/// connection that is being closed destroys the contexts of all functions ("sqlite3_create_function_v2()" in the SQLite
/// documentation). Such a context is all that holds objects of the user, whose `deinit` may use the connection: call the very
/// function that is no more. So contexts depart: they are put aside, and freed when SQLite has returned.
final class Departures {
    private var objects: [AnyObject] = []
    private var holders = 0

    /// Runs a function that has SQLite destroy contexts. These are freed afterwards.
    func hold<Result>(_ body: () throws -> Result) rethrows -> Result {
        holders += 1
        defer {
            holders -= 1
            if holders == 0, !objects.isEmpty {
                // Freeing them may come back here.
                let departing = objects
                objects = []
                withExtendedLifetime(departing) {}
            }
        }
        return try body()
    }

    /// SQLite has destroyed a context.
    func depart(_ object: AnyObject) { if holders > 0 { objects.append(object) } }
}

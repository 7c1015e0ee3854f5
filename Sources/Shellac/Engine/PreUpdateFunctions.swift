import CSQLite

/// SQLite's pre-update hook, found at run time. See "The pre-update hook" in the SQLite documentation.
struct PreUpdateFunctions {
    let hook: shellac_preupdate_hook_function
    let old: shellac_preupdate_value_function
    let new: shellac_preupdate_value_function

    /// The option that SQLite needs.
    static let option = "ENABLE_PREUPDATE_HOOK"

    /// The functions of the running SQLite, or nil where it lacks them.
    static var found: PreUpdateFunctions? { Features.isCompiled(with: option) ? functions : nil }

    private static let functions: PreUpdateFunctions? = {
        guard let hook = Features.symbol("sqlite3_preupdate_hook"),
            let old = Features.symbol("sqlite3_preupdate_old"),
            let new = Features.symbol("sqlite3_preupdate_new")
        else { return nil }
        return PreUpdateFunctions(
            hook: unsafeBitCast(hook, to: shellac_preupdate_hook_function.self),
            old: unsafeBitCast(old, to: shellac_preupdate_value_function.self),
            new: unsafeBitCast(new, to: shellac_preupdate_value_function.self))
    }()

    /// Whether a column is asked for by its place among all columns of its table. SQLite 3.40 counts those that it
    /// stores, without the virtual ones, though its documentation does not say so: it is tried out, once.
    static let countsVirtualColumns: Bool = {
        guard let functions else { return false }
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        guard sqlite3_open(":memory:", &database) == SQLITE_OK else { return false }
        sqlite3_exec(database, "CREATE TABLE t (a, b AS (a), c)", nil, nil, nil)
        var answer: Int64 = 0
        withUnsafeMutablePointer(to: &answer) { answer in
            _ = functions.hook(
                database,
                { context, database, _, _, _, _, _ in
                    var value: OpaquePointer?
                    guard PreUpdateFunctions.functions?.new(database, 2, &value) == SQLITE_OK, let value
                    else {
                        return
                    }
                    context?.assumingMemoryBound(to: Int64.self).pointee = sqlite3_value_int64(value)
                }, answer)
            sqlite3_exec(database, "INSERT INTO t VALUES (1, 3)", nil, nil, nil)
        }
        return answer == 3
    }()
}

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

    /// The old value that SQLite tells of a column which the row is older than: a NULL of its own, which stands
    /// elsewhere than a NULL of the row. Nil where the two cannot be told apart, or where SQLite tells the default (as
    /// newer ones do): it is tried out, once.
    ///
    /// (It is compared with, and never followed: nothing guards it.)
    nonisolated(unsafe) static let nullOfOlderRows: OpaquePointer? = {
        guard let functions else { return nil }
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        guard sqlite3_open(":memory:", &database) == SQLITE_OK else { return nil }
        sqlite3_exec(
            database,
            "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, NULL), (2, NULL); ALTER TABLE t ADD COLUMN c DEFAULT 5",
            nil, nil, nil)
        // Of each deleted row: the last column, and the one before, whose NULL is the row's.
        var told: [OpaquePointer?] = []
        withUnsafeMutablePointer(to: &told) { told in
            _ = functions.hook(
                database,
                { context, database, _, _, _, _, _ in
                    for index in [2, 1] as [Int32] {
                        var value: OpaquePointer?
                        let code = PreUpdateFunctions.functions?.old(database, index, &value)
                        let isNull = code == SQLITE_OK && value.map { sqlite3_value_type($0) } == SQLITE_NULL
                        context?.assumingMemoryBound(to: [OpaquePointer?].self).pointee
                            .append(isNull ? value : nil)
                    }
                }, told)
            sqlite3_exec(database, "DELETE FROM t WHERE a = 1; DELETE FROM t WHERE a = 2", nil, nil, nil)
        }
        guard told.count == 4, let null = told[0], told[2] == null, told[1] != null, told[3] != null else {
            return nil
        }
        return null
    }()
}

// SQLite's pre-update hook, looked up at run time, with probes for version differences.

import CSQLite

/// SQLite's functions for the pre-update hook, found at run time. See "The pre-update hook" in the
/// SQLite documentation.
struct PreUpdateFunctions {
    let hook: shellac_preupdate_hook_function
    let old: shellac_preupdate_value_function
    let new: shellac_preupdate_value_function

    /// The compile option that SQLite needs.
    static let option = "ENABLE_PREUPDATE_HOOK"

    /// The functions of the running SQLite, or nil if it lacks them.
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

    /// Whether a column's index counts all columns of its table. SQLite 3.40 only counts stored
    /// columns, without the virtual ones, although its documentation does not say so. The value is
    /// determined by a test, once.
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

    /// The old value that the pre-update hook reports if the row is older than the column.
    enum OlderRows: @unchecked Sendable {
        /// The default of the column, as in newer versions of SQLite.
        case columnDefault
        /// A NULL that SQLite stores separately from the values of the row, as in 3.40. Its address
        /// is only compared, and never dereferenced, so it needs no lock.
        case separateNull(OpaquePointer)
        /// A NULL like those in the row.
        case anyNull
    }

    /// The behaviour of the running SQLite for rows that are older than a column. It is determined
    /// by a test, once.
    static let olderRows: OlderRows = {
        guard let functions else { return .anyNull }
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        guard sqlite3_open(":memory:", &database) == SQLITE_OK else { return .anyNull }
        sqlite3_exec(
            database,
            "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, NULL), (2, NULL); ALTER TABLE t ADD COLUMN c DEFAULT 5",
            nil, nil, nil)
        // For each deleted row: the last column, and the one before it, whose NULL belongs to the
        // row.
        var told: [(value: OpaquePointer?, isNull: Bool, isDefault: Bool)] = []
        withUnsafeMutablePointer(to: &told) { told in
            _ = functions.hook(
                database,
                { context, database, _, _, _, _, _ in
                    for index in [2, 1] as [Int32] {
                        var value: OpaquePointer?
                        let code = PreUpdateFunctions.functions?.old(database, index, &value)
                        guard code == SQLITE_OK, let value else { continue }
                        context?.assumingMemoryBound(
                            to: [(value: OpaquePointer?, isNull: Bool, isDefault: Bool)].self
                        ).pointee.append(
                            (
                                value, sqlite3_value_type(value) == SQLITE_NULL,
                                sqlite3_value_type(value) == SQLITE_INTEGER
                                    && sqlite3_value_int64(value) == 5
                            ))
                    }
                }, told)
            sqlite3_exec(database, "DELETE FROM t WHERE a = 1; DELETE FROM t WHERE a = 2", nil, nil, nil)
        }
        guard told.count == 4 else { return .anyNull }
        if told[0].isDefault, told[2].isDefault { return .columnDefault }
        guard told.allSatisfy(\.isNull), let null = told[0].value, told[2].value == null,
            told[1].value != null, told[3].value != null
        else { return .anyNull }
        return .separateNull(null)
    }()

    /// The NULL for a column that is newer than the row. Nil if there is no separate one.
    nonisolated(unsafe) static let nullOfOlderRows: OpaquePointer? = {
        if case .separateNull(let null) = olderRows { null } else { nil }
    }()
}

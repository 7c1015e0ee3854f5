// The SQLite authorizer, which collects the effects of a statement during its preparation.

import CSQLite

/// Collects SQLite's reports of a statement's effects while the statement is being prepared.
///
/// The authorizer is set once, when the connection opens, since setting it makes SQLite prepare
/// every statement again. It allows everything, and only collects effects while `effects` is
/// requested. See "Compile-Time Authorization Callbacks" in the SQLite documentation.
///
/// A DELETE without WHERE empties its table without visiting the rows, and reports none of them. If
/// the authorizer returns `SQLITE_IGNORE`, SQLite deletes row by row ("The Truncate Optimization"
/// in the SQLite documentation). For a DROP, the same result would turn it into a no-op.
final class Authorizer {
    private var effects: StatementEffects?
    /// The tables that were reported, while they are requested: see `tablesTouched(during:)`.
    private var touchedTables: TouchedTables?
    /// The tables for which SQLite must report each deleted row.
    var tablesWithNotifiedDeletions: Set<CaseInsensitiveName> = []
    /// Whether the last call was about a DROP: the next one is about the deletion of its rows.
    private var isDropping = false

    func install(on connection: OpaquePointer) {
        let context = Unretained(self).context
        sqlite3_set_authorizer(
            connection,
            { context, action, first, second, schemaName, _ in
                let authorizer = Unretained<Authorizer>(context: context.unsafelyUnwrapped)
                    .object
                if authorizer.effects != nil { authorizer.note(action, first, second, schemaName) }
                if authorizer.touchedTables != nil { authorizer.touch(action, first, second, schemaName) }
                return authorizer.answer(action, first)
            }, context)
    }

    /// Runs a preparation, and returns the effects that SQLite reports meanwhile.
    func effects(of prepare: () throws -> Void) rethrows -> StatementEffects {
        // A function called by SQLite may prepare a statement while another is being prepared
        // again.
        let outer = effects
        effects = StatementEffects()
        defer { effects = outer }
        try prepare()
        return effects ?? StatementEffects()
    }

    /// The names of tables, keyed by the names of their databases.
    typealias TouchedTables = [CaseInsensitiveName: Set<CaseInsensitiveName>]

    /// Calls a function, and returns the names of the tables that the statements prepared meanwhile
    /// may write, alter or drop. Their triggers are included. A newly created table is only
    /// included once something writes to it.
    ///
    /// Statements that SQLite prepares again are included, too. Statements that were prepared
    /// before are not.
    func tablesTouched(during body: () throws -> Void) rethrows -> TouchedTables {
        let outer = touchedTables
        touchedTables = [:]
        defer { touchedTables = outer?.merging(touchedTables ?? [:]) { $0.union($1) } }
        try body()
        return touchedTables ?? [:]
    }

    /// Calls a function whose statements are only prepared, and touch nothing.
    func touchingNothing<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = touchedTables
        touchedTables = nil
        defer { touchedTables = outer }
        return try body()
    }

    private func answer(_ action: Int32, _ first: UnsafePointer<CChar>?) -> Int32 {
        guard !tablesWithNotifiedDeletions.isEmpty else { return SQLITE_OK }
        let isDropped = isDropping
        isDropping =
            switch action {
            case SQLITE_DROP_TABLE, SQLITE_DROP_TEMP_TABLE, SQLITE_DROP_VIEW, SQLITE_DROP_TEMP_VIEW,
                SQLITE_DROP_VTABLE:
                true
            default: false
            }
        guard action == SQLITE_DELETE, !isDropped, let first else { return SQLITE_OK }
        let table = CaseInsensitiveName(String(cString: first))
        return tablesWithNotifiedDeletions.contains(table) ? SQLITE_IGNORE : SQLITE_OK
    }

    private func touch(
        _ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
        _ schemaName: UnsafePointer<CChar>?
    ) {
        let (schemaName, table): (UnsafePointer<CChar>?, UnsafePointer<CChar>?) =
            switch action {
            case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE, SQLITE_DROP_TABLE: (schemaName, first)
            case SQLITE_DROP_INDEX: (schemaName, second)
            case SQLITE_ALTER_TABLE: (first, second)
            default: (nil, nil)
            }
        guard let schemaName, let table else { return }
        touchedTables?[CaseInsensitiveName(String(cString: schemaName)), default: []].insert(
            CaseInsensitiveName(String(cString: table)))
    }

    private func note(
        _ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
        _ schemaName: UnsafePointer<CChar>?
    ) {
        func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map(String.init(cString:)) ?? "" }
        switch action {
        case SQLITE_READ, SQLITE_INSERT, SQLITE_DELETE, SQLITE_UPDATE:
            // (A subquery that is read without any column belongs to no database.)
            if let schemaName, schemaName.pointee != 0 { effects?.databases.insert(text(schemaName)) }
        default: break
        }
        switch action {
        case SQLITE_READ:
            let column = text(second)
            if column.isEmpty {
                effects?.reads[text(first), default: []].formUnion([])
            } else {
                effects?.reads[text(first), default: []].insert(column)
            }
        case SQLITE_FUNCTION: effects?.functions.insert(text(second).lowercased())
        case SQLITE_INSERT: effects?.writes.insert(.insert(table: text(first)))
        case SQLITE_DELETE: effects?.writes.insert(.delete(table: text(first)))
        case SQLITE_UPDATE: effects?.writes.insert(.update(table: text(first), column: text(second)))
        case SQLITE_TRANSACTION:
            switch text(first) {
            case "BEGIN": effects?.transaction = .begin
            case "COMMIT": effects?.transaction = .commit
            default: effects?.transaction = .rollback
            }
        case SQLITE_SAVEPOINT:
            let name = text(second)
            switch text(first) {
            case "BEGIN": effects?.transaction = .savepoint(name)
            case "RELEASE": effects?.transaction = .release(name)
            default: effects?.transaction = .rollbackTo(name)
            }
        case SQLITE_PRAGMA:
            let name = text(first).lowercased()
            // A query of the journal mode, or a checkpoint, which only moves committed content.
            // ("PRAGMA Statements" in the SQLite documentation. PRAGMA query_only allows both,
            // too.)
            effects?.leavesContent = name == "journal_mode" && second == nil || name == "wal_checkpoint"
            guard second != nil else { break }
            // Whether statements include cascades and the triggers of replaced rows.
            effects?.changesRules = ["foreign_keys", "recursive_triggers"].contains(name)
            if name == "journal_mode" {
                effects?.journalMode = .init(
                    mode: text(second).lowercased(), databaseName: schemaName.map { text($0).lowercased() })
            }
        case SQLITE_CREATE_INDEX, SQLITE_CREATE_TABLE, SQLITE_CREATE_TEMP_INDEX, SQLITE_CREATE_TEMP_TABLE,
            SQLITE_CREATE_TEMP_TRIGGER, SQLITE_CREATE_TEMP_VIEW, SQLITE_CREATE_TRIGGER, SQLITE_CREATE_VIEW,
            SQLITE_CREATE_VTABLE, SQLITE_DROP_INDEX, SQLITE_DROP_TABLE, SQLITE_DROP_TEMP_INDEX,
            SQLITE_DROP_TEMP_TABLE, SQLITE_DROP_TEMP_TRIGGER, SQLITE_DROP_TEMP_VIEW, SQLITE_DROP_TRIGGER,
            SQLITE_DROP_VIEW, SQLITE_DROP_VTABLE, SQLITE_ALTER_TABLE, SQLITE_ATTACH, SQLITE_DETACH:
            effects?.changesSchema = true
        default: break
        }
    }
}

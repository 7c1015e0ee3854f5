// The per-connection state of stamps: registered tables, suspension, SQL function stamp().

import CSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The state that a connection keeps for stamps: the date, as it is stored, and the SQL function
/// `stamp()` that returns it.
///
/// SQLite's own dates would not do: `datetime('now')` has no milliseconds, and its `subsec` is NULL
/// before SQLite 3.42.
final class StampKeeper: TriggerSource {
    private unowned(unsafe) let database: Database  // which owns this
    /// The number of scopes that suspend stamps.
    fileprivate(set) var suspensions = 0
    @exclusivity(unchecked) private var date: Date?
    /// The last requested date.
    var lastDate: Date? { date }
    @exclusivity(unchecked) private var text: [UInt8] = []

    private var stamps = StampDeclarations()
    /// The stamped tables that a temporary table or view hides.
    private var hidden: Set<CaseInsensitiveName> = []

    init(_ database: Database) { self.database = database }

    var isSuspended: Bool { suspensions > 0 }

    /// Returns the bytes of the transaction date, as it is stored.
    func currentText() throws -> [UInt8] {
        let current = try database.currentDate ?? database.transactionDate
        if current != date {
            guard case .string(let string) = current.databaseValue.storage else {
                throw DatabaseError(
                    message: "the transaction clock returned a date whose year does not have four digits")
            }
            (date, text) = (current, Array(string.utf8))
        }
        return text
    }

    override func suspend<Result>(_ body: () throws -> Result) rethrows -> Result {
        suspensions += 1
        defer { suspensions -= 1 }
        return try body()
    }

    /// Runs a function that requests a stamp, even if stamps are suspended.
    func resume<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = suspensions
        suspensions = 0
        defer { suspensions = outer }
        return try body()
    }

    // MARK: - Triggers

    /// Registers the stamps of a table.
    func register(_ declared: DatabaseStamps, on table: String) throws {
        try changeStamps {
            $0.set(declared, on: table)
            if !declared.isEmpty { try StampTriggers.check(declared, on: table, database) }
        }
    }

    /// Registers the stamps of types.
    func register(_ types: [any MutablePersistableRecord.Type]) throws {
        try changeStamps { stamps in
            for type in types {
                let name = type.databaseTableName
                if try database.schema.table(name, in: "main") == nil {
                    throw DatabaseError(
                        message:
                            "\(type) cannot be registered: no such table: main.\(name). Register types after migrations "
                            + "have created their tables. If a base class has no table, register its subclasses, which "
                            + "inherit its stamps")
                }
                try StampTriggers.check(type.databaseStamps, on: name, database)
                try stamps.add(type)
            }
        }
    }

    private func changeStamps(_ change: (inout StampDeclarations) throws -> Void) throws {
        let old = stamps
        do {
            try change(&stamps)
            try database.triggerInstaller.install()
        } catch {
            stamps = old
            throw error
        }
    }

    override func triggers(
        heardBy callbacks: [CallbackRegistration], notes: (CaseInsensitiveName) -> String
    ) throws -> (triggers: [(name: String, sql: String)], tables: Set<CaseInsensitiveName>) {
        var made: (triggers: [(name: String, sql: String)], tables: Set<CaseInsensitiveName>) = ([], [])
        for table in stamps.tables {
            guard let schema = try database.schema.table(table.name, in: "main"), try !isHidden(table) else {
                continue
            }
            let isHeard = callbacks.contains { $0.table == table && $0.hearsUpdates }
            let triggers = StampTriggers(
                stamps.stamps(of: table), schema, isHeard: isHeard, notes: notes(table))
            guard let triggers else { continue }
            made.tables.insert(table)
            made.triggers += triggers.all()
        }
        return made
    }

    /// Whether a temporary table or view has the name of a stamped one. The statements of a trigger
    /// cannot name a database, and would update that table, or fail.
    private func isHidden(_ table: CaseInsensitiveName) throws -> Bool {
        guard try database.schema.table(table.name, in: "temp") != nil else {
            hidden.remove(table)
            return false
        }
        if hidden.insert(table).inserted {
            ErrorLog.warn(
                "the table \(table.name) is not stamped while a temporary table or view of the same name hides it "
                    + "from the triggers that stamp it")
        }
        return true
    }

    // MARK: - The date

    /// Adds the function `stamp()`.
    fileprivate func addFunction() throws {
        let code = sqlite3_create_function_v2(
            database.pointer, "stamp", 0, SQLITE_UTF8, Unretained(self).context,
            { context, _, _ in
                let stamps = Unretained<StampKeeper>(
                    context:
                        sqlite3_user_data(context).unsafelyUnwrapped
                ).object
                stamps.giveResult(to: context)
            }, nil, nil, nil)
        try database.check(code)
    }

    @inline(__always)
    private func giveResult(to context: OpaquePointer?) {
        if suspensions > 0 { return sqlite3_result_null(context) }
        do {
            if date == nil || database.currentDate != date { _ = try currentText() }
            text.withUnsafeBufferPointer { ValueView.text($0).setResult(of: context) }
        } catch {
            let message = "\(error)"
            if database.functionError == nil {
                database.functionError = FunctionError(error: error, message: message)
            }
            sqlite3_result_error(context, message, -1)
        }
    }
}

extension Database {
    /// The state that this connection keeps for stamps.
    var stamps: StampKeeper {
        get throws {
            // No other code fills the slot.
            if let source = object(in: .triggerSource) {
                return unsafeDowncast(source.object, to: StampKeeper.self)
            }
            if isClosed { throw closedError() }
            let stamps = StampKeeper(self)
            try stamps.addFunction()
            fill(.triggerSource, with: stamps)
            return stamps
        }
    }

    /// Runs a function whose changes are not stamped, on this connection.
    ///
    /// ```swift
    /// try db.withoutStamps {
    ///     try db.execute(sql: "UPDATE player SET name = trim(name)")
    /// }
    /// ```
    ///
    /// Records are saved with the stamps that they have.
    ///
    /// - Parameter body: Writes by this connection. It is called once, immediately, and may nest
    ///   such calls.
    /// - Throws: Errors of the function.
    public func withoutStamps<Result>(_ body: () throws -> Result) throws -> Result {
        checkAccess()
        return try stamps.suspend(body)
    }
}

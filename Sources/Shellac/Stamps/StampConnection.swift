import CSQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a connection keeps for stamps: the date, as it is stored, and the SQL function `stamp()` that returns it.
///
/// SQLite's own dates would not do: `datetime('now')` has no milliseconds, and its `subsec` is NULL before SQLite 3.42.
final class StampConnection {
    private unowned(unsafe) let database: Database  // which owns this
    /// How many scopes suspend stamps.
    @exclusivity(unchecked) fileprivate(set) var suspensions = 0
    @exclusivity(unchecked) private var date: Date?
    /// The date that was asked for last.
    var lastDate: Date? { date }
    @exclusivity(unchecked) private var text: [UInt8] = []

    init(_ database: Database) { self.database = database }

    var isSuspended: Bool { suspensions > 0 }

    /// The bytes of the transaction date, as it is stored.
    func currentText() throws -> [UInt8] {
        let current = try database.currentDate ?? database.transactionDate
        if current != date {
            guard case .string(let string) = current.databaseValue.storage else {
                throw DatabaseError(
                    message: "the transaction clock gives a date that has no year of four digits")
            }
            (date, text) = (current, Array(string.utf8))
        }
        return text
    }

    /// Adds the function `stamp()`.
    fileprivate func addFunction() throws {
        let code = sqlite3_create_function_v2(
            database.pointer, "stamp", 0, SQLITE_UTF8, Unmanaged.passUnretained(self).toOpaque(),
            { context, _, _ in
                let stamps = Unmanaged<StampConnection>.fromOpaque(
                    sqlite3_user_data(context).unsafelyUnwrapped
                ).takeUnretainedValue()
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

extension Slot<StampConnection> {
    static var stamps: Self { Slot(7) }
}

extension Database {
    /// What this connection keeps for stamps.
    var stamps: StampConnection {
        get throws {
            if let stamps = object(in: .stamps) { return stamps.takeUnretainedValue() }
            if isClosed { throw closedError() }
            let stamps = StampConnection(self)
            try stamps.addFunction()
            fill(.stamps, with: stamps)
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
    public func withoutStamps<Result>(_ body: () throws -> Result) throws -> Result {
        checkAccess()
        let stamps = try stamps
        stamps.suspensions += 1
        defer { stamps.suspensions -= 1 }
        return try body()
    }
}

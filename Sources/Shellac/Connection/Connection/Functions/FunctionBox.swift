// The bridge between SQLite's C callbacks and SQL functions in Swift, thrown errors included.

import CSQLite

/// An error thrown by a function in Swift, with the message that was passed to SQLite.
struct FunctionError {
    let error: any Error
    let message: String
}

/// The bridge between SQLite and a function in Swift.
///
/// SQLite only takes error messages. (It also takes codes, but the code of another connection's
/// error could make it prepare again, or roll back.) So the box leaves the Swift error with the
/// connection, and passes a message to SQLite. The statement that fails then throws the Swift
/// error.
final class FunctionBox {
    private let function: DatabaseFunction
    private unowned let database: Database
    private let departures: Departures

    init(_ function: DatabaseFunction, database: Database) {
        self.function = function
        self.database = database
        departures = database.added.departures
    }

    /// Releases the function, as SQLite does.
    static func destroy(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        let box = Unmanaged<FunctionBox>.fromOpaque(context).takeRetainedValue()
        box.departures.depart(box)
    }

    /// Calls the user's code inside of the running statement. Objects that it leaves behind are
    /// freed inside, too.
    private func calling(_ body: () -> Void) {
        database.running.enterFunction()
        body()
        database.running.leaveFunction()
    }

    /// Whether to refuse the call, because the running statement will be undone, but not the
    /// function's effects. The function then fails, and the statement with it.
    private func refusesRehearsal(_ context: OpaquePointer?) -> Bool {
        guard database.running.isRehearsal, !function.isPure, !function.name.hasPrefix("shellac_") else {
            return false
        }
        sqlite3_result_error(context, "the function is not pure", -1)
        return true
    }

    private static func box(_ context: OpaquePointer?) -> FunctionBox {
        Unmanaged.fromOpaque(sqlite3_user_data(context).unsafelyUnwrapped).takeUnretainedValue()
    }

    private static func values(
        _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) -> [DatabaseValue] {
        (0..<Int(count)).map { index in
            values?[index].map { SQLiteValue($0).databaseValue } ?? .null
        }
    }

    private func fail(_ context: OpaquePointer?, _ error: any Error) {
        let message = "\(error)"
        database.running.fail(FunctionError(error: error, message: message))
        sqlite3_result_error(context, message, -1)
    }

    // MARK: - Functions of one row

    static func call(
        _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) {
        let box = box(context)
        guard case .scalar(let function) = box.function.kind else { return }
        if box.refusesRehearsal(context) { return }
        box.calling {
            do {
                let value = try function(Self.values(count, values))?.databaseValue ?? .null
                value.withView { $0.setResult(of: context) }
            } catch {
                box.fail(context, error)
            }
        }
    }

    // MARK: - Functions of many rows

    /// The rows added so far in one use of an aggregate.
    private final class Running {
        var aggregate: any DatabaseAggregate
        var hasFailed = false
        init(_ aggregate: any DatabaseAggregate) { self.aggregate = aggregate }
    }

    private func begin() -> Running? {
        guard case .aggregate(let make) = function.kind else { return nil }
        return Running(make())
    }

    static func step(
        _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) {
        let box = box(context)
        if box.refusesRehearsal(context) { return }
        let size = Int32(MemoryLayout<UnsafeMutableRawPointer?>.size)
        guard let slot = sqlite3_aggregate_context(context, size) else {
            sqlite3_result_error_nomem(context)
            return
        }
        let place = slot.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        box.calling {
            if place.pointee == nil {
                place.pointee = box.begin().map { Unmanaged.passRetained($0).toOpaque() }
            }
            guard let opaque = place.pointee else { return }
            let running = Unmanaged<Running>.fromOpaque(opaque).takeUnretainedValue()
            guard !running.hasFailed else { return }
            do {
                try running.aggregate.step(Self.values(count, values))
            } catch {
                running.hasFailed = true
                box.fail(context, error)
            }
        }
    }

    static func finish(_ context: OpaquePointer?) {
        let box = box(context)
        box.calling { box.finishRunning(context) }
    }

    private func finishRunning(_ context: OpaquePointer?) {
        let running: Running?
        // SQLite calls this once for each use, also to clean up after an error. Without rows there
        // is no slot.
        if let slot = sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(
            to: UnsafeMutableRawPointer?.self),
            let opaque = slot.pointee
        {
            running = Unmanaged<Running>.fromOpaque(opaque).takeRetainedValue()
            slot.pointee = nil
        } else {
            running = begin()
        }
        guard let running, !running.hasFailed else { return }
        do {
            let value = try running.aggregate.finalize()?.databaseValue ?? .null
            value.withView { $0.setResult(of: context) }
        } catch {
            fail(context, error)
        }
    }
}

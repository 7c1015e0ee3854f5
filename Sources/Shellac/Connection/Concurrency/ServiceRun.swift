// Closing without blocking a thread, and the graceful shutdown of a database run as a service.

import CSQLite
import Dispatch
import Synchronization

/// The run of a database as a service, with its shutdown in order: see ``ServiceEnd``.
struct ServiceRun: Sendable {
    let writer: SerialConnection
    /// The function that closes the database. It waits for accesses, and throws if something keeps
    /// the database open.
    let close: @Sendable () throws -> Void

    private var group: ConnectionGroup { writer.database.group }
    private var description: String { writer.database.description }
    private var deadline: Duration { max(.zero, writer.database.configuration.shutdownTimeout) }
    /// The time to wait for an interrupted access that does not return.
    private static var grace: Duration { .seconds(1) }
    private static var interval: Duration { .milliseconds(5) }

    func run() async throws {
        try group.checkService(description)
        var isOpen = false
        writer.database.access.whileOpen { isOpen = true }
        guard isOpen else { throw writer.database.closedError() }
        await Self.untilCancelled()
        // The task is cancelled, so any waiting in it would end at once.
        try await onOwnThread("Shellac.\(description).end", end)
    }

    private static func untilCancelled() async {
        let (never, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        continuation.finish()
    }

    // MARK: - The end

    /// The state of the closing, which waits in line behind all accesses.
    private final class Closing: Sendable {
        let result = Lock<Result<Void, any Error>?>(nil)
        /// Whether all accesses of the writer have ended. It is not interrupted any more then, as
        /// SQLite would leave its log behind.
        let hasWriter = Lock(false)
        /// Whether the closing must not wait any more.
        var isHopeless: Bool {
            get { hopeIsGone.load(ordering: .sequentiallyConsistent) }
            set { hopeIsGone.store(newValue, ordering: .sequentiallyConsistent) }
        }
        private let hopeIsGone = Atomic<Bool>(false)
    }

    private func end() throws {
        group.beginServiceEnd()
        let closing = Closing()
        let ended = DispatchSemaphore(value: 0)
        DispatchQueue(label: "Shellac.\(description).closing").async {
            let result = Result { try closePatiently(closing) }
            closing.result.withLock { $0 = result }
            ended.signal()
        }
        let start = ContinuousClock.now
        var interrupted: [String]?
        while ended.wait(timeout: .now() + .milliseconds(Int(Self.interval / .milliseconds(1)))) == .timedOut
        {
            let waited = ContinuousClock.now - start
            if waited < deadline { continue }
            if interrupted == nil {
                interrupted = runningAccesses(closing)
                group.serviceEnd.stop(after: deadline)
            }
            if waited < deadline + Self.grace { interrupt(closing) } else { closing.isHopeless = true }
            if waited > deadline + Self.grace * 2 {
                throw DatabaseError(
                    resultCode: .SQLITE_BUSY,
                    message:
                        "the database \(description) could not be closed: \(runningAccesses(closing).joined(separator: ", ")) did not return within "
                        + "\(Self.grace.formattedSeconds) after being interrupted")
            }
        }
        try closing.result.withLock { $0 }?.get()
        if let interrupted, !interrupted.isEmpty {
            throw DatabaseError(
                resultCode: .SQLITE_INTERRUPT,
                message:
                    "the database \(description) is closed. After \(deadline.formattedSeconds), these "
                    + "accesses still ran, and were interrupted and rolled back: "
                    + "\(interrupted.joined(separator: ", "))")
        }
    }

    /// Closes the database, when everything that keeps it open has ended.
    private func closePatiently(_ closing: Closing) throws {
        // Objects that are freed with the listeners may need an access, so they are freed outside
        // of this one.
        _ = writer.inside { db -> [AnyObject] in
            closing.hasWriter.withLock { $0 = true }
            db.access.reopen()
            db.updateObstruction()
            // No more writes come, so followers of changes need not keep anything open from now on.
            return db.isClosed ? [] : db.takeListeners()
        }
        while true {
            do { return try close() } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY
            {
                if closing.isHopeless { throw error }
                usleep(UInt32(Self.interval / .microseconds(1)))
            }
        }
    }

    /// Stops the accesses that are running, or about to.
    private func interrupt(_ closing: Closing) {
        forEachConnection(closing) { database in
            database.access.end()
            database.interruptFromOutside()
        }
    }

    /// Returns the running accesses, each with its label and its statement if they are known.
    private func runningAccesses(_ closing: Closing) -> [String] {
        var isRunning = false
        forEachConnection(closing) { database in isRunning = isRunning || database.access.isHeldElsewhere }
        guard isRunning else { return [] }
        let hasWriter = closing.hasWriter.withLock { $0 }
        let known = group.activities.filter {
            $0.isRunning && !(hasWriter && $0 === writer.attendant?.activity)
        }
        return known.isEmpty
            ? ["an access"] : known.map { $0.sql.map { [label = $0.label] in "\(label): \($0)" } ?? $0.label }
    }

    /// Runs a function for each connection. It skips the writer once only the closing uses that.
    private func forEachConnection(_ closing: Closing, _ body: (Database) -> Void) {
        for database in group.connections {
            guard database === writer.database else {
                body(database)
                continue
            }
            closing.hasWriter.withLock { hasWriter in if !hasWriter { body(database) } }
        }
    }
}

extension DatabaseReader {
    /// Closes the database, without blocking a thread. Later accesses throw
    /// `SQLITE_MISUSE`.
    ///
    /// It waits for the accesses that are running, even if the task is cancelled.
    ///
    /// - Throws: The errors of the synchronous form.
    public nonisolated(nonsending) func close() async throws {
        try await onOwnThread("Shellac.closing") { try self.close() }
    }
}

/// Runs a function on a thread of its own, even if the task is cancelled.
nonisolated(nonsending) func onOwnThread<T: Sendable>(
    _ label: String, _ body: @escaping @Sendable () throws -> T
) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: label).async { continuation.resume(with: Result { try body() }) }
    }
}

// The graceful shutdown of a database run as a service: drains, interrupts, closes.

import CSQLite
import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Runs a database as a service, and ends it in order: see ``ServiceEnd``.
struct ServiceRun: Sendable {
    let writer: SerialConnection
    /// Closes the database. It waits for accesses, and throws where something keeps the database open.
    let close: @Sendable () throws -> Void

    private var group: ConnectionGroup { writer.database.group }
    private var description: String { writer.database.description }
    private var deadline: Duration { max(.zero, writer.database.configuration.closingDeadline) }
    /// How long somebody is waited for who was stopped, and does not return.
    private static var grace: Duration { .seconds(1) }
    private static var interval: Duration { .milliseconds(5) }

    func run() async throws {
        try group.checkService(description)
        var isOpen = false
        writer.database.access.whileOpen { isOpen = true }
        guard isOpen else { throw writer.database.closedError() }
        await Self.untilCancelled()
        // The task is cancelled: nothing that it waits for would come to pass.
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "Shellac.\(description).end").async {
                continuation.resume(with: Result { try end() })
            }
        }
    }

    private static func untilCancelled() async {
        let (never, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        continuation.finish()
    }

    // MARK: - The end

    /// What is known of the closing, which waits in line behind all accesses.
    private final class Closing: Sendable {
        let result = Lock<Result<Void, any Error>?>(nil)
        /// Whether all accesses of the writer have ended. It is not interrupted any more then: SQLite would leave its log behind.
        let hasWriter = Lock(false)
        /// Whether nobody is waited for any more.
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
                    "the database \(description) is closed, and what still ran after \(deadline.formattedSeconds) was interrupted, and "
                    + "rolled back: \(interrupted.joined(separator: ", "))")
        }
    }

    /// Closes the database, when what keeps it open has ended.
    private func closePatiently(_ closing: Closing) throws {
        // What is freed with those who listen may want an access: it is freed outside of ours.
        _ = writer.inside { db -> [AnyObject] in
            closing.hasWriter.withLock { $0 = true }
            db.access.reopen()
            db.updateObstruction()
            // Nothing is written any more. Who follows changes keeps nothing open from now on.
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

    /// The accesses that are running, as others may know them.
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

    /// Runs a function for each connection, but for the one that writes where only we do so.
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

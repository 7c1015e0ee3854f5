/// A connection, and the line in front of it: one access at a time.
///
/// The life of an asynchronous access: its task makes a ``Ticket``, enters the line, and goes to
/// the connection's ``AccessActor``. When its turn comes, its function runs there. Cancelling the
/// task before that takes the ticket out of the line. Cancelling it later interrupts its
/// statements. The ticket's lock guards this decision, so the interrupt never hits a statement of a
/// later access.
struct SerialConnection: Sendable {
    let database: Database
    let line: AccessLine
    /// Extra work around the accesses of a pool's writer.
    let attendant: WriterAttendant?
    /// The only actor, as an array.
    private let actors: [AccessActor]

    init(_ database: Database, attendant: WriterAttendant? = nil) {
        self.database = database
        self.attendant = attendant
        line = AccessLine()
        actors = [AccessActor(label: "Shellac.\(database.description)")]
    }

    /// Creates the same connection for internal accesses, without extra work around them.
    private init(unattended connection: SerialConnection) {
        (database, line, actors) = (connection.database, connection.line, connection.actors)
        attendant = nil
    }

    var unattended: SerialConnection { SerialConnection(unattended: self) }

    // MARK: - Threads

    /// Runs a function with the access, and then ends the access: no transaction is left open.
    @inline(__always)
    func access<T>(
        at site: CallSite, priority: WritePriority = .normal, _ body: (Database) throws -> T
    ) throws -> T {
        if database.group.needsAttention { return try attendedAccess(at: site, priority, body) }
        return try inside(priority: priority) { db in try db.wholeAccess(body) }
    }

    @inline(never)
    private func attendedAccess<T>(
        at site: CallSite, _ priority: WritePriority, _ body: (Database) throws -> T
    ) throws -> T {
        let measure = try database.group.attend(database.description, at: site)
        return try measure.telling {
            try inside(priority: priority) { db in
                measure?.begin(db.name, occupancy)
                defer { measure?.end() }
                return try db.wholeAccess(body)
            }
        }
    }

    /// The usage of the connection while an access has it.
    private var occupancy: ConnectionOccupancy {
        ConnectionOccupancy(used: 1, maximum: 1, waiting: line.waitingCount)
    }

    /// Runs a function while no other access runs.
    @inline(__always)
    func inside<T>(priority: WritePriority = .normal, _ body: (Database) throws -> T) rethrows -> T {
        checkReentrance()
        line.enter(priority)
        begin()
        defer { end() }
        return try body(database)
    }

    /// Runs a function while no other access runs. If one is running already, the function is not
    /// called.
    func insideIfFree(_ body: (Database) -> Void) {
        checkReentrance()
        guard line.enterIfFree() else { return }
        begin()
        defer { end() }
        body(database)
    }

    /// Traps if the running thread has the access already, and would wait for itself.
    @inline(__always)
    func checkReentrance() { if database.isAccessed { trapReentrance() } }

    @inline(__always)
    private func begin() {
        database.takeAccess()
        if let attendant { attendant.accessWillBegin() }
    }

    @inline(__always)
    private func end() {
        if let attendant { attendant.accessDidEnd(database) }
        database.releaseAccess()
        line.leave()
    }

    @inline(never)
    private func trapReentrance() -> Never {
        database.reporter?.checkOutside()
        Misuse.trap(
            "the database \(database.description) was accessed from inside an access to it, and the access "
                + "would wait for itself. Pass the Database on to the functions that need it, or use "
                + "unsafeReentrantWrite or unsafeReentrantRead.")
    }

    // MARK: - Tasks

    /// Runs a function with the access, and then ends the access: no transaction is left open.
    ///
    /// The callers, which the compiler checks, have been sent the function, and send its result.
    ///
    /// - Parameters:
    ///   - site: The call site.
    ///   - priority: The priority among the waiting accesses.
    ///   - cancel: Called, too, when the task is cancelled.
    ///   - body: The function that runs in the access.
    nonisolated(nonsending) func run<T>(
        at site: CallSite, priority: WritePriority = .normal,
        alsoOnCancel cancel: @escaping @Sendable () -> Void = {},
        _ body: @escaping (Database) throws -> T
    ) async throws -> sending T {
        let measure = try database.group.attention(database.description, at: site)
        let work = AccessWork(body)
        let ticket = Ticket(priority)
        await withTaskCancellationHandler {
            line.enter(ticket)
            await AccessActor.run(ticket, in: actors) { _ in
                begin()
                measure?.begin(database.name, occupancy)
                work.run(ticket, on: database)
                measure?.end()
                end()
            }
        } onCancel: {
            line.cancel(ticket) { database.cancel() }
            cancel()
        }
        return try work.takeResult(measure).get()
    }
}

// MARK: - Accesses of queues and pools

extension SerialConnection {
    @inline(__always)
    func write<T>(
        at site: CallSite, priority: WritePriority, _ updates: (Database) throws -> T
    ) throws -> T {
        try access(at: site, priority: priority) { db in
            try db.transaction(nil) { (try updates(db), .commit) }
        }
    }

    nonisolated(nonsending) func write<T>(
        at site: CallSite, priority: WritePriority, _ updates: @escaping (Database) throws -> T
    ) async throws -> sending T {
        try await run(at: site, priority: priority) { db in
            try db.transaction(nil) { (try updates(db), .commit) }
        }
    }

    func reentrantWrite<T>(at site: CallSite, _ updates: (Database) throws -> T) throws -> T {
        database.isAccessed ? try updates(database) : try access(at: site, updates)
    }

    /// Runs a function later with the access: the caller does not wait. The access is in line when
    /// this returns.
    ///
    /// - Parameters:
    ///   - site: The call site.
    ///   - owner: The owner of the connection.
    ///   - body: The function that runs in the access.
    func later(at site: CallSite, for owner: any AnyObject & Sendable, _ body: @escaping LaterWork.Body) {
        let work = LaterWork(for: owner, body)
        let measure: AccessMeasure?
        do { measure = try database.group.attention(database.description, at: site) } catch {
            return AccessActor.fail(work, error)
        }
        let ticket = Ticket()
        let carried = database.configuration.taskContext?()
        line.enter(ticket)
        AccessActor.begin(work) {
            await AccessActor.run(ticket, in: actors) { _ in
                begin()
                measure?.begin(database.name, occupancy)
                database.giveAccess(carried, work.run)
                measure?.end()
                end()
            }
            measure?.tellElsewhere()
        }
    }

    /// Runs a function later with the access, even if the access is refused. Then the function gets
    /// the error, and the connection as it is: a closed one throws.
    func laterEvenIfRefused(
        at site: CallSite, for owner: any AnyObject & Sendable,
        _ body: @escaping @Sendable (Database, _ refusal: (any Error)?) -> Void
    ) {
        later(at: site, for: owner) { result in
            switch result {
            case .success(let db): body(db, nil)
            case .failure(let error) where self.database.isAccessed: body(self.database, error)
            case .failure(let error):
                self.inside { db in
                    body(db, error)
                    try? db.endAccess()
                }
            }
        }
    }
}

extension Result<Database, any Error> {
    /// Passes the connection to a function, inside of a scope. If there is no connection, or the
    /// scope has not begun, the function gets the error.
    ///
    /// Later errors are dropped: the caller has already returned.
    func give(
        _ value: @escaping (Self) -> Void, inside body: (Database, (Database) -> Void) throws -> Void
    ) {
        var hasBegun = false
        do {
            try body(get()) { db in
                hasBegun = true
                value(.success(db))
            }
        } catch {
            if !hasBegun { value(.failure(error)) }
        }
    }

    /// Passes the connection on in a read-only transaction.
    func giveReading(_ value: @escaping (Self) -> Void) {
        give(value) { db, body in try db.readTransaction(body) }
    }

    /// Passes the connection on in a read-only scope.
    func giveReadOnly(_ value: @escaping (Self) -> Void) {
        give(value) { db, body in db.readOnly { body(db) } }
    }
}

extension Database {
    /// Traps inside of a transaction, whose changes no other connection could read.
    func checkConcurrentRead() {
        checkAccess()
        if isInsideTransaction {
            Misuse.trap(
                "spawnConcurrentRead was called inside of a transaction: no other connection can read what "
                    + "is not committed yet. Call it in writeWithoutTransaction, before the transaction or "
                    + "after it.")
        }
    }

    /// Passes the connection on in an access, with the values that are carried along.
    func giveAccess(
        _ carried: Configuration.TaskContext?, _ body: @escaping (Result<Database, any Error>) -> Void
    ) {
        func run() { Result.success(self).give(body) { db, body in try db.wholeAccess(body) } }
        if let carried { carried(run) } else { run() }
    }
}

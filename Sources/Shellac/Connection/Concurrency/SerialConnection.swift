/// A connection, and the line in front of it: one access at a time.
///
/// The life of an asynchronous access: its task makes a ``Ticket``, enters the line, and goes to the connection's
/// ``AccessActor``. When its turn comes, its work is done there. Cancelling the task before that takes the ticket out of the line.
/// Cancelling it while the work is done interrupts its statements: this is decided under the ticket's lock, so that no statement
/// of a later access is ever hit.
struct SerialConnection: Sendable {
    let database: Database
    let line: AccessLine
    /// What is done around the accesses of a pool's writer.
    let attendant: WriterAttendant?
    /// The only one.
    private let actors: [AccessActor]

    init(_ database: Database, attendant: WriterAttendant? = nil) {
        self.database = database
        self.attendant = attendant
        line = AccessLine()
        actors = [AccessActor(label: "Shellac.\(database.description)")]
    }

    /// The same connection, for accesses of ours around which nothing is done.
    private init(unattended connection: SerialConnection) {
        (database, line, actors) = (connection.database, connection.line, connection.actors)
        attendant = nil
    }

    var unattended: SerialConnection { SerialConnection(unattended: self) }

    // MARK: - Threads

    /// Runs a function with the access, and ends the access properly.
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

    /// How it is used by who has the access.
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

    /// Runs a function while no other access runs, unless another one runs already.
    func insideIfFree(_ body: (Database) -> Void) {
        checkReentrance()
        guard line.enterIfFree() else { return }
        begin()
        defer { end() }
        body(database)
    }

    /// Traps where the running thread has the access, and would wait for itself.
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
            "the database \(database.description) was accessed from inside an access to it, which would wait "
                + "for itself. Pass the Database on to the functions that need it, "
                + "or use unsafeReentrantWrite or unsafeReentrantRead.")
    }

    // MARK: - Tasks

    /// Runs a function with the access, and ends the access properly.
    ///
    /// The callers, which the compiler checks, have been sent the function, and it sends its result.
    ///
    /// - Parameters:
    ///   - site: Who asks.
    ///   - priority: Who goes first, of those who wait.
    ///   - cancel: Called, too, when the task is cancelled.
    ///   - body: What is done in the access.
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

// MARK: - What queues and pools do with it

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

    /// Runs a function with the access, later: whoever calls does not wait. They stand in line when this returns.
    ///
    /// - Parameters:
    ///   - site: Who asks.
    ///   - owner: Who owns the connection.
    ///   - body: What is done in the access.
    func later(at site: CallSite, for owner: any AnyObject & Sendable, _ body: @escaping LaterWork.Body) {
        let work = LaterWork(for: owner, body)
        let measure: AccessMeasure?
        do { measure = try database.group.attention(database.description, at: site) } catch {
            return AccessActor.fail(work, error)
        }
        let ticket = Ticket()
        let carried = database.configuration.carry?()
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

    /// Runs a function with the access, later, also where that is refused. Then it gets the error, and the connection as it is: one
    /// that is closed throws.
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
    /// Hands the connection to a function that wants to hear why there is none, or why what it is handed over in has not begun.
    ///
    /// An error of a later time has nobody to hear of it.
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

    /// Hands the connection over in a transaction that only reads.
    func giveReading(_ value: @escaping (Self) -> Void) {
        give(value) { db, body in try db.readTransaction(body) }
    }

    /// Hands the connection over to who only reads.
    func giveReadOnly(_ value: @escaping (Self) -> Void) {
        give(value) { db, body in db.readOnly { body(db) } }
    }
}

extension Database {
    /// Traps unless somebody who writes may have others read what is committed.
    func checkConcurrentRead() {
        checkAccess()
        if isInsideTransaction {
            Misuse.trap(
                "spawnConcurrentRead was called inside of a transaction: what is not committed yet can be read by nobody else. "
                    + "Call it in writeWithoutTransaction, before the transaction or after it.")
        }
    }

    /// Hands the connection over in an access, with the values that are carried along.
    func giveAccess(
        _ carried: Configuration.Carried?, _ body: @escaping (Result<Database, any Error>) -> Void
    ) {
        func run() { Result.success(self).give(body) { db, body in try db.wholeAccess(body) } }
        if let carried { carried(run) } else { run() }
    }
}

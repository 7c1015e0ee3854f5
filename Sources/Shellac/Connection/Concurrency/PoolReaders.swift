// The reader connections of a pool or a snapshot, each of which serves one read at a time.

import Synchronization

/// The readers of a pool: connections that are opened when they are needed, and one line in front
/// of all of them.
///
/// The life of a read: it waits for a *place*, and then has it for itself. The place has a
/// connection, or opens one. The read runs in one transaction, and so sees one state. Then the next
/// read in line gets the place.
final class PoolReaders: Sendable {
    /// A place for one read at a time, and its connection.
    final class Place: @unchecked Sendable {  // `database` belongs to the access that has the place
        /// The connection, once it was needed.
        @exclusivity(unchecked) fileprivate var database: Database? {
            didSet {
                // The old one is freed outside of the lock: objects of the user are freed with it,
                // and they may interrupt the readers.
                let old = shared.withLock { shared in
                    defer { shared = database }
                    return shared
                }
                withExtendedLifetime(old) {}
            }
        }
        /// The same connection, for threads that interrupt it.
        fileprivate let shared = Lock<Database?>(nil)
        /// Whether the connection must be replaced.
        fileprivate let isOutdated = Atomic<Bool>(false)
        let activity: ConnectionActivity
        fileprivate let actor: AccessActor

        init(_ activity: ConnectionActivity) {
            self.activity = activity
            actor = AccessActor(label: "Shellac.\(activity.label)")
        }

        /// Takes the connection away from the place.
        fileprivate func takeDatabase() -> Database? {
            defer { database = nil }
            return database
        }

        /// Closes the connection. Nothing else refers to the pool any more.
        fileprivate func giveUp() { takeDatabase()?.giveUp() }

        deinit { giveUp() }
    }

    let line: ReaderLine
    let places: [Place]
    private let actors: [AccessActor]
    private let opening: ReaderOpening
    /// Whether no connection may be opened any more. It is set while all places are claimed.
    let isClosed: Atomic<Bool>

    private init(_ opening: ReaderOpening, _ places: [Place], isClosed: Bool) {
        (self.opening, self.places) = (opening, places)
        self.isClosed = Atomic(isClosed)
        actors = places.map(\.actor)
        line = ReaderLine(placeCount: places.count)
        for place in places { opening.group.add(place.activity) }
    }

    convenience init(_ opening: ReaderOpening, count: Int) {
        let places = (1...min(max(1, count), FreePlaces.most)).map { number in
            Place(ConnectionActivity(label: "\(opening.description).reader.\(number)"))
        }
        self.init(opening, places, isClosed: false)
    }

    /// The readers of a snapshot: connections that are open, and keep their state.
    convenience init(_ opening: ReaderOpening, keeping databases: [(Database, ConnectionActivity)]) {
        let places = databases.map { database, activity in
            let place = Place(activity)
            place.database = database
            return place
        }
        self.init(opening, places, isClosed: true)
    }

    // MARK: - Threads

    /// Runs a function with the access to a reader, and then ends the access: no transaction is
    /// left open.
    @inline(__always)
    func access<T>(at site: CallSite, _ body: (Database) throws -> T) throws -> T {
        if opening.group.needsAttention { return try attendedAccess(at: site, body) }
        return try inside { _ in
        } body: { db in
            try db.wholeAccess(body)
        }
    }

    @inline(never)
    private func attendedAccess<T>(at site: CallSite, _ body: (Database) throws -> T) throws -> T {
        let measure = try opening.group.attend(opening.description, at: site)
        return try measure.telling {
            try inside {
                measure?.begin($0.activity.label, line.occupancy)
            } body: { db in
                defer { measure?.end() }
                return try db.wholeAccess(body)
            }
        }
    }

    /// Runs a function with the access to a reader.
    @inline(__always)
    private func inside<T>(_ enter: (Place) -> Void, body: (Database) throws -> T) throws -> T {
        if hasThisThread { trapReentrance() }
        let number = line.enter()
        defer { line.leave(number) }
        let place = places[number]
        place.activity.begin()
        defer { place.activity.end() }
        enter(place)
        return try connection(of: place).withAccess(body)
    }

    /// Whether the running thread reads.
    var hasThisThread: Bool { places.contains { $0.activity.isOfThisThread } }

    /// Runs a function with the reader that the running thread has access to. Returns nil if there
    /// is none.
    func reenter<T>(_ body: (Database) throws -> T) throws -> T? {
        guard let place = places.first(where: { $0.activity.isOfThisThread }), let database = place.database
        else { return nil }
        return try body(database)
    }

    @inline(never)
    private func trapReentrance() -> Never {
        opening.group.reporter?.checkOutside()
        Misuse.trap(
            "the database \(opening.description) was read from inside a read of it. As soon as all readers "
                + "do so, each read waits for its own end. Pass the Database on to the functions that need it, "
                + "or use unsafeReentrantRead.")
    }

    // MARK: - Tasks

    /// Runs a function with the access to a reader, and then ends the access: no transaction is
    /// left open.
    nonisolated(nonsending) func run<T>(
        at site: CallSite, _ body: @escaping (Database) throws -> T
    ) async throws -> sending T {
        let measure = try opening.group.attention(opening.description, at: site)
        let work = AccessWork(body)
        let ticket = Ticket()
        let running = Lock<Database?>(nil)
        await withTaskCancellationHandler {
            line.enter(ticket)
            await self.perform(ticket, measure) { place in
                do {
                    let database = try self.connection(of: place)
                    running.withLock { $0 = database }
                    database.withAccess { work.run(ticket, on: $0) }
                } catch {
                    work.fail(error, ticket)
                }
            }
        } onCancel: {
            line.cancel(ticket) { running.withLock { $0 }?.cancel() }
        }
        return try work.takeResult(measure).get()
    }

    /// Runs a function when the turn of a ticket comes, which is in line already.
    private nonisolated(nonsending) func perform(
        _ ticket: Ticket, _ measure: AccessMeasure?, _ work: @escaping @Sendable (Place) -> Void
    ) async {
        await AccessActor.run(ticket, in: actors) { self.use($0, measure, work) }
    }

    private func use(_ number: Int, _ measure: AccessMeasure?, _ work: (Place) -> Void) {
        let place = places[number]
        place.activity.begin()
        measure?.begin(place.activity.label, line.occupancy)
        work(place)
        measure?.end()
        place.activity.end()
        line.leave(number)
    }

    /// Runs a function later with the access to a reader: the caller does not wait. The access is
    /// in line when this returns.
    func later(at site: CallSite, for owner: any AnyObject & Sendable, _ body: @escaping LaterWork.Body) {
        let work = LaterWork(for: owner, body)
        let measure: AccessMeasure?
        do { measure = try opening.group.attention(opening.description, at: site) } catch {
            return AccessActor.fail(work, error)
        }
        let ticket = Ticket()
        let carried = opening.configuration.taskContext?()
        line.enter(ticket)
        AccessActor.begin(work) {
            await self.perform(ticket, measure) { place in
                do {
                    try self.connection(of: place).withAccess { $0.giveAccess(carried, work.run) }
                } catch {
                    work.run(.failure(error))
                }
            }
            measure?.tellElsewhere()
        }
    }

    /// Fixes the present state in a reader, and runs a function with it later.
    func laterFromNow(
        at site: CallSite, for owner: any AnyObject & Sendable, _ body: @escaping LaterWork.Body
    ) {
        // (The caller is a running write, which goes on. So nothing refuses this read.)
        let measure = opening.group.reporter.map { AccessMeasure($0, site, opening.description) }
        let carried = opening.configuration.taskContext?()
        let number = line.enter()
        let place = places[number]
        place.activity.begin()
        do {
            try connection(of: place).withAccess { db in
                do { try db.beginState() } catch {
                    if db.isInsideTransaction { try? db.rollback() }
                    throw error
                }
            }
        } catch {
            place.activity.end()
            line.leave(number)
            measure?.note(error)
            measure?.tellElsewhere()
            return body(.failure(error))
        }
        place.activity.leave()
        let work = LaterWork(for: owner, body)
        AccessActor.begin(work) {
            await place.actor.run {
                self.use(number, measure) { place in
                    place.database?.withAccess { $0.giveState(carried, work.run) }
                }
            }
            measure?.tellElsewhere()
        }
    }

    // MARK: - Connections

    /// Returns the connection of a place, which is opened if there is none.
    @inline(__always)
    private func connection(of place: Place) throws -> Database {
        if let database = place.database, !place.isOutdated.load(ordering: .relaxed) { return database }
        return try open(place)
    }

    @inline(never)
    private func open(_ place: Place) throws -> Database {
        if isClosed.load(ordering: .relaxed) { throw opening.closedError }
        place.isOutdated.store(false, ordering: .relaxed)
        // One of its statements may still be in use: it keeps the connection alive, but not the
        // place.
        place.takeDatabase()?.giveUp()
        let database = try opening.open(place.activity)
        place.database = database
        return database
    }

    /// Closes the connection of a place.
    private func drop(_ place: Place) throws {
        try place.database?.withAccess { try $0.close() }
        place.database = nil
    }

    /// Makes connections reopen: unused ones are closed at once, the others are replaced at their
    /// next use.
    func invalidate() {
        for place in places { place.isOutdated.store(true, ordering: .sequentiallyConsistent) }
        closeFree()
    }

    /// Closes the connections that are not in use.
    ///
    /// No place is held meanwhile: objects that are freed with a connection may read.
    private func closeFree() {
        var databases: [Database] = []
        forEachFree { place in
            if let database = place.takeDatabase() { databases.append(database) }
        }
        for database in databases { database.giveUp() }
    }

    /// Runs a function for each place that is not in use.
    func forEachFree(_ body: (Place) -> Void) {
        var taken: [Int] = []
        while let place = line.enterIfFree() { taken.append(place) }
        for place in taken.reversed() {
            body(places[place])
            line.leave(place)
        }
    }

    /// Frees memory of the connections that are not in use.
    func releaseMemory(keepingConnections: Bool) {
        if !keepingConnections { return closeFree() }
        forEachFree { place in
            place.database?.withAccess { $0.releaseMemory() }
        }
    }

    /// Closes all connections for good. The caller has all places.
    ///
    /// - Throws: The error of the first one that cannot be closed. All of them are open then: the
    ///   state that a snapshot's connection sees could not be restored.
    func close() throws {
        for place in places { try place.database?.withAccess { try $0.checkClosing() } }
        for place in places { try drop(place) }
        isClosed.store(true, ordering: .sequentiallyConsistent)
    }

    /// Closes all connections even if statements are in use. Nothing else refers to the connections
    /// any more.
    func giveUp() { for place in places { place.giveUp() } }

    /// Reverts `close()`, as the writer could not be closed.
    func reopen() { isClosed.store(false, ordering: .sequentiallyConsistent) }

    /// Interrupts the reads that are running.
    func interrupt() {
        for place in places { place.shared.withLock { $0 }?.interruptFromOutside() }
    }
}

extension Database {
    /// Runs a function in the open transaction, and then ends that.
    fileprivate func giveState(
        _ carried: Configuration.TaskContext?, _ body: @escaping (Result<Database, any Error>) -> Void
    ) {
        giveAccess(carried) { result in
            guard let db = try? result.get() else { return body(result) }
            db.readOnly { body(.success(db)) }
            try? db.rollback()
        }
    }
}

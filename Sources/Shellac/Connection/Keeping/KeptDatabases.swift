// The databases of a keeper, and the requests that wait for them: which one is opened or closed
// next.

/// The state of a ``DatabaseKeeper``, which its lock guards. It decides, and does not open or close
/// anything itself.
///
/// The life of a key: its first request gets an entry that is *opening*. If there is no room, it
/// waits in line, or it has to close the least recently used of the unused databases. When the
/// database is *open*, all requests for it are granted. An entry that is *closing* to make room
/// does not count, since the other database is opened only after that. Requests for a key whose
/// entry is opening or closing wait with the entry. Each change grants what it makes possible.
struct KeptDatabases<Key: Hashable & Sendable, Writer: DatabaseWriter> {
    typealias Waiter = KeeperWaiter<Key, Writer>

    private enum Phase {
        case opening
        case open(Writer)
        /// Someone wants to close the database, and waits for its uses to end.
        case leaving(Writer)
        /// Someone closes the database. If that is to make room, another one has its room already.
        case closing(Writer, makesRoom: Bool)
        /// The database is closed, and its key is kept for a while.
        case closed
    }
    private struct Entry {
        var phase: Phase
        var useCount = 0
        /// The time of the end of the last use.
        var lastUse: UInt64 = 0
        var waiters: [Waiter] = []

        /// The database, if it is open and unused.
        var idle: Writer? { if case .open(let writer) = phase, useCount == 0 { writer } else { nil } }
        var isOpen: Bool {
            switch phase {
            case .open, .leaving: true
            case .opening, .closing, .closed: false
            }
        }
        var takesRoom: Bool {
            switch phase {
            case .opening, .open, .leaving, .closing(_, makesRoom: false): true
            case .closing(_, makesRoom: true), .closed: false
            }
        }
        /// Whether room comes by itself when a use or an opening ends.
        var isBusy: Bool { takesRoom && idle == nil }
    }
    /// Room for one more database.
    private struct Room {
        /// The database to close before.
        let victim: Key?
    }
    /// The next step of a waiter that could not close a database to make room.
    enum NextStep {
        /// The waiter opens its database, after it has closed another one.
        case open(closing: Key?)
        /// The waiter is in line again.
        case wait
        /// All databases are unused, and none can be closed.
        case fail(any Error)
    }

    let maximumCount: Int
    private var entries: [Key: Entry] = [:]
    /// The keys without an entry that requests wait for, in the order of their first request.
    private var line: [Key] = []
    private var pending: [Key: [Waiter]] = [:]
    private var clock: UInt64 = 0
    /// The error of new requests if the keeper is closed.
    private var refusal: (any Error)?
    /// The waiters to wake outside of the lock.
    private var woken: [(Waiter, CheckedContinuation<Void, Never>?)] = []

    init(maximumCount: Int) { self.maximumCount = maximumCount }

    // MARK: - Reading

    /// The keys of the open databases, the least recently used first, and those in use last.
    var openKeys: [Key] {
        entries.filter(\.value.isOpen).sorted {
            ($0.value.useCount > 0 ? 1 : 0, $0.value.lastUse) < (
                $1.value.useCount > 0 ? 1 : 0, $1.value.lastUse
            )
        }.map(\.key)
    }
    var keys: [Key] { Array(entries.keys) }
    /// The number of requests that wait, in line and for a database that is opened or closed.
    var waiterCount: Int { (pending.values.map(\.count) + entries.values.map(\.waiters.count)).reduce(0, +) }

    /// Takes the waiters that have got an outcome.
    mutating func takeWoken() -> [(Waiter, CheckedContinuation<Void, Never>?)] {
        defer { woken = [] }
        return woken
    }

    // MARK: - Requests

    /// Grants a request, or lets it wait.
    mutating func place(_ waiter: Waiter) {
        if let refusal, waiter.purpose == .use { return end(waiter, .failure(refusal)) }
        let key = waiter.key
        if entries[key] != nil { return join(waiter) }
        if waiter.purpose == .close {
            entries[key] = Entry(phase: .closed)
            return end(waiter, .close)
        }
        if line.isEmpty, let room = takeRoom() {
            entries[key] = Entry(phase: .opening)
            return end(waiter, .open(closing: room.victim))
        }
        if waiter.isLate { return end(waiter, .failure(lateness(of: waiter))) }
        if pending[key] == nil { line.append(key) }
        pending[key, default: []].append(waiter)
    }

    /// Grants a request for a key that has an entry, or lets it wait there.
    private mutating func join(_ waiter: Waiter) {
        guard var entry = entries.removeValue(forKey: waiter.key) else { return }
        defer { entries[waiter.key] = entry }
        guard case .open(let writer) = entry.phase else { return entry.waiters.append(waiter) }
        if waiter.purpose == .use {
            entry.useCount += 1
            end(waiter, .use(writer))
        } else if entry.useCount == 0 {
            entry.phase = .closing(writer, makesRoom: false)
            end(waiter, .close)
        } else if waiter.isLate {
            end(waiter, .failure(lateness(of: waiter)))
        } else {
            entry.phase = .leaving(writer)
            entry.waiters.append(waiter)
        }
    }

    private mutating func end(_ waiter: Waiter, _ outcome: Waiter.Outcome) {
        waiter.outcome = outcome
        woken.append((waiter, waiter.continuation))
        waiter.continuation = nil
    }

    /// Notes that the time of a request is over. It fails, unless its database is being opened or
    /// closed at this moment.
    mutating func timeOut(_ waiter: Waiter) {
        waiter.isLate = true
        guard waiter.outcome == nil else { return }
        let isInLine = pending[waiter.key]?.contains { $0 === waiter } ?? false
        var waitsForUses = false
        if case .leaving? = entries[waiter.key]?.phase { waitsForUses = waiter.purpose == .close }
        if isInLine || waitsForUses { leave(waiter, lateness(of: waiter)) }
    }

    /// Takes a request out of wherever it waits.
    mutating func leave(_ waiter: Waiter, _ error: any Error) {
        guard waiter.outcome == nil else { return }
        let key = waiter.key
        pending[key]?.removeAll { $0 === waiter }
        if pending[key]?.isEmpty ?? false {
            pending[key] = nil
            line.removeAll { $0 == key }
        }
        entries[key]?.waiters.removeAll { $0 === waiter }
        end(waiter, .failure(error))
        if let entry = entries[key], case .leaving(let writer) = entry.phase,
            !entry.waiters.contains(where: { $0.purpose == .close })
        {
            open(key, writer)
        }
        serve()
    }

    private func lateness(of waiter: Waiter) -> any Error {
        DatabaseError(
            resultCode: .SQLITE_BUSY,
            message: waiter.purpose == .close
                ? "the database of \(waiter.key) cannot be closed: it is still in use"
                : "the database of \(waiter.key) cannot be opened: \(maximumCount) databases are in use, as "
                    + "many as their keeper allows")
    }

    // MARK: - Room

    /// Finds room for another database, if need be in the place of an unused one. Returns nil if
    /// there is none.
    private mutating func takeRoom(besides tried: Set<Key> = []) -> Room? {
        if entries.count(where: \.value.takesRoom) < maximumCount { return Room(victim: nil) }
        return takeVictim(besides: tried).map { Room(victim: $0) }
    }

    /// Chooses the least recently used of the unused databases, to be closed for another one.
    mutating func takeVictim(besides tried: Set<Key>) -> Key? {
        let idle = entries.filter { $0.value.idle != nil && !tried.contains($0.key) }
        guard let (victim, entry) = idle.min(by: { $0.value.lastUse < $1.value.lastUse }),
            let writer = entry.idle
        else { return nil }
        entries[victim]?.phase = .closing(writer, makesRoom: true)
        return victim
    }

    /// Grants the requests in line for which there is room.
    private mutating func serve() {
        while let key = line.first {
            if entries[key] != nil {
                line.removeFirst()
                for waiter in pending.removeValue(forKey: key) ?? [] { join(waiter) }
                continue
            }
            guard let room = takeRoom() else { return }
            line.removeFirst()
            var waiters = pending.removeValue(forKey: key) ?? []
            let opener = waiters.removeFirst()
            entries[key] = Entry(phase: .opening, waiters: waiters)
            end(opener, .open(closing: room.victim))
        }
    }

    // MARK: - Ends

    mutating func didEndUse(of key: Key) {
        clock += 1
        guard var entry = entries.removeValue(forKey: key) else { return }
        entry.useCount -= 1
        entry.lastUse = clock
        if entry.useCount == 0, case .leaving(let writer) = entry.phase,
            let index = entry.waiters.firstIndex(where: { $0.purpose == .close })
        {
            entry.phase = .closing(writer, makesRoom: false)
            end(entry.waiters.remove(at: index), .close)
        }
        entries[key] = entry
        serve()
    }

    /// Notes the result of opening a database, which its opener uses at once.
    mutating func didOpen(_ key: Key, _ result: Result<Writer, any Error>) {
        switch result {
        case .success(let writer):
            entries[key]?.useCount = 1
            open(key, writer)
        case .failure(let error):
            let waiters = entries.removeValue(forKey: key)?.waiters ?? []
            for waiter in waiters {
                if waiter.purpose == .use { end(waiter, .failure(error)) } else { place(waiter) }
            }
        }
        serve()
    }

    /// Makes a database available to the requests that wait for it.
    private mutating func open(_ key: Key, _ writer: Writer) {
        clock += 1
        entries[key]?.phase = .open(writer)
        entries[key]?.lastUse = clock
        let waiters = entries[key]?.waiters ?? []
        entries[key]?.waiters = []
        for waiter in waiters { join(waiter) }
    }

    /// The database that is about to be closed.
    func closingWriter(of key: Key) -> Writer? {
        if case .closing(let writer, _)? = entries[key]?.phase { writer } else { nil }
    }

    /// Notes that a database is closed. Its key is kept until `giveUp(_:)`.
    mutating func didClose(_ key: Key) {
        entries[key]?.phase = .closed
        serve()
    }

    /// Removes the entry of a database that is closed.
    mutating func giveUp(_ key: Key) {
        let waiters = entries.removeValue(forKey: key)?.waiters ?? []
        for waiter in waiters { place(waiter) }
        serve()
    }

    /// Notes that a database could not be closed. It stays open.
    mutating func couldNotClose(_ key: Key, _ writer: Writer) {
        open(key, writer)
        serve()
    }

    /// Finds the next step of a waiter that could not close databases to make room for its own.
    ///
    /// - Parameters:
    ///   - waiter: The waiter, whose entry is opening.
    ///   - tried: The databases that could not be closed.
    ///   - error: The error of the last one.
    mutating func nextStep(
        of waiter: Waiter, after tried: Set<Key>, _ error: any Error
    ) -> NextStep {
        // Its own entry takes no room while it looks for some.
        let key = waiter.key
        let waiters = entries.removeValue(forKey: key)?.waiters ?? []
        if let room = takeRoom(besides: tried) {
            entries[key] = Entry(phase: .opening, waiters: waiters)
            return .open(closing: room.victim)
        }
        let users = waiters.filter { $0.purpose == .use }
        defer { for closer in waiters where closer.purpose == .close { place(closer) } }
        guard entries.contains(where: \.value.isBusy) else {
            for user in users { end(user, .failure(error)) }
            return .fail(error)
        }
        for user in users where user.isLate { end(user, .failure(lateness(of: user))) }
        var waiting = users.filter { !$0.isLate }
        if !waiter.isLate { waiting.insert(waiter, at: 0) }
        if !waiting.isEmpty {
            line.insert(key, at: 0)
            pending[key] = waiting
        }
        if waiter.isLate { return .fail(lateness(of: waiter)) }
        waiter.outcome = nil
        return .wait
    }

    // MARK: - The end

    /// Refuses new requests, and those in line, with an error.
    mutating func refuse(_ error: any Error) {
        refusal = error
        let waiters = pending.values.flatMap { $0 }
        (line, pending) = ([], [:])
        for waiter in waiters { end(waiter, .failure(error)) }
    }

    mutating func acceptAgain() { refusal = nil }
}

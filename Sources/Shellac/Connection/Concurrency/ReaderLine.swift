// The waiting line for a pool's reader slots, with claims on all of them for barriers.

import CSQLite

/// The line in front of a pool's readers: as many accesses at a time as there are places, in the order of arrival.
///
/// Who finds a free place gets in with one atomic operation: see ``FreePlaces``. Whoever waits for all places gets them before
/// those who wait for one.
final class ReaderLine: Sendable {
    private struct State {
        var waiting = WaitingLine<LineWaiter>()
        /// Who has all places, or waits for them.
        var claim: Claim?
        /// Those who want all places afterwards.
        var nextClaims: [Claim] = []
        var isClaimed: Bool { claim != nil }
    }

    /// Somebody who wants all places.
    final class Claim: @unchecked Sendable {  // what changes is touched under the lock of the line
        fileprivate let sleeper = Sleeper()
        /// The thread that wants them.
        fileprivate var thread: UInt = 0
        fileprivate var isGranted = false
        fileprivate var isCancelled = false
    }
    private let state = Lock(State())
    private let free: FreePlaces
    private let placeCount: Int

    init(placeCount: Int) {
        self.placeCount = placeCount
        free = FreePlaces(count: placeCount)
    }

    /// Runs a function under the lock, with the places that are free. Who comes and goes meanwhile, or as long as somebody waits
    /// afterwards, comes through this lock.
    private func locked<Result>(_ body: (inout State, inout PlaceSet) -> Result) -> Result {
        state.withLock { state in
            var places = free.guarded()
            defer { free.set(places, isGuarded: state.isClaimed || !state.waiting.isEmpty) }
            return body(&state, &places)
        }
    }

    /// How many wait for a place.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// How the places are used.
    var occupancy: ConnectionOccupancy {
        locked { state, free in
            ConnectionOccupancy(
                used: placeCount - free.count, maximum: placeCount, waiting: state.waiting.count)
        }
    }

    /// Whether somebody has all places, or waits for them.
    var isClaimed: Bool { state.withLock { $0.isClaimed } }

    /// Waits for a place.
    @inline(__always)
    func enter() -> Int { free.take() ?? wait() }

    @inline(never)
    private func wait() -> Int {
        var sleeper: Sleeper?
        let place = locked { state, free -> Int? in
            if let place = Self.takePlace(state, &free) { return place }
            if state.claim?.thread == shellac_thread() { Self.trapBehindBarrier() }
            let new = Sleeper()
            sleeper = new
            state.waiting.append(.sleeper(new))
            return nil
        }
        return place ?? sleeper?.sleep() ?? 0
    }

    /// Takes a place, unless somebody would have to wait for it.
    func enterIfFree() -> Int? { free.take() }

    /// Puts a ticket in line. Its task waits for its turn afterwards: see ``Ticket/turn()``.
    func enter(_ ticket: Ticket) {
        locked { state, free in
            guard ticket.wait() else { return }
            if let place = Self.takePlace(state, &free) {
                _ = ticket.grant(place)
            } else {
                state.waiting.append(.ticket(ticket))
            }
        }
    }

    /// Cancels a ticket: takes it out of the line, or interrupts its work.
    func cancel(_ ticket: Ticket, interrupt: () -> Void) {
        let continuation = locked { state, _ in
            let (hasLeft, continuation) = ticket.cancel(interrupt)
            if hasLeft { state.waiting.noteLeaving() }
            return continuation
        }
        continuation?.resume()
    }

    /// Gives a place to the first in line.
    @inline(__always)
    func leave(_ place: Int) { if !free.giveBack(place) { handOver(place) } }

    @inline(never)
    private func handOver(_ place: Int) {
        let next = locked { state, free -> LineWakeUp? in
            if !state.isClaimed, let next = Self.grant(place, &state) { return next }
            free.insert(place)
            return grantClaim(state, free)
        }
        next?.wake()
    }

    // MARK: - All places

    /// Waits for all places, and keeps others out.
    ///
    /// - Returns: Whether they were given. They are not to whoever was cancelled before.
    func claimAll(_ claim: Claim = Claim()) -> Bool {
        let isSettled = locked { state, free -> Bool in
            claim.thread = shellac_thread()
            if claim.isCancelled { return true }
            if state.isClaimed {
                state.nextClaims.append(claim)
                return false
            }
            state.claim = claim
            // Who finds all places free need not be woken.
            return grantClaim(state, free) != nil
        }
        if !isSettled { _ = claim.sleeper.sleep() }
        return state.withLock { _ in claim.isGranted }
    }

    /// Gives all places back.
    func giveAllBack() { endClaim { state in state.claim = nil } }

    /// Has somebody want all places no longer, unless they have them.
    func cancel(_ claim: Claim) {
        endClaim { state in
            claim.isCancelled = true
            guard !claim.isGranted else { return }
            let isWaiting = state.claim === claim || state.nextClaims.contains { $0 === claim }
            if state.claim === claim { state.claim = nil }
            state.nextClaims.removeAll { $0 === claim }
            if isWaiting { claim.sleeper.wake(0) }
        }
    }

    /// Takes a claim away, and gives the free places to those who wait for them.
    private func endClaim(_ body: (inout State) -> Void) {
        let wakeUps = locked { state, free -> [LineWakeUp] in
            body(&state)
            if state.isClaimed { return [] }
            if !state.nextClaims.isEmpty {
                state.claim = state.nextClaims.removeFirst()
                return grantClaim(state, free).map { [$0] } ?? []
            }
            var wakeUps: [LineWakeUp] = []
            while !state.waiting.isEmpty, let place = free.popFirst() {
                if let wakeUp = Self.grant(place, &state) {
                    wakeUps.append(wakeUp)
                } else {
                    free.insert(place)
                }
            }
            return wakeUps
        }
        for wakeUp in wakeUps { wakeUp.wake() }
    }

    /// Gives all places to whoever waits for them, if they are free.
    private func grantClaim(_ state: State, _ free: PlaceSet) -> LineWakeUp? {
        guard free.count == placeCount, let claim = state.claim, !claim.isGranted else { return nil }
        claim.isGranted = true
        return .sleeper(claim.sleeper, 0)
    }

    @inline(never)
    private static func trapBehindBarrier() -> Never {
        Misuse.trap(
            "a pool was read from inside a barrierWriteWithoutTransaction of it, which keeps all readers out. Read by the "
                + "Database of the write.")
    }

    private static func takePlace(_ state: State, _ free: inout PlaceSet) -> Int? {
        state.isClaimed || !state.waiting.isEmpty ? nil : free.popFirst()
    }

    /// Gives a place to the first in line who wants it.
    private static func grant(_ place: Int, _ state: inout State) -> LineWakeUp? {
        while let waiter = state.waiting.popFirst() {
            if let wakeUp = waiter.grant(place) { return wakeUp }
        }
        return nil
    }
}

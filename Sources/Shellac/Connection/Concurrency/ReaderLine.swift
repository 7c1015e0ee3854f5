// The waiting line for a pool's reader slots, with claims on all of them for barriers.

import CSQLite

/// The line in front of a pool's readers: as many accesses at a time as there are places, in the
/// order of arrival.
///
/// An access that finds a free place enters with one atomic operation: see ``FreePlaces``. A claim
/// on all places is served before the accesses that wait for one.
final class ReaderLine: Sendable {
    private struct State {
        var waiting = WaitingLine<LineWaiter>()
        /// The claim that has all places, or waits for them.
        var claim: Claim?
        /// The claims that come afterwards.
        var nextClaims: [Claim] = []
        var isClaimed: Bool { claim != nil }
    }

    /// A claim on all places.
    final class Claim: @unchecked Sendable {  // its variables are used under the lock of the line
        fileprivate let sleeper = Sleeper()
        /// The claiming thread.
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

    /// Runs a function under the lock, with the free places. Accesses that come and go meanwhile
    /// use this lock, and so they do afterwards while the line is not empty.
    private func locked<Result>(_ body: (inout State, inout PlaceSet) -> Result) -> Result {
        state.withLock { state in
            var places = free.guarded()
            defer { free.set(places, isGuarded: state.isClaimed || !state.waiting.isEmpty) }
            return body(&state, &places)
        }
    }

    /// The number of accesses that wait for a place.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// The usage of the places.
    var occupancy: ConnectionOccupancy {
        locked { state, free in
            ConnectionOccupancy(
                used: placeCount - free.count, maximum: placeCount, waiting: state.waiting.count)
        }
    }

    /// Whether some claim has all places, or waits for them.
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

    /// Takes a place, unless it would have to wait for it.
    func enterIfFree() -> Int? { free.take() }

    /// Puts a ticket in line. Its task waits for its turn afterwards: see ``Ticket/sleep(at:)``.
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

    /// Waits for all places, and keeps other accesses out.
    ///
    /// - Returns: Whether the places were granted. They are not if the claim was cancelled before.
    func claimAll(_ claim: Claim = Claim()) -> Bool {
        let isSettled = locked { state, free -> Bool in
            claim.thread = shellac_thread()
            if claim.isCancelled { return true }
            if state.isClaimed {
                state.nextClaims.append(claim)
                return false
            }
            state.claim = claim
            // A claim that finds all places free need not be woken.
            return grantClaim(state, free) != nil
        }
        if !isSettled { _ = claim.sleeper.sleep() }
        return state.withLock { _ in claim.isGranted }
    }

    /// Gives all places back.
    func giveAllBack() { endClaim { state in state.claim = nil } }

    /// Cancels a claim, unless it has the places.
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

    /// Removes a claim, and gives the free places to the accesses that wait for them.
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

    /// Grants all places to the waiting claim, if they are free.
    private func grantClaim(_ state: State, _ free: PlaceSet) -> LineWakeUp? {
        guard free.count == placeCount, let claim = state.claim, !claim.isGranted else { return nil }
        claim.isGranted = true
        return .sleeper(claim.sleeper, 0)
    }

    @inline(never)
    private static func trapBehindBarrier() -> Never {
        Misuse.trap(
            "a pool was read from inside a barrierWriteWithoutTransaction of it, which keeps all readers "
                + "out. Read with the Database of the write.")
    }

    private static func takePlace(_ state: State, _ free: inout PlaceSet) -> Int? {
        state.isClaimed || !state.waiting.isEmpty ? nil : free.popFirst()
    }

    /// Grants a place to the first in line that has not left.
    private static func grant(_ place: Int, _ state: inout State) -> LineWakeUp? {
        while let waiter = state.waiting.popFirst() {
            if let wakeUp = waiter.grant(place) { return wakeUp }
        }
        return nil
    }
}

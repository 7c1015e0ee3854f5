// The free reader slots of a pool, as bits of one atomic word that are taken without a lock.

import CSQLite
import Synchronization

/// The places of a pool's readers that are free, as the bits of one word: who finds one takes it by one atomic operation, and gives
/// it back by another one.
///
/// Somebody who waits keeps all others from doing so: they come through the lock of the line then, which decides whose turn it is.
struct FreePlaces: ~Copyable, @unchecked Sendable {  // `users` is a constant, and points to atomic values
    /// How many places there are at most.
    static var most: Int { 63 }
    /// Says that places are taken and given back under the lock of the line alone.
    private static var isGuarded: UInt64 { 1 << 63 }

    private let word: Atomic<UInt64>
    /// The thread that had the place last, for each place. It finds what it has read in the caches of its processor.
    private let users: UnsafeMutablePointer<Atomic<UInt>>
    private let count: Int

    init(count: Int) {
        precondition((1...Self.most).contains(count))
        self.count = count
        word = Atomic(PlaceSet(count: count).bits)
        users = .allocate(capacity: count)
        for place in 0..<count { (users + place).initialize(to: Atomic(0)) }
    }

    deinit {
        users.deinitialize(count: count)
        users.deallocate()
    }

    /// Takes a place for the running thread: the one that it had last, or the first one. Returns nil where none is free, or somebody
    /// waits.
    @inline(__always)
    func take() -> Int? {
        var bits = word.load(ordering: .relaxed)
        while bits & Self.isGuarded == 0, bits != 0 {
            let place = preferred(PlaceSet(bits: bits))
            let (isTaken, present) = word.weakCompareExchange(
                expected: bits, desired: bits & ~(1 << UInt64(place)), successOrdering: .acquiring,
                failureOrdering: .relaxed)
            if isTaken { return place }
            bits = present
        }
        return nil
    }

    @inline(__always)
    private func preferred(_ places: PlaceSet) -> Int {
        let thread = shellac_thread()
        var rest = places
        while let place = rest.popFirst() {
            if users[place].load(ordering: .relaxed) == thread { return place }
        }
        let place = places.first
        users[place].store(thread, ordering: .relaxed)
        return place
    }

    /// Gives a place back. Returns false where somebody waits, who may be the next to have it.
    @inline(__always)
    func giveBack(_ place: Int) -> Bool {
        var bits = word.load(ordering: .relaxed)
        while bits & Self.isGuarded == 0 {
            let (isBack, present) = word.weakCompareExchange(
                expected: bits, desired: bits | 1 << UInt64(place), successOrdering: .releasing,
                failureOrdering: .relaxed)
            if isBack { return true }
            bits = present
        }
        return false
    }

    // MARK: - Under the lock of the line

    /// Has nobody take a place, or give one back, but by `set`. Returns those that are free.
    func guarded() -> PlaceSet {
        let bits = word.bitwiseOr(Self.isGuarded, ordering: .acquiringAndReleasing).newValue
        return PlaceSet(bits: bits & ~Self.isGuarded)
    }

    /// Says which places are free, and whether somebody waits.
    func set(_ places: PlaceSet, isGuarded: Bool) {
        word.store(places.bits | (isGuarded ? Self.isGuarded : 0), ordering: .releasing)
    }
}

/// Some places.
struct PlaceSet {
    fileprivate(set) var bits: UInt64

    fileprivate init(bits: UInt64) { self.bits = bits }

    init(count: Int) { bits = 1 << UInt64(count) - 1 }

    var count: Int { bits.nonzeroBitCount }

    /// The first one. There must be one.
    @inline(__always)
    var first: Int { bits.trailingZeroBitCount }

    @inline(__always)
    mutating func popFirst() -> Int? {
        guard bits != 0 else { return nil }
        defer { bits &= bits - 1 }
        return first
    }

    mutating func insert(_ place: Int) { bits |= 1 << UInt64(place) }
}

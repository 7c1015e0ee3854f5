// The free reader slots of a pool, as bits of one atomic word that are taken without a lock.

import CSQLite
import Synchronization

/// The free places of a pool's readers, as the bits of one word. A thread takes a free place with
/// one atomic operation, and gives it back with another one.
///
/// As soon as a thread or task waits, the atomic operations are off for all others. Then all of
/// them use the lock of the line, which decides whose turn it is.
struct FreePlaces: ~Copyable, @unchecked Sendable {  // `users` is constant, its values are atomic
    /// The largest number of places.
    static var most: Int { 63 }
    /// The bit for "places are taken and given back only under the lock of the line".
    private static var isGuarded: UInt64 { 1 << 63 }

    private let word: Atomic<UInt64>
    /// The thread that used each place last. A thread that gets its last place again finds what it
    /// read in the caches of its processor.
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

    /// Takes a place for the running thread: the one that it had last, or the first one. Returns
    /// nil if none is free, or the line is not empty.
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

    /// Gives a place back. Returns false if the line is not empty: then a waiter may be the next to
    /// have the place.
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

    /// Makes `set` the only way to take places and to give them back. Returns the free ones.
    func guarded() -> PlaceSet {
        let bits = word.bitwiseOr(Self.isGuarded, ordering: .acquiringAndReleasing).newValue
        return PlaceSet(bits: bits & ~Self.isGuarded)
    }

    /// Sets the free places, and whether the line is not empty.
    func set(_ places: PlaceSet, isGuarded: Bool) {
        word.store(places.bits | (isGuarded ? Self.isGuarded : 0), ordering: .releasing)
    }
}

/// A set of places.
struct PlaceSet {
    fileprivate(set) var bits: UInt64

    fileprivate init(bits: UInt64) { self.bits = bits }

    init(count: Int) { bits = 1 << UInt64(count) - 1 }

    var count: Int { bits.nonzeroBitCount }

    /// The first one. The set must not be empty.
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

import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A remembered row that the running thread compares with what its record encodes.
///
/// The code that encodes a record may save it, or undo a save: then the record forgets the row that is being read. To
/// count a reference for each comparison would take as long as the comparison. So a thread notes the rows that it is
/// reading, the innermost one first, and whoever makes a record forget its row asks whether it is among them. If so, the
/// note takes over the reference.
///
/// Other threads are of no concern: they may read the record, and do nothing else to it until it is encoded, not even
/// while the code that encodes it waits for them.
struct RowInUse {
    /// The word of a ``RememberedRow``.
    fileprivate let word: UInt
    fileprivate let outer: UnsafeMutablePointer<RowInUse>?
    /// Whether the reference that the word stands for belongs to this note.
    fileprivate var ownsReference = false

    /// Where a thread notes its innermost row.
    private typealias Place = UnsafeMutablePointer<UnsafeMutablePointer<RowInUse>?>

    private static var key: pthread_key_t {
        @inline(__always)
        get {
            let known = knownKey.load(ordering: .acquiring)
            return known >= 0 ? pthread_key_t(truncatingIfNeeded: known) : makeKey()
        }
    }

    /// The key, once it is made: without a call each time.
    private static let knownKey = Atomic<Int>(-1)

    @inline(never)
    private static func makeKey() -> pthread_key_t {
        knownKey.store(Int(madeKey), ordering: .releasing)
        return madeKey
    }

    private static let madeKey = {
        var key = pthread_key_t()
        guard pthread_key_create(&key, { free($0) }) == 0 else {
            Misuse.trap("the process has no key for values of threads left: free some of its own.")
        }
        return key
    }()

    @inline(__always)
    private static var knownPlace: Place? {
        pthread_getspecific(key)?.assumingMemoryBound(to: Place.Pointee.self)
    }

    @inline(never)
    private static func makePlace() -> Place {
        guard let memory = malloc(MemoryLayout<Place.Pointee>.size), pthread_setspecific(key, memory) == 0
        else {
            Misuse.trap("there is no memory left")
        }
        let place = memory.bindMemory(to: Place.Pointee.self, capacity: 1)
        place.initialize(to: nil)
        return place
    }

    /// Runs a function during which a row stands still.
    ///
    /// - Parameter release: Gives the reference back that the word stands for.
    @inline(__always)
    static func with<Result>(
        _ word: UInt, release: (UInt) -> Void, _ body: () throws -> Result
    ) rethrows -> Result {
        let place = knownPlace ?? makePlace()
        var note = RowInUse(word: word, outer: place.pointee)
        return try withUnsafeMutablePointer(to: &note) { note in
            place.pointee = note
            defer {
                place.pointee = note.pointee.outer
                if note.pointee.ownsReference { release(word) }
            }
            return try body()
        }
    }

    /// Takes over the reference that a word stands for, if the row is in use. Otherwise, returns false.
    @inline(__always)
    static func takeReference(_ word: UInt) -> Bool {
        guard let place = knownPlace, let innermost = place.pointee else { return false }
        return takeReference(word, innermost)
    }

    @inline(never)
    private static func takeReference(_ word: UInt, _ innermost: UnsafeMutablePointer<RowInUse>) -> Bool {
        // The outermost one is there the longest.
        var (found, next): (UnsafeMutablePointer<RowInUse>?, _) = (nil, Optional(innermost))
        while let note = next {
            if note.pointee.word == word { found = note }
            next = note.pointee.outer
        }
        guard let found, !found.pointee.ownsReference else { return false }
        found.pointee.ownsReference = true
        return true
    }
}

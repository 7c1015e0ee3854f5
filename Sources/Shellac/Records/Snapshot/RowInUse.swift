import CSQLite

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

    /// Where the running thread notes its innermost row.
    @inline(__always)
    private static var place: UnsafeMutablePointer<UnsafeMutableRawPointer?> { shellac_row_in_use() }

    @inline(__always)
    private static var innermost: UnsafeMutablePointer<RowInUse>? {
        place.pointee?.assumingMemoryBound(to: RowInUse.self)
    }

    /// Runs a function during which a row stands still.
    ///
    /// - Parameter release: Gives the reference back that the word stands for.
    @inline(__always)
    static func with<Result>(
        _ word: UInt, release: (UInt) -> Void, _ body: () throws -> Result
    ) rethrows -> Result {
        let place = place
        var note = RowInUse(word: word, outer: innermost)
        return try withUnsafeMutablePointer(to: &note) { note in
            place.pointee = UnsafeMutableRawPointer(note)
            defer {
                place.pointee = UnsafeMutableRawPointer(note.pointee.outer)
                if note.pointee.ownsReference { release(word) }
            }
            return try body()
        }
    }

    /// Takes over the reference that a word stands for, if the row is in use. Otherwise, returns false.
    @inline(__always)
    static func takeReference(_ word: UInt) -> Bool {
        guard let innermost else { return false }
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

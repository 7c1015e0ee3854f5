/// The 16 raw bytes of a string. Two strings with equal bytes are equal, as long as one of them is alive.
///
/// A string of up to 15 bytes stands in its 16 raw bytes, and a longer literal is the address of a constant:
/// so the same name, asked by the same line of code, has the same raw bytes each time.
@frozen @usableFromInline
struct NameBits: Equatable {
    @usableFromInline let first: UInt64
    @usableFromInline let second: UInt64

    @inlinable
    init(_ name: String) { (first, second) = unsafeBitCast(name, to: (UInt64, UInt64).self) }

    /// The bits of no string at all.
    @inlinable
    init() { (first, second) = (0, 0) }
}

/// What the look-ups by name of one row asked, in their order: the guess for those of the next row.
///
/// Code that reads a row by name asks the same names in the same order for each row. So the k-th look-up of
/// a row is compared with the k-th look-up of the row before: two machine words. Only on a miss is the name
/// searched among the columns, and remembered.
@usableFromInline
struct NameGuesses: ~Copyable {
    @frozen @usableFromInline
    struct Guess {
        @usableFromInline let name: NameBits
        /// The column, or -1 for a name that no column has.
        @usableFromInline let column: Int

        @inlinable
        init(name: NameBits, column: Int) { (self.name, self.column) = (name, column) }
    }

    /// The guesses. Behind the last one stands one that matches nothing, so that the count is never looked at.
    private(set) var guesses: UnsafeMutablePointer<Guess>
    private var count: Int
    private var capacity: Int

    /// Keeps the remembered names alive: no other string can take their addresses, and who changes one in place
    /// gets another address. (A short string, too, may stand in memory.)
    private var owners: [String] = []

    private static var nothing: Guess { Guess(name: NameBits(), column: -1) }

    /// A guess that matches nothing: what stands for the guesses of a row that was never asked.
    static let none = NoGuess()
    struct NoGuess: @unchecked Sendable {  // never written
        let guesses: UnsafePointer<Guess>

        fileprivate init() {
            let guess = UnsafeMutablePointer<Guess>.allocate(capacity: 1)
            guess.initialize(to: nothing)
            guesses = UnsafePointer(guess)
        }
    }

    /// The first guess for a layout: that all columns are read, from left to right. Of columns with the same name,
    /// the leftmost is meant.
    init(_ layout: RowLayout) {
        let names = layout.names
        count = names.count
        capacity = names.count
        guesses = .allocate(capacity: count + 1)
        for (k, name) in names.enumerated() {
            let column = layout.column(named: name) ?? -1
            (guesses + k).initialize(to: Guess(name: NameBits(name), column: column))
        }
        (guesses + count).initialize(to: Self.nothing)
        owners = names
    }

    deinit { guesses.deallocate() }

    /// Remembers that the k-th look-up asked for a name, and returns whether there was room for it.
    ///
    /// Code whose names change all the time has no use for guesses: past a bound, nothing is remembered.
    mutating func remember(_ name: String, column: Int, asLookup k: Int) -> Bool {
        guard k <= count, k < 2048, owners.count < 4096 else { return false }
        owners.append(name)
        if k == count {
            if count == capacity { grow() }
            count += 1
            guesses[count] = Self.nothing
        }
        guesses[k] = Guess(name: NameBits(name), column: column)
        return true
    }

    private mutating func grow() {
        capacity = capacity * 2 + 4
        let larger = UnsafeMutablePointer<Guess>.allocate(capacity: capacity + 1)
        larger.initialize(repeating: Self.nothing, count: capacity + 1)
        larger.update(from: guesses, count: count)
        guesses.deallocate()
        guesses = larger
    }
}

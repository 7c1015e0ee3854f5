/// The 16 raw bytes of a string.
///
/// Two strings with equal bytes are equal, as long as one of them is alive. A string of up to 15
/// bytes is stored in its 16 raw bytes, and a longer literal is the address of a constant. So the
/// same line of code looks up a name with the same raw bytes each time.
@frozen @usableFromInline
struct NameBits: Equatable {
    @usableFromInline let first: UInt64
    @usableFromInline let second: UInt64

    @inlinable
    init(_ name: String) { (first, second) = unsafeBitCast(name, to: (UInt64, UInt64).self) }

    /// Creates bits that no string has.
    @inlinable
    init() { (first, second) = (0, 0) }
}

/// The look-ups by name of one row, in order. They are the guesses for the next row.
///
/// Code that reads a row by name requests the same names in the same order for each row. So the
/// k-th look-up of a row is compared with the k-th look-up of the row before: two machine words.
/// Only after a miss is the name searched among the columns, and remembered.
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

    /// The guesses. A guess that matches nothing follows the last one, so the count is never
    /// checked.
    private(set) var guesses: UnsafeMutablePointer<Guess>
    private var count: Int
    private var capacity: Int

    /// The remembered names. This array keeps them alive, so that no other string can take their
    /// addresses. A caller that changes a name in place gets another address. (A short string, too,
    /// may be in memory.)
    private var owners: [String] = []

    private static var nothing: Guess { Guess(name: NameBits(), column: -1) }

    /// A guess that matches nothing, for rows without look-ups.
    static let none = NoGuess()
    struct NoGuess: @unchecked Sendable {  // never written
        let guesses: UnsafePointer<Guess>

        fileprivate init() {
            let guess = UnsafeMutablePointer<Guess>.allocate(capacity: 1)
            guess.initialize(to: nothing)
            guesses = UnsafePointer(guess)
        }
    }

    /// Creates the initial guess for a layout: all columns are read, from left to right. For a
    /// duplicate name, the guess is the leftmost column.
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

    /// Remembers the name of the k-th look-up. Returns whether there was room for it.
    ///
    /// Code with ever-changing names has no use for guesses. Beyond a limit, nothing is remembered.
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

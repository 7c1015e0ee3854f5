/// The states of the schema that a connection knows to hold, by their numbers. 0 is none. The layer of schemas gives
/// the numbers: asking whether one still holds is a comparison of integers.
struct KnownSchema {
    /// The state that holds until the transaction ends or the schema changes.
    private(set) var held: UInt64 = 0
    /// The state that SQLite knows when it prepares a statement, where somebody has found that out.
    var prepared: UInt64 = 0

    /// Holds a state until the transaction ends.
    mutating func hold(_ generation: UInt64) { held = generation }

    /// Looks again when it is asked next: a transaction has begun or ended.
    mutating func release() { held = 0 }

    /// Knows nothing any more: the schema may have changed.
    mutating func forget() { (held, prepared) = (0, 0) }
}

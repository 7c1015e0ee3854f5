/// The known states of the schema of a connection, by number.
///
/// The number 0 means none. The schema layer assigns the numbers, so checking whether a state is
/// current is a comparison of integers.
struct KnownSchema {
    /// The state that is current until the transaction ends or the schema changes.
    private(set) var held: UInt64 = 0
    /// The state that SQLite uses when it prepares a statement, if it was determined.
    var prepared: UInt64 = 0

    /// Keeps a state until the transaction ends.
    mutating func hold(_ generation: UInt64) { held = generation }

    /// Makes the next request check the schema again: a transaction has begun or ended.
    mutating func release() { held = 0 }

    /// Forgets all states: the schema may have changed.
    mutating func forget() { (held, prepared) = (0, 0) }
}

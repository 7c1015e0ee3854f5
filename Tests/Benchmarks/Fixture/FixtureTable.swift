/// A row of one of the tables, as plain Swift.
protocol FixtureTable {
    static var name: String { get }
    /// What creates the table.
    static var table: String { get }
    static var insertion: String { get }
    /// The number that tells what stands in the table.
    static var sum: String { get }
}

/// A row of one of the tables, as plain Swift.
protocol FixtureTable {
    static var name: String { get }
    /// The SQL that creates the table.
    static var table: String { get }
    static var insertion: String { get }
    /// The SQL of a checksum of the table's contents.
    static var sum: String { get }
}

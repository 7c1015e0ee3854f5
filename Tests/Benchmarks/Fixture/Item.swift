/// A row of the table of ten integers, as plain Swift.
struct Item: ItemColumns, FixtureTable {
    var i0: Int
    var i1: Int
    var i2: Int
    var i3: Int
    var i4: Int
    var i5: Int
    var i6: Int
    var i7: Int
    var i8: Int
    var i9: Int

    static let name = "item"
    static let table = """
        CREATE TABLE item (i0 INTEGER, i1 INTEGER, i2 INTEGER, i3 INTEGER, i4 INTEGER,
            i5 INTEGER, i6 INTEGER, i7 INTEGER, i8 INTEGER, i9 INTEGER)
        """
    static let selection = "SELECT * FROM item"
    static let insertion = """
        INSERT INTO item (i0, i1, i2, i3, i4, i5, i6, i7, i8, i9) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    /// The SQL of a checksum of the table's contents.
    static let sum = """
        SELECT count(*) + sum(i0 + 2*i1 + 3*i2 + 4*i3 + 5*i4 + 6*i5 + 7*i6 + 8*i7 + 9*i8 + 10*i9) FROM item
        """

    /// Inserts a row: the k-th column holds the number of the row, plus k.
    @inline(__always)
    static func bind(_ row: Int, to statement: CStatement) throws {
        statement.bind(row, 1)
        statement.bind(row + 1, 2)
        statement.bind(row + 2, 3)
        statement.bind(row + 3, 4)
        statement.bind(row + 4, 5)
        statement.bind(row + 5, 6)
        statement.bind(row + 6, 7)
        statement.bind(row + 7, 8)
        statement.bind(row + 8, 9)
        statement.bind(row + 9, 10)
        try statement.run()
    }

    /// Reads the current row of a statement.
    @inline(__always)
    init(_ statement: CStatement) {
        i0 = statement.int(0)
        i1 = statement.int(1)
        i2 = statement.int(2)
        i3 = statement.int(3)
        i4 = statement.int(4)
        i5 = statement.int(5)
        i6 = statement.int(6)
        i7 = statement.int(7)
        i8 = statement.int(8)
        i9 = statement.int(9)
    }
}

/// The columns that all kinds of items have: the checksum is the same for all.
protocol ItemColumns: Summable {
    var i0: Int { get }
    var i1: Int { get }
    var i2: Int { get }
    var i3: Int { get }
    var i4: Int { get }
    var i5: Int { get }
    var i6: Int { get }
    var i7: Int { get }
    var i8: Int { get }
    var i9: Int { get }
}

extension ItemColumns {
    func add(to checksum: inout Checksum) {
        for column in [i0, i1, i2, i3, i4, i5, i6, i7, i8, i9] { checksum.add(column) }
    }
}

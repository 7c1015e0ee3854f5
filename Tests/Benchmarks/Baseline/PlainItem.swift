/// An item as a class without ancestors: what a class record is compared with.
final class PlainItem: ItemColumns {
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

    init(row: Int) {
        i0 = row
        i1 = row + 1
        i2 = row + 2
        i3 = row + 3
        i4 = row + 4
        i5 = row + 5
        i6 = row + 6
        i7 = row + 7
        i8 = row + 8
        i9 = row + 9
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

    /// Inserts the item.
    @inline(__always)
    func insert(_ statement: CStatement) throws {
        statement.bind(i0, 1)
        statement.bind(i1, 2)
        statement.bind(i2, 3)
        statement.bind(i3, 4)
        statement.bind(i4, 5)
        statement.bind(i5, 6)
        statement.bind(i6, 7)
        statement.bind(i7, 8)
        statement.bind(i8, 9)
        statement.bind(i9, 10)
        try statement.run()
    }
}

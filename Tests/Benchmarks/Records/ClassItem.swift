import Shellac

/// An item as one writes a class record.
class ClassItem: Record, ItemColumns {
    var i0 = 0
    var i1 = 0
    var i2 = 0
    var i3 = 0
    var i4 = 0
    var i5 = 0
    var i6 = 0
    var i7 = 0
    var i8 = 0
    var i9 = 0

    override class var databaseTableName: String { "item" }

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("i0") { i0 = try row["i0"] }
        if row.hasColumn("i1") { i1 = try row["i1"] }
        if row.hasColumn("i2") { i2 = try row["i2"] }
        if row.hasColumn("i3") { i3 = try row["i3"] }
        if row.hasColumn("i4") { i4 = try row["i4"] }
        if row.hasColumn("i5") { i5 = try row["i5"] }
        if row.hasColumn("i6") { i6 = try row["i6"] }
        if row.hasColumn("i7") { i7 = try row["i7"] }
        if row.hasColumn("i8") { i8 = try row["i8"] }
        if row.hasColumn("i9") { i9 = try row["i9"] }
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["i0"] = i0
        container["i1"] = i1
        container["i2"] = i2
        container["i3"] = i3
        container["i4"] = i4
        container["i5"] = i5
        container["i6"] = i6
        container["i7"] = i7
        container["i8"] = i8
        container["i9"] = i9
    }

    /// A new item.
    static func make(row: Int) -> ClassItem {
        let item = ClassItem()
        item.i0 = row
        item.i1 = row + 1
        item.i2 = row + 2
        item.i3 = row + 3
        item.i4 = row + 4
        item.i5 = row + 5
        item.i6 = row + 6
        item.i7 = row + 7
        item.i8 = row + 8
        item.i9 = row + 9
        return item
    }
}

/// A foreign key: see ``Database/foreignKeys(on:in:)``.
public struct ForeignKeyInfo: Hashable, Sendable {
    /// The number of the key in its table.
    public let id: Int

    /// The table that has the key.
    public let originTable: String

    /// The table that the key refers to. It need not exist.
    public let destinationTable: String

    /// The columns of the key.
    public let originColumns: [String]

    /// The columns that the key refers to.
    ///
    /// A key that does not name them refers to the primary key. The array is empty if there is no
    /// such table, or if its primary key has another number of columns. SQLite then refuses to
    /// write ("foreign key mismatch").
    public let destinationColumns: [String]

    /// The action on the rows with the key when the row they refer to is deleted. Nil for none.
    public let onDelete: Database.ForeignKeyAction?

    /// The action on the rows with the key when the key of the row they refer to changes. Nil for
    /// none.
    public let onUpdate: Database.ForeignKeyAction?

    /// The columns of the key, each with the column it refers to.
    public var mapping: [(origin: String, destination: String)] {
        zip(originColumns, destinationColumns).map { (origin: $0, destination: $1) }
    }

    /// Reads the rows of `PRAGMA foreign_key_list` that describe one key.
    ///
    /// - Parameter primaryKey: The primary key of the table that the key refers to.
    init(
        _ rows: [Row], id: Int, originTable: String, destinationTable: String,
        primaryKey: () throws -> PrimaryKeyInfo?
    ) throws {
        self.id = id
        self.originTable = originTable
        self.destinationTable = destinationTable
        originColumns = try rows.map { try $0["from"] }
        let named: [String] = try rows.compactMap { try $0["to"] }
        if named.count == originColumns.count {
            destinationColumns = named
        } else {
            let columns = try primaryKey()?.columnInfos?.map(\.name) ?? []
            destinationColumns = columns.count == originColumns.count ? columns : []
        }
        onDelete = try rows.first.flatMap { Database.ForeignKeyAction(rawValue: try $0["on_delete"]) }
        onUpdate = try rows.first.flatMap { Database.ForeignKeyAction(rawValue: try $0["on_update"]) }
    }
}

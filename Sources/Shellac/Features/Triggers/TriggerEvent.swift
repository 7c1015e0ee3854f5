/// The event that starts a trigger.
public struct TriggerEvent: Hashable, Sendable {
    enum Kind: Hashable {
        case insert, delete
        case update(columns: [String])
    }
    let kind: Kind

    /// A row is inserted.
    public static let insert = TriggerEvent(kind: .insert)
    /// A row is deleted.
    public static let delete = TriggerEvent(kind: .delete)
    /// A row is updated, whatever the columns.
    public static let update = TriggerEvent(kind: .update(columns: []))

    /// Makes the event of an update by a statement that names one of some columns, whether their values change or not.
    ///
    /// - Parameters:
    ///   - column: The name of a column. Where the table lacks it, whoever takes the event throws.
    ///   - others: Names of further columns.
    public static func update(of column: String, _ others: String...) -> TriggerEvent {
        TriggerEvent(kind: .update(columns: [column] + others))
    }

    /// Makes the event of an update by a statement that names one of some columns, whether their values change or not.
    ///
    /// - Parameters:
    ///   - column: A column. Where the table lacks it, whoever takes the event throws.
    ///   - others: Further columns.
    public static func update(of column: Column, _ others: Column...) -> TriggerEvent {
        TriggerEvent(kind: .update(columns: ([column] + others).map(\.name)))
    }

    var columns: [String] { if case .update(let columns) = kind { columns } else { [] } }

    var sql: String {
        switch kind {
        case .insert: "INSERT"
        case .delete: "DELETE"
        case .update(columns: []): "UPDATE"
        case .update(let columns):
            "UPDATE OF " + columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        }
    }
}

/// The event that starts a trigger.
public struct TriggerEvent: Hashable, Sendable {
    enum Kind: Hashable {
        case insert, delete
        case update(columns: [String])
    }
    let kind: Kind

    /// The insertion of a row.
    public static let insert = TriggerEvent(kind: .insert)
    /// The deletion of a row.
    public static let delete = TriggerEvent(kind: .delete)
    /// The update of a row, whatever the columns.
    public static let update = TriggerEvent(kind: .update(columns: []))

    /// Returns the event of an update by a statement that names one of some columns, whether their
    /// values change or not.
    ///
    /// - Parameters:
    ///   - column: The name of a column. If the table lacks it, the function that takes the event
    ///     throws.
    ///   - others: Names of further columns.
    public static func update(of column: String, _ others: String...) -> TriggerEvent {
        TriggerEvent(kind: .update(columns: [column] + others))
    }

    /// Returns the event of an update by a statement that names one of some columns, whether their
    /// values change or not.
    ///
    /// - Parameters:
    ///   - column: A column. If the table lacks it, the function that takes the event throws.
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

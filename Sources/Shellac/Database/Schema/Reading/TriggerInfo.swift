/// A trigger: see ``Database/triggers(on:in:)``.
public struct TriggerInfo: Hashable, Sendable {
    /// The name, as declared.
    public let name: String

    /// The table or view whose changes start the trigger.
    public let tableName: String

    /// The SQL that created the trigger.
    public let sql: String

    /// Whether the trigger exists only on its connection.
    public let isTemporary: Bool
}

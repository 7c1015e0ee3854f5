/// A trigger: see ``Database/triggers(on:in:)``.
public struct TriggerInfo: Hashable, Sendable {
    /// The name, as it was created.
    public let name: String

    /// The table or view whose changes start the trigger.
    public let tableName: String

    /// The SQL that created the trigger.
    public let sql: String

    /// Whether the trigger lives on its connection alone.
    public let isTemporary: Bool
}

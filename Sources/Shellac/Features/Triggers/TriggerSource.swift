/// A source of triggers that fill in rows.
///
/// A layer above has the subclass, which fills the slot of a connection.
class TriggerSource {
    /// Returns the triggers that the schema permits.
    ///
    /// - Parameters:
    ///   - callbacks: The callbacks that are called for writes of the triggers.
    ///   - notes: Returns the first statements of a table's trigger that runs after an insertion:
    ///     see ``UndoTables/noteOfInsertion(function:)``.
    /// - Returns: The triggers, and the tables whose rows these update. Callbacks do not get such
    ///   an update as a change.
    func triggers(
        heardBy callbacks: [CallbackRegistration], notes: (CaseInsensitiveName) -> String
    ) throws -> (triggers: [(name: String, sql: String)], tables: Set<CaseInsensitiveName>) { ([], []) }

    /// Runs a function while nothing is filled in.
    func suspend<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }
}

extension Slot<TriggerSource> {
    static var triggerSource: Self { Slot(7) }
}

extension Database {
    /// Runs a function while triggers fill in nothing.
    func withoutFilling<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let source = object(in: .triggerSource) else { return try body() }
        return try source.object.suspend(body)
    }
}

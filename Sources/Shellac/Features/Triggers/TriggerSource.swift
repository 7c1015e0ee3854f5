/// A source of triggers that fill in rows: a layer above has the subclass, which fills the slot of a connection.
class TriggerSource {
    /// Makes the triggers that the schema lets us have.
    ///
    /// - Parameters:
    ///   - callbacks: The callbacks that hear of what the triggers write.
    ///   - notes: What a trigger of a table does first that runs after an insertion: see
    ///     ``UndoTables/noteOfInsertion(function:)``.
    /// - Returns: The triggers, and the tables whose rows these update, which is no change that a callback is told of.
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

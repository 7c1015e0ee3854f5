/// Tells the developer of SQL and bulk updates that bypass the callbacks of a class of records.
///
/// It works in debug builds: a connection remembers the classes that it has met, and looks at each statement that writes
/// once. Each SQL text is told of once in the life of the process.
enum BypassAdvisor {
    #if DEBUG
    private static let told = Lock<Set<String>>([])

    /// Looks at a statement that is about to run.
    static func look(at statement: Statement, _ types: [CaseInsensitiveName: [Record.Type]]) {
        for (table, types) in types {
            guard let kind = kind(of: statement.effects, on: table) else { continue }
            for type in types where type.warnsOfBypassedCallbacks {
                let callbacks = Overrides.callbacks(type, around: kind)
                guard !callbacks.isEmpty else { continue }
                let key = "\(ObjectIdentifier(type)) \(table.name) \(statement.sql)"
                guard told.withLock({ $0.insert(key).inserted }) else { continue }
                ErrorLog.warn(
                    "SQL \(kind.rawValue)s rows of \(table.name), and these callbacks of \(type) do not run: "
                        + "\(callbacks.joined(separator: ", ")). Save the records, or use a table-wide callback (after), which "
                        + "nothing bypasses. Where it is meant to be so, override class var warnsOfBypassedCallbacks. "
                        + "The SQL: \(statement.sql)")
            }
        }
    }

    /// What a statement does to the rows of a table: what it was written for, and not what triggers add.
    private static func kind(of effects: StatementEffects, on table: CaseInsensitiveName) -> RecordCallback
        .Kind?
    {
        var found: RecordCallback.Kind?
        for write in effects.writes {
            switch write {
            case .insert(let name): if CaseInsensitiveName(name) == table { return .insert }
            case .delete(let name): if CaseInsensitiveName(name) == table { found = .delete }
            case .update(let name, _):
                if found == nil, CaseInsensitiveName(name) == table { found = .update }
            }
        }
        return found
    }
    #endif
}

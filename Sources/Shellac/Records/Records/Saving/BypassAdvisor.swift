/// Warns the developer of SQL and bulk updates that bypass the callbacks of a record class.
///
/// It works in debug builds. A connection remembers the classes that it has met, and checks each
/// writing statement once. The advisor reports each SQL text once per process.
enum BypassAdvisor {
    #if DEBUG
    private static let told = Lock<Set<String>>([])

    /// Checks a statement that is about to run.
    static func look(at statement: Statement, _ types: [CaseInsensitiveName: [Record.Type]]) {
        for (table, types) in types {
            let bypassed = types.compactMap {
                type -> (type: Record.Type, kind: RecordCallback.Kind, names: [String])? in
                guard type.warnsOfBypassedCallbacks, let kind = kind(of: statement.effects, on: table, type)
                else { return nil }
                let names = Overrides.callbacks(type, around: kind)
                return names.isEmpty ? nil : (type, kind, names)
            }
            for (type, kind, names) in bypassed {
                // If a class inherits callbacks, the warning names only the superclass.
                let isTold = bypassed.contains {
                    $0.type != type && type.isSubclass(of: $0.type) && $0.kind == kind && $0.names == names
                }
                let key = "\(ObjectIdentifier(type)) \(table.name) \(statement.sql)"
                guard !isTold, told.withLock({ $0.insert(key).inserted }) else { continue }
                ErrorLog.warn(
                    "SQL \(kind.rawValue)s rows of \(table.name) without running these callbacks of \(type): "
                        + "\(names.joined(separator: ", ")). Save the records, or use a table-wide callback (after), which "
                        + "nothing bypasses. If this is intended, override class var warnsOfBypassedCallbacks. "
                        + "The SQL: \(statement.sql)")
            }
        }
    }

    /// Returns the kind of write that a statement makes to a table itself, without the writes of
    /// triggers. An update of nothing but the class's deletion column counts as a deletion.
    private static func kind(
        of effects: StatementEffects, on table: CaseInsensitiveName, _ type: Record.Type
    ) -> RecordCallback.Kind? {
        var found: RecordCallback.Kind?
        let deletion = type.deletionColumn
        var isDate = deletion != nil
        for write in effects.writes {
            switch write {
            case .insert(let name): if CaseInsensitiveName(name) == table { return .insert }
            case .delete(let name): if CaseInsensitiveName(name) == table { found = .delete }
            case .update(let name, let column):
                guard CaseInsensitiveName(name) == table else { continue }
                if found == nil { found = .update }
                isDate = isDate && deletion.map { CaseInsensitiveName.matches($0, column) } ?? false
            }
        }
        return found == .update && isDate ? .delete : found
    }
    #endif
}

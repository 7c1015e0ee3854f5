/// The views and triggers that SQLite cannot compile, and the reasons.
///
/// SQLite does not compile a trigger when it creates it, nor check views when it drops a table they
/// use. It reports the error only when the trigger or view is used. This type compiles all of them
/// and runs nothing.
struct SchemaFaults {
    struct Fault {
        /// The kind and the name: `the view hero`.
        let object: String
        let message: String
    }

    private let db: Database
    private var faults: [Fault] = []

    /// Finds the faults in all databases of a connection.
    init(_ db: Database) throws {
        self.db = db
        var found: [Fault] = []
        try db.touchingNothing {
            let schemaNames = try String.fetchAll(db, sql: "SELECT name FROM pragma_database_list")
            for schemaName in schemaNames {
                for view in try db.schema.objects(.view, in: schemaName) {
                    let sql = "SELECT * FROM \(view.name.quoted(in: schemaName))"
                    if let message = try complaint(sql) {
                        found.append(Fault(object: "the view \(view.name)", message: message))
                    }
                }
            }
            for schemaName in schemaNames {
                var triggers = try db.schema.objects(.trigger, in: schemaName)
                while let table = triggers.first?.tableName {
                    let isHere = { (trigger: SchemaListing.Object) in
                        CaseInsensitiveName.matches(trigger.tableName, table)
                    }
                    found += try faults(in: triggers.filter(isHere), upon: table, schemaName: schemaName)
                    triggers.removeAll(where: isHere)
                }
            }
        }
        faults = found
    }

    /// Returns the faults that are not among earlier ones.
    func besides(_ earlier: SchemaFaults) -> [Fault] {
        let known = Set(earlier.faults.map(\.object))
        return faults.filter { !known.contains($0.object) }
    }

    /// Returns SQLite's error message for a statement that it cannot compile.
    private func complaint(_ sql: String) throws -> String? {
        do {
            _ = try db.makeStatement(sql: sql)
            return nil
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return error.message ?? "\(error.resultCode)"
        }
    }

    // MARK: - Triggers

    /// Returns the faults of all triggers in one database on one table.
    private func faults(
        in triggers: [SchemaListing.Object], upon table: String, schemaName: String
    ) throws -> [Fault] {
        // A temporary trigger may be on a table of any database. SQLite does not report which.
        let place = CaseInsensitiveName.matches(schemaName, "temp") ? nil : schemaName
        guard let statements = try firingStatements(table, in: place) else { return [] }
        // A view that has no trigger for a statement cannot be modified by it.
        guard
            try statements.compactMap(complaint).contains(where: { !$0.hasPrefix("cannot modify ") })
        else { return [] }
        // One of the triggers is at fault, and SQLite does not say which. Try each alone, and undo
        // everything.
        var found: [Fault] = []
        for trigger in triggers {
            try db.inSavepoint {
                for other in triggers where other.name != trigger.name {
                    try db.drop(trigger: other.name, in: schemaName)
                }
                let complaints = try statements.map(complaint)
                try db.drop(trigger: trigger.name, in: schemaName)
                // SQLite may report an error even without the trigger.
                let others = try statements.map(complaint)
                if let message = zip(complaints, others).first(where: { $0 != $1 })?.0 {
                    found.append(Fault(object: "the trigger \(trigger.name)", message: message))
                }
                return .rollback
            }
        }
        return found
    }

    /// Returns statements that together fire all triggers of a table, or nil if the table itself is
    /// at fault.
    private func firingStatements(_ table: String, in schemaName: String?) throws -> [String]? {
        let name = table.quoted(in: schemaName)
        let columns: [ColumnInfo]
        do {
            columns = try db.columns(in: table, in: schemaName).filter { !$0.isGenerated }
        } catch is DatabaseError {
            return nil
        }
        let assignments = columns.map(\.name.quotedDatabaseIdentifier).map { "\($0) = \($0)" }
        return [
            "INSERT INTO \(name) DEFAULT VALUES", "DELETE FROM \(name)",
            "UPDATE \(name) SET \(assignments.joined(separator: ", "))",
        ]
    }
}

/// The views and triggers that SQLite cannot compile, and why.
///
/// SQLite does not look inside of a trigger when it creates it, nor at the views upon a table that it drops: the fault
/// is found when they are used. Here all are compiled, and nothing is run.
struct SchemaFaults {
    struct Fault {
        /// `the view hero`
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

    /// Returns what SQLite says of a statement that it cannot compile.
    private func complaint(_ sql: String) throws -> String? {
        do {
            _ = try db.makeStatement(sql: sql)
            return nil
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return error.message ?? "\(error.resultCode)"
        }
    }

    // MARK: - Triggers

    /// Returns the faults of all triggers that one database has upon one table.
    private func faults(
        in triggers: [SchemaListing.Object], upon table: String, schemaName: String
    ) throws -> [Fault] {
        // A temporary trigger may stand upon a table of any database: SQLite does not tell which.
        let place = CaseInsensitiveName.matches(schemaName, "temp") ? nil : schemaName
        guard let statements = try firingStatements(table, in: place) else { return [] }
        // A view that has no trigger for a statement cannot be modified by it.
        guard
            try statements.compactMap(complaint).contains(where: { !$0.hasPrefix("cannot modify ") })
        else { return [] }
        // One of them is at fault, and SQLite does not say which: each is tried alone, and all is undone.
        var found: [Fault] = []
        for trigger in triggers {
            try db.inSavepoint {
                for other in triggers where other.name != trigger.name {
                    try db.drop(trigger: other.name, in: schemaName)
                }
                let complaints = try statements.map(complaint)
                try db.drop(trigger: trigger.name, in: schemaName)
                // Without the trigger, SQLite may still complain.
                let others = try statements.map(complaint)
                if let message = zip(complaints, others).first(where: { $0 != $1 })?.0 {
                    found.append(Fault(object: "the trigger \(trigger.name)", message: message))
                }
                return .rollback
            }
        }
        return found
    }

    /// Returns statements that fire all triggers of a table between them, or nil where the table is itself at fault.
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

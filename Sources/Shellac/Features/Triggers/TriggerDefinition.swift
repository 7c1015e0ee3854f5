/// The time at which a trigger runs.
///
/// SQLite warns of triggers that run before: if one changes or deletes the row that is about to
/// change, the behavior is undefined. See "CREATE TRIGGER", section "Cautions On The Use Of BEFORE
/// triggers".
public enum TriggerTiming: String, Hashable, Sendable, CaseIterable {
    /// After the change.
    case after = "AFTER"
    /// Before the change.
    case before = "BEFORE"
    /// In place of the change, for views only.
    case insteadOf = "INSTEAD OF"
}

/// Options for creating a trigger.
///
/// See ``Database/create(trigger:in:options:_:_:on:body:)-(_,_,_,_,_,String,_)``.
public struct TriggerOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Does nothing if there is a trigger with the name, whatever it does.
    public static let ifNotExists = TriggerOptions(rawValue: 1)
    /// Creates a trigger that belongs to the connection, and ends with it.
    public static let temporary = TriggerOptions(rawValue: 2)
}

/// The row before a change, or after it, in the SQL of a trigger: `OLD` or `NEW`.
public struct TriggerRow: Sendable {
    fileprivate let name: String

    /// Returns a column of the row: `NEW."score"`.
    ///
    /// - Parameter column: The name of the column, without quotes. It is not checked before the
    ///   trigger runs.
    public subscript(_ column: String) -> SQL { SQL(sql: "\(name).\(column.quotedDatabaseIdentifier)") }

    /// Returns a column of the row, in an expression: `"NEW"."score"`.
    ///
    /// - Parameter column: The column. Only its name is used, which is not checked before the
    ///   trigger runs.
    public subscript(_ column: Column) -> SQLExpression {
        SQLExpression(.column(table: name, name: column.name))
    }
}

/// The body of a trigger.
///
/// See ``Database/create(trigger:in:options:_:_:on:body:)-(_,_,_,_,_,String,_)``.
public final class TriggerDefinition {
    /// The row before the change. An insertion has none.
    public let old = TriggerRow(name: "OLD")
    /// The row after the change. A deletion has none.
    public let new = TriggerRow(name: "NEW")

    /// The connection, for the primary keys.
    let database: Database
    private var conditions: [SQL] = []
    private var statements: [SQL] = []

    fileprivate init(_ database: Database) { self.database = database }

    /// Restricts the trigger to the rows for which a condition holds.
    ///
    /// ```swift
    /// t.when { old, new in "\(new["score"]) > \(old["score"])" }
    /// ```
    ///
    /// - Parameter condition: Returns the condition, whose values become literals. It is called
    ///   once, immediately, with the row before the change and the one after it. Of several
    ///   conditions, all must hold.
    public func when(_ condition: (_ old: TriggerRow, _ new: TriggerRow) throws -> SQL) rethrows {
        conditions.append(try condition(old, new))
    }

    /// Makes the trigger execute a statement. Statements run in the order in which they are added.
    ///
    /// ```swift
    /// t.execute(literal: "UPDATE team SET score = score + \(t.new["score"]) WHERE id = \(t.new["teamId"])")
    /// ```
    ///
    /// - Parameter statement: One statement: an `INSERT`, `UPDATE`, `DELETE` or `SELECT`. Its
    ///   values are written into the trigger as literals, since a trigger has no parameters.
    public func execute(literal statement: SQL) { statements.append(statement) }

    /// Makes the trigger execute a statement.
    ///
    /// - Parameters:
    ///   - sql: The statement.
    ///   - arguments: Its values, which are written into it as literals.
    public func execute(sql: String, arguments: StatementArguments = StatementArguments()) {
        statements.append(SQL(sql: sql, arguments: arguments))
    }

    fileprivate func body(_ name: String) throws -> String {
        guard !statements.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the trigger \(name) executes nothing: give it a statement by execute(literal:)")
        }
        var sql = ""
        if !conditions.isEmpty {
            let all = try conditions.map { try $0.literalSQL(as: .expression, on: database) }
            sql +=
                "WHEN " + (all.count == 1 ? all[0] : all.map { "(\($0))" }.joined(separator: " AND ")) + " "
        }
        return try sql + "BEGIN " + statements.map { try $0.literalSQL(on: database) + "; " }.joined() + "END"
    }
}

@available(*, unavailable, message: "a definition is only valid inside the closure that receives it")
extension TriggerDefinition: Sendable {}

extension Database {
    /// Creates a trigger.
    ///
    /// ```swift
    /// try db.create(trigger: "player_promotion", .after, .update(of: "score"), on: "player") { t in
    ///     t.when { old, new in "\(new["score"]) >= \(1000) AND \(old["score"]) < \(1000)" }
    ///     t.execute(literal: "INSERT INTO promotion (playerId) VALUES (\(t.new["id"]))")
    /// }
    /// // CREATE TRIGGER "player_promotion" AFTER UPDATE OF "score" ON "player"
    /// // WHEN NEW."score" >= 1000 AND OLD."score" < 1000
    /// // BEGIN INSERT INTO promotion (playerId) VALUES (NEW."id"); END
    /// ```
    ///
    /// It runs for each row. If SQLite refuses the trigger, its own error is thrown, with the SQL.
    /// Examples are ``TriggerTiming/insteadOf`` on a table, the other timings on a view, or a
    /// missing column. (SQLite does not notice a misspelled column behind `UPDATE OF`, but this
    /// throws for it, too.)
    ///
    /// - Parameters:
    ///   - name: The name of the trigger.
    ///   - schemaName: The database of the trigger and its table: `main`, `temp`, or the name of an
    ///     attached one. A temporary trigger may be on a table of any of them.
    ///   - options: Options of the trigger, such as `.ifNotExists`.
    ///   - timing: Whether the trigger runs before the event, after it, or instead of it.
    ///   - event: The event that starts the trigger.
    ///   - tableName: The table or the view of the trigger.
    ///   - body: Defines the statements of the trigger.
    public func create(
        trigger name: String, in schemaName: String? = nil, options: TriggerOptions = [],
        _ timing: TriggerTiming, _ event: TriggerEvent, on tableName: String,
        body: (TriggerDefinition) throws -> Void
    ) throws {
        checkAccess()
        let isTemporary = options.contains(.temporary)
        if let column = try unknownColumn(of: event, on: tableName, in: schemaName) {
            throw DatabaseError(message: "no such column: \(tableName).\(column), in the trigger \(name)")
        }
        let definition = TriggerDefinition(self)
        try body(definition)
        var sql = "CREATE \(isTemporary ? "TEMPORARY " : "")TRIGGER "
        if options.contains(.ifNotExists) { sql += "IF NOT EXISTS " }
        sql += name.quoted(in: isTemporary ? nil : schemaName)
        sql += " \(timing.rawValue) \(event.sql) ON \(tableName.quoted(in: isTemporary ? schemaName : nil)) "
        try execute(definition: sql + definition.body(name))
    }

    /// Creates a trigger on the table of a record type.
    ///
    /// ```swift
    /// try db.create(trigger: "player_log", .after, .insert, on: Player.self) { t in
    ///     t.execute(literal: "INSERT INTO log (what) VALUES ('player ' || \(t.new["name"]))")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the trigger.
    ///   - schemaName: The database of the trigger and its table: `main`, `temp`, or the name of an
    ///     attached one.
    ///   - options: Options of the trigger, such as `.ifNotExists`.
    ///   - timing: Whether the trigger runs before the event, after it, or instead of it.
    ///   - event: The event that starts the trigger.
    ///   - type: The type whose table has the trigger.
    ///   - body: Defines the statements of the trigger.
    /// - Throws: Errors of the body. A ``DatabaseError`` if there is no such table or column, if
    ///   there is a trigger with the name, or if SQLite refuses the body.
    public func create(
        trigger name: String, in schemaName: String? = nil, options: TriggerOptions = [],
        _ timing: TriggerTiming, _ event: TriggerEvent, on type: any TableRecord.Type,
        body: (TriggerDefinition) throws -> Void
    ) throws {
        try create(
            trigger: name, in: schemaName, options: options, timing, event, on: type.databaseTableName,
            body: body)
    }

    /// Returns a column that an event names, and that the table lacks. SQLite reports a missing
    /// table.
    private func unknownColumn(
        of event: TriggerEvent, on tableName: String, in schemaName: String?
    ) throws -> String? {
        guard !event.columns.isEmpty, let table = try schema.table(tableName, in: schemaName) else {
            return nil
        }
        return event.columns.first { table.column(named: $0) == nil }
    }
}

/// The column of a type with soft delete. It holds the date when a row was deleted.
///
/// A deleted row remains in its table, but is left out of queries.
///
/// ```swift
/// class Team: Record {
///     static let players = hasMany(Player.self)
///
///     override class var databaseSoftDelete: SoftDelete? {
///         .column("deletedAt", cascading: Team.players)
///     }
/// }
///
/// class Player: Record {
///     override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
/// }
///
/// try team.delete(db)     // UPDATE "team" SET "deletedAt" = ? WHERE "id" = ?, and so the players, with the same date
/// try team.restore(db)    // and those players whom this date has taken
/// try team.destroy(db)    // DELETE FROM "team" WHERE "id" = ?
/// ```
///
/// See ``TableRecord/databaseSoftDelete``.
public struct SoftDelete: Sendable, ExpressibleByStringLiteral {
    /// The column that holds the date, or NULL.
    let column: String
    /// The rows that are deleted and restored along with the type's rows.
    let cascades: [any SoftDeleteCascade]

    init(_ column: String, _ cascades: [any SoftDeleteCascade] = []) {
        (self.column, self.cascades) = (column, cascades)
    }

    public init(stringLiteral column: String) { self.init(column) }

    /// Returns a soft delete with the column that holds the date of the deletion, or NULL.
    ///
    /// - Parameter name: The name of the column. It is NULL in rows that are not deleted.
    public static func column(_ name: String) -> SoftDelete { SoftDelete(name) }

    /// The condition on the rows that are not deleted.
    var isNotDeleted: SQLExpression {
        SQLExpression(.isNull(SQLExpression(.column(column)), isNegated: false))
    }
}

/// Rows of another table that are deleted and restored along with others. An upper layer provides
/// them.
protocol SoftDeleteCascade: Sendable {
    /// The name in errors, which also distinguishes it from others.
    var name: String { get }

    /// Returns the columns whose values identify the rows.
    func ownerColumns(of type: any TableRecord.Type, on db: Database) throws -> [String]

    /// Returns the rows that are deleted along with others.
    ///
    /// - Parameter owners: The values of those others in the columns.
    func rows(
        along owners: [[DatabaseValue]], of type: any TableRecord.Type, on db: Database
    ) throws -> [SelectQuery]
}

extension DefaultFilter.Name {
    /// The condition that leaves out deleted rows, for a type with
    /// ``TableRecord/databaseSoftDelete``.
    public static let deleted: Self = "deleted"
}

extension TableRecord {
    public static var databaseSoftDelete: SoftDelete? { nil }

    /// All conditions that a request may leave out.
    static var defaultFilter: DefaultFilter {
        guard let deletion = databaseSoftDelete else { return databaseDefaultFilter }
        return databaseDefaultFilter.adding(.deleted, deletion.isNotDeleted)
    }

    /// The column that holds the date of a row's deletion. Nil if deleted rows are gone.
    static var deletionColumn: String? { databaseSoftDelete?.column }

    /// Throws a ``DatabaseError`` if deleted rows are gone.
    static func checkKeepsDeletedRows() throws { _ = try softDeletion() }

    /// Returns the soft delete of the type.
    ///
    /// - Throws: a ``DatabaseError`` if the type declares none.
    static func softDeletion() throws -> SoftDelete {
        if let deletion = databaseSoftDelete { return deletion }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "\(self) deletes its rows permanently: they can be neither restored nor soft deleted along with others. "
                + "Declare databaseSoftDelete")
    }
}

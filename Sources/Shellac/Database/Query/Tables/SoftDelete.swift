/// The column that says since when a row is deleted: such a row stays in its table, and is left out of what is read.
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
    /// What goes along with the rows.
    let cascades: [any SoftDeleteCascade]

    init(_ column: String, _ cascades: [any SoftDeleteCascade] = []) {
        (self.column, self.cascades) = (column, cascades)
    }

    public init(stringLiteral column: String) { self.init(column) }

    /// Names the column that holds the date of the deletion, or NULL.
    ///
    /// - Parameter name: The name of the column. It is NULL in rows that are not deleted.
    public static func column(_ name: String) -> SoftDelete { SoftDelete(name) }

    /// What holds of the rows that are not deleted.
    var isNotDeleted: SQLExpression {
        SQLExpression(.isNull(SQLExpression(.column(column)), isNegated: false))
    }
}

/// Rows of another table that are deleted and restored along with others: an upper layer knows which.
protocol SoftDeleteCascade: Sendable {
    /// What it is called in errors, and told from others by.
    var name: String { get }

    /// Returns the columns by whose values the rows are found.
    func ownerColumns(of type: any TableRecord.Type, on db: Database) throws -> [String]

    /// Returns the rows that go along with others.
    ///
    /// - Parameter owners: The values that these have in the columns.
    func rows(
        along owners: [[DatabaseValue]], of type: any TableRecord.Type, on db: Database
    ) throws -> [SelectQuery]
}

extension DefaultFilter.Name {
    /// What leaves out the rows that are deleted, where a type says so by ``TableRecord/databaseSoftDelete``.
    public static let deleted: Self = "deleted"
}

extension TableRecord {
    public static var databaseSoftDelete: SoftDelete? { nil }

    /// All conditions that a request may leave out.
    static var defaultFilter: DefaultFilter {
        guard let deletion = databaseSoftDelete else { return databaseDefaultFilter }
        return databaseDefaultFilter.adding(.deleted, deletion.isNotDeleted)
    }
}

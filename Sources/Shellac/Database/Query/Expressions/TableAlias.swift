// Table aliases, named or generated, which qualify the columns of a table in a request.

import Synchronization

/// The name of a table inside of a request, where its columns could be taken for those of another one.
///
/// ```swift
/// let (player, team) = (TableAlias("p"), TableAlias("t"))
/// let request = Player.aliased(player)
///     .join(Table("team"), aliased: team, on: player[Column("teamID")] == team[Column("id")])
///     .filter(team[Column("color")] == "red")
/// // SELECT "p".* FROM "player" AS "p" JOIN "team" AS "t" ON "p"."teamID" = "t"."id" WHERE "t"."color" = 'red'
/// ```
///
/// An alias for the table of a type knows the columns that the type declares:
///
/// ```swift
/// let team = TableAlias<Team>()
/// let request = Player.join(Team.all(), aliased: team, on: Column("teamID") == team.id)
///     .filter(team.color == "red")
/// ```
@dynamicMemberLookup
public struct TableAlias<RowDecoder>: Hashable, Sendable {
    let name: String

    fileprivate init(named name: String) { self.name = name }

    /// A column of the table: `"p"."id"`.
    ///
    /// - Parameter column: The column, of which the name alone matters.
    public subscript(_ column: Column) -> SQLExpression {
        SQLExpression(.column(table: name, name: column.name))
    }

    /// All columns of the table: `"p".*`.
    public var allColumns: SQLSelection { SQLSelection(.allColumns(of: name)) }
}

extension TableAlias<Void> {
    /// Creates a name for a table.
    ///
    /// - Parameter name: The name, without quotes: SQL gets it quoted. No other table of the statement may have it.
    public init(_ name: String) { self.init(named: name) }

    /// Creates a name for a table.
    ///
    /// - Parameter name: The name, without quotes: SQL gets it quoted. No other table of the statement may have it.
    public init(name: String) { self.init(named: name) }

    /// Refers to a table that needs no name of the program's: SQL has one that no other table of the statement has.
    public init() { self.init(named: AliasNumber.next()) }
}

extension TableAlias where RowDecoder: TableRecord {
    /// Creates a name for the table of a type.
    ///
    /// - Parameter name: The name, without quotes: SQL gets it quoted. No other table of the statement may have it.
    public init(_ name: String) { self.init(named: name) }

    /// Creates a name for the table of a type.
    ///
    /// - Parameter name: The name, without quotes: SQL gets it quoted. No other table of the statement may have it.
    public init(name: String) { self.init(named: name) }

    /// Refers to the table of a type that needs no name of the program's: SQL has one that no other table of the statement has.
    public init() { self.init(named: AliasNumber.next()) }

    /// A column that the type declares: `alias.score`.
    ///
    /// - Parameter column: A static property of the type's ``TableRecord/Columns``.
    public subscript(dynamicMember column: KeyPath<RowDecoder.Columns.Type, some ColumnExpression>)
        -> SQLExpression
    { self[Column(RowDecoder.Columns.self[keyPath: column].name)] }
}

/// The numbers of aliases that have no name.
enum AliasNumber {
    private static let count = Atomic<Int>(0)

    fileprivate static func next() -> String {
        "\0\(count.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    /// Whether the name is to be found when the statement is written.
    static func isUnnamed(_ name: String) -> Bool { name.utf8.first == 0 }
}

// Table aliases, named or generated, which qualify the columns of a table in a request.

import Synchronization

/// The name of a table inside a request, for columns that could belong to another table.
///
/// ```swift
/// let (player, team) = (TableAlias("p"), TableAlias("t"))
/// let request = Player.aliased(player)
///     .join(Table("team"), aliased: team, on: player[Column("teamID")] == team[Column("id")])
///     .filter(team[Column("color")] == "red")
/// // SELECT "p".* FROM "player" AS "p" JOIN "team" AS "t" ON "p"."teamID" = "t"."id" WHERE "t"."color" = 'red'
/// ```
///
/// An alias for the table of a type has the columns that the type declares:
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

    /// Returns a column of the table: `"p"."id"`.
    ///
    /// - Parameter column: The column. Only its name matters.
    public subscript(_ column: Column) -> SQLExpression {
        SQLExpression(.column(table: name, name: column.name))
    }

    /// All columns of the table: `"p".*`.
    public var allColumns: SQLSelection { SQLSelection(.allColumns(of: name)) }
}

extension TableAlias<Void> {
    /// Creates an alias with the given name.
    ///
    /// - Parameter name: The name, without quotes. It is quoted in SQL. No other table of the
    ///   statement may have it.
    public init(_ name: String) { self.init(named: name) }

    /// Creates an alias with the given name.
    ///
    /// - Parameter name: The name, without quotes. It is quoted in SQL. No other table of the
    ///   statement may have it.
    public init(name: String) { self.init(named: name) }

    /// Creates an alias with a generated name, which no other table of the statement has.
    public init() { self.init(named: AliasNumber.next()) }
}

extension TableAlias where RowDecoder: TableRecord {
    /// Creates an alias with the given name, for the table of a type.
    ///
    /// - Parameter name: The name, without quotes. It is quoted in SQL. No other table of the
    ///   statement may have it.
    public init(_ name: String) { self.init(named: name) }

    /// Creates an alias with the given name, for the table of a type.
    ///
    /// - Parameter name: The name, without quotes. It is quoted in SQL. No other table of the
    ///   statement may have it.
    public init(name: String) { self.init(named: name) }

    /// Creates an alias with a generated name, for the table of a type. No other table of the
    /// statement has that name.
    public init() { self.init(named: AliasNumber.next()) }

    /// Returns a column that the type declares: `alias.score`.
    ///
    /// - Parameter column: A static property of the type's ``TableRecord/Columns``.
    public subscript(dynamicMember column: KeyPath<RowDecoder.Columns.Type, some ColumnExpression>)
        -> SQLExpression
    { self[Column(RowDecoder.Columns.self[keyPath: column].name)] }
}

/// The numbers of unnamed aliases.
enum AliasNumber {
    private static let count = Atomic<Int>(0)

    fileprivate static func next() -> String {
        "\0\(count.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    /// Whether the name is generated when the statement is written.
    static func isUnnamed(_ name: String) -> Bool { name.utf8.first == 0 }
}

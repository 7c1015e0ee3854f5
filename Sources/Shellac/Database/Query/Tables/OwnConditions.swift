/// What holds of all rows of a type, where these are some of its table's: a class among the kinds of a table has such a
/// condition, and a type with a default filter.
///
/// It is not part of what a program asks for: each query of the type's rows has it, and each table that is joined. It is made in one place,
/// ``TableRecord/_ownConditions``, so that nothing that reads rows of a type can forget it.
public final class _OwnConditions: Sendable {
    /// All that holds.
    let condition: SQLExpression
    /// What tells the class, alone.
    fileprivate let kind: SQLExpression?
    private let filters: [DefaultFilter.Condition]

    /// - Returns: Nil where nothing is asked of the rows.
    convenience init?(kind: SQLExpression?, _ filter: DefaultFilter) {
        self.init(kind, filter.conditions)
    }

    private init?(_ kind: SQLExpression?, _ filters: [DefaultFilter.Condition]) {
        let conditions = (kind.map { [$0] } ?? []) + filters.map(\.expression)
        guard !conditions.isEmpty else { return nil }
        condition = conditions.count == 1 ? conditions[0] : .chain(.and, conditions)
        (self.kind, self.filters) = (kind, filters)
    }

    /// Returns what holds where conditions are left out: nil where that is nothing, and what throws where it is used, where there is none
    /// of such a name.
    fileprivate func condition(leavingOut names: [DefaultFilter.Name], of type: Any.Type) -> SQLExpression? {
        if names.isEmpty { return condition }
        if let name = names.first(where: { name in !filters.contains { $0.name == name } }) {
            return Self.refusal(name, filters, of: type)
        }
        return _OwnConditions(kind, filters.filter { !names.contains($0.name) })?.condition
    }

    /// What stands for a condition that nobody has named: it throws where it is used.
    fileprivate static func refusal(
        _ name: DefaultFilter.Name, _ filters: [DefaultFilter.Condition] = [], of type: Any.Type?
    ) -> SQLExpression {
        let names = filters.map { "\($0.name)" }
        let owner = type.map { "\($0)" } ?? "a table without a type"
        let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
        let sentence =
            "\(owner) has no default filter that is named \(name): \(known)\(names.question(for: "\(name)"))"
        return SQLExpression(
            .late(RefusedCondition(DatabaseError(resultCode: .SQLITE_MISUSE, message: sentence))))
    }
}

/// Which of the conditions of a type hold of the rows of a query.
///
/// The type is asked for them when the query is written, and not when it is made: it may name relations in them, whose queries are made
/// while the type's own constants are.
enum OwnScope: Sendable {
    /// All conditions hold.
    case whole
    /// All hold but those that are left out by their names.
    case leavingOut([DefaultFilter.Name])
    /// The rows are those of the class, whatever its default filter says.
    case kind
    /// Nothing is asked of the rows.
    case none

    private var leftOut: [DefaultFilter.Name] { if case .leavingOut(let names) = self { names } else { [] } }

    /// Whether a condition is left out by its name.
    func leavesOut(_ name: DefaultFilter.Name) -> Bool { leftOut.contains(name) }

    mutating func leaveOut(_ name: DefaultFilter.Name) {
        switch self {
        case .whole, .leavingOut: if !leavesOut(name) { self = .leavingOut(leftOut + [name]) }
        case .kind, .none: break
        }
    }

    /// Adds the conditions of another scope: all hold that hold in either, and only what both leave out is left out.
    mutating func formUnion(_ other: OwnScope) {
        switch (self, other) {
        case (_, .none), (.whole, _), (.leavingOut, .kind): break
        case (.none, _), (.kind, _), (_, .whole): self = other
        case (.leavingOut, .leavingOut):
            let names = leftOut.filter(other.leavesOut)
            self = names.isEmpty ? .whole : .leavingOut(names)
        }
    }

    /// What holds of the rows.
    ///
    /// - Parameter type: The type of the rows. Nil where they are of none, which has no conditions.
    func condition(of type: (any TableRecord.Type)?) -> SQLExpression? {
        switch self {
        case .none: return nil
        case .kind: return type?._ownConditions?.kind
        case .whole, .leavingOut:
            guard let type, let own = type._ownConditions else {
                return leftOut.first.map { _OwnConditions.refusal($0, of: type) }
            }
            return own.condition(leavingOut: leftOut, of: type)
        }
    }
}

/// A condition that cannot be meant: it throws where it is written.
final class RefusedCondition: LateExpression, @unchecked Sendable {  // constant
    private let error: DatabaseError

    init(_ error: DatabaseError) { self.error = error }

    override func expression(
        of source: QuerySource?, among names: [String], on db: Database
    ) throws -> SQLExpression { throw error }
}

extension TableRecord {
    public static var _ownConditions: _OwnConditions? { _OwnConditions(kind: nil, defaultFilter) }

    public static var databaseDefaultFilter: DefaultFilter { DefaultFilter() }

    /// Requests all rows, also those that a condition of ``databaseDefaultFilter`` leaves out.
    ///
    /// ```swift
    /// let all = try Player.unfiltered(by: .archived).fetchAll(db)
    /// ```
    ///
    /// - Parameter names: The conditions that are left out. The request throws where the type has none of such a name.
    public static func unfiltered(by names: DefaultFilter.Name...) -> QueryInterfaceRequest<Self> {
        all().with { query in for name in names { query.own.leaveOut(name) } }
    }
}

extension RefinableRequest {
    /// Leaves conditions of the type's ``TableRecord/databaseDefaultFilter`` out.
    ///
    /// - Parameter names: The conditions that are left out. The request throws where the type has none of such a name.
    public func unfiltered(by names: DefaultFilter.Name...) -> Refined {
        derived { query in for name in names { query.own.leaveOut(name) } }
    }
}

extension SelectQuery {
    /// What holds of the rows of the type, said of its table where others stand beside it.
    var ownCondition: SQLExpression? {
        own.condition(of: source.type).map(scoped)
    }

    /// Says that columns are those of the type's table, where others stand beside it.
    func scoped(_ expression: SQLExpression) -> SQLExpression {
        guard !joins.isEmpty, let name = source.name else { return expression }
        return expression.moved(to: ColumnScope(table: name))
    }

    /// All that must hold of a row.
    var condition: SQLExpression? {
        guard let own = ownCondition else { return given }
        return given.map { .chain(.and, [own, $0]) } ?? own
    }
}

extension QueryJoin {
    /// Joins the table of a query, whose rows are those of its type.
    init(isLeft: Bool, wholeTable query: SelectQuery, alias: String?, on condition: SQLExpression) {
        var source = query.source
        source.alias = alias ?? source.alias
        let own = query.own.condition(of: query.source.type).flatMap { own in
            source.name.map { own.moved(to: ColumnScope(table: $0)) }
        }
        self.init(
            isLeft: isLeft, source: source,
            condition: own.map { .chain(.and, [condition, $0]) } ?? condition)
    }
}

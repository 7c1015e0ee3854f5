/// The conditions on all rows of a type, if these are only some rows of its table.
///
/// A class in single-table inheritance has such a condition, and so has a type with a default
/// filter.
///
/// Each query for the type's rows adds it, and so does each join of its table. It is built in one
/// place, ``TableRecord/_ownConditions``, so that no code that reads rows of a type can forget it.
public final class _OwnConditions: Sendable {
    /// All conditions, joined by AND.
    let condition: SQLExpression
    /// The condition of the class alone.
    fileprivate let kind: SQLExpression?
    private let filters: [DefaultFilter.Condition]

    /// - Returns: Nil if there is no condition on the rows.
    convenience init?(kind: SQLExpression?, _ filter: DefaultFilter) {
        self.init(kind, filter.conditions)
    }

    private init?(_ kind: SQLExpression?, _ filters: [DefaultFilter.Condition]) {
        let conditions = (kind.map { [$0] } ?? []) + filters.map(\.expression)
        guard !conditions.isEmpty else { return nil }
        condition = conditions.count == 1 ? conditions[0] : .chain(.and, conditions)
        (self.kind, self.filters) = (kind, filters)
    }

    /// Returns the conditions without the named ones, or nil if none remain. If a name does not
    /// exist, returns an expression that throws when it is written.
    fileprivate func condition(leavingOut names: [DefaultFilter.Name], of type: Any.Type) -> SQLExpression? {
        if names.isEmpty { return condition }
        if let name = names.first(where: { name in !filters.contains { $0.name == name } }) {
            return Self.refusal(name, filters, of: type)
        }
        return _OwnConditions(kind, filters.filter { !names.contains($0.name) })?.condition
    }

    /// Returns a stand-in for a condition of an unknown name. It throws when it is written.
    fileprivate static func refusal(
        _ name: DefaultFilter.Name, _ filters: [DefaultFilter.Condition] = [], of type: Any.Type?
    ) -> SQLExpression {
        let names = filters.map { "\($0.name)" }
        let owner = type.map { "\($0)" } ?? "a table without a type"
        let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
        let sentence =
            "\(owner) has no default filter named \(name): \(known)\(names.question(for: "\(name)"))"
        return SQLExpression(
            .late(RefusedCondition(DatabaseError(resultCode: .SQLITE_MISUSE, message: sentence))))
    }
}

/// The conditions of a type that apply to the rows of a query.
///
/// The query gets them from the type when it is written, not when it is created. The conditions may
/// refer to relations, whose queries are created along with the type's own constants.
enum OwnScope: Sendable {
    /// All conditions apply.
    case whole
    /// All conditions apply except the named ones.
    case leavingOut([DefaultFilter.Name])
    /// Only the condition of the class applies, not its default filter.
    case kind
    /// No condition applies.
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

    /// Adds the conditions of another scope. A condition is left out only if both leave it out.
    mutating func formUnion(_ other: OwnScope) {
        switch (self, other) {
        case (_, .none), (.whole, _), (.leavingOut, .kind): break
        case (.none, _), (.kind, _), (_, .whole): self = other
        case (.leavingOut, .leavingOut):
            let names = leftOut.filter(other.leavesOut)
            self = names.isEmpty ? .whole : .leavingOut(names)
        }
    }

    /// Returns the condition on the rows.
    ///
    /// - Parameter type: The type of the rows. Nil if they have none, and therefore no conditions.
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

/// A condition that makes no sense, and throws an error when it is written.
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

    /// Requests all rows, including those that a condition of ``databaseDefaultFilter`` leaves out.
    ///
    /// ```swift
    /// let all = try Player.ignoringDefaultFilter(.archived).fetchAll(db)
    /// ```
    ///
    /// - Parameter names: The conditions to leave out. The request throws if the type has none of
    ///   such a name.
    public static func ignoringDefaultFilter(_ names: DefaultFilter.Name...) -> QueryInterfaceRequest<Self> {
        all().with { query in for name in names { query.own.leaveOut(name) } }
    }

    @available(*, unavailable, renamed: "ignoringDefaultFilter(_:)")
    public static func unfiltered(by names: DefaultFilter.Name...) -> QueryInterfaceRequest<Self> { all() }
}

extension RequestBuilding {
    /// Leaves out conditions of the type's ``TableRecord/databaseDefaultFilter``.
    ///
    /// - Parameter names: The conditions to leave out. The request throws if the type has none of
    ///   such a name.
    public func ignoringDefaultFilter(_ names: DefaultFilter.Name...) -> Refined {
        derived { query in for name in names { query.own.leaveOut(name) } }
    }

    @available(*, unavailable, renamed: "ignoringDefaultFilter(_:)")
    public func unfiltered(by names: DefaultFilter.Name...) -> Refined { ignoringDefaultFilter() }
}

extension SelectQuery {
    /// The condition on the rows of the type, qualified with its table if there are others.
    var ownCondition: SQLExpression? {
        own.condition(of: source.type).map(scoped)
    }

    /// Qualifies columns with the type's table if there are others.
    func scoped(_ expression: SQLExpression) -> SQLExpression {
        guard !joins.isEmpty, let name = source.name else { return expression }
        return expression.moved(to: ColumnScope(table: name))
    }

    /// The full condition on a row.
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

/// What a relation is made of.
@_documentation(visibility: internal)
public struct RelationDefinition: Sendable {
    /// Which relation it is: what is derived from a relation is the same one.
    var identity = RelationIdentity() { didSet { form = RelationIdentity() } }
    /// Which value it is: what is derived from a relation is another one.
    private(set) var form = RelationIdentity()
    /// The type that the relation begins with.
    let owner: any TableRecord.Type
    /// The tables that are passed: the last one is the target's.
    var steps: [RelationStep] { didSet { form = RelationIdentity() } }
    /// Whether it gives a list.
    let isMany: Bool
    /// What makes records of its rows. Nil where these are none of a class.
    let target: RelatedClass?
    /// The most rows that one row is given.
    var limit: Int? { didSet { form = RelationIdentity() } }
    /// What is loaded along with the rows.
    var nested: [any Relation] { query.included.loads }
    var givenKey: String?
    /// Why the relation cannot be used as it was put together.
    private(set) var fault: String?

    init(
        _ owner: any TableRecord.Type, _ step: RelationStep, isMany: Bool, target: RelatedClass?
    ) {
        (self.owner, steps, self.isMany, self.target) = (owner, [step], isMany, target)
        identity = RelationIdentity(step)
    }

    /// Makes a relation that leads through another one.
    init(through path: RelationDefinition, using last: RelationDefinition, isMany: Bool) {
        owner = path.owner
        self.isMany = isMany
        target = last.target
        limit = last.limit
        let order = path.query.ordering
        fault = path.fault ?? last.fault ?? Self.fault(of: path, last, order)
        var passed = path.steps
        passed[passed.count - 1].query.ordering = []
        if let limit = path.limit {
            passed[passed.count - 1].firstRows = FirstRows(count: limit, ordering: order)
        }
        steps = passed + last.steps.shifted(by: passed.count)
        query.ordering = last.query.ordering.following(order, after: passed.count)
    }

    /// Why a relation cannot lead through another one.
    private static func fault(
        of path: RelationDefinition, _ last: RelationDefinition, _ order: [SQLOrdering]
    ) -> String? {
        if let limit = last.anyLimit, path.isMany {
            return
                "the limit of \(last.name()) would be one for each row of \(path.name()), through which it leads: write "
                + "limit(\(limit), perParent: true) behind the whole relation, for each \(path.owner)"
        }
        if path.query.isDistinct, path.limit != nil || !order.isEmpty {
            return
                "of the rows of \(path.name()), through which it leads, equal ones are left out, and so they have no order and no "
                + "limit: write distinct(), or one of these"
        }
        return nil
    }

    /// Traps where a relation of another kind, or to another type, is made of this.
    func checked<R: Relation>(as relation: R.Type, isMany: Bool) -> RelationDefinition {
        if self.isMany == isMany, targetType == R.Target.self { return self }
        Misuse.trap(
            "a \(relation) was made of what is \(name()), which gives \(self.isMany ? "a list" : "one") of \(targetType). "
                + "Derive it from that relation.")
    }

    /// The request for the rows, with what the relation was refined by.
    var query: SelectQuery {
        get { steps[steps.count - 1].query }
        set { steps[steps.count - 1].query = newValue }
    }

    /// The type that the relation leads to.
    var targetType: any TableRecord.Type { steps[steps.count - 1].type }

    /// The name that the relation has where nobody gave it one: singular for one row, plural for many.
    var key: String {
        if let givenKey { return givenKey }
        let name = targetType.databaseTableName
        return isMany ? Inflection.plural(name) : Inflection.singular(name)
    }

    /// The relation as it is told of.
    func name(_ key: String? = nil) -> String { "\(owner).\(key ?? self.key)" }
}

/// A relation's identity.
@usableFromInline
final class RelationIdentity: Sendable {
    /// The one step by which a foreign key is followed. Nil where the relation goes another way.
    let reference: (type: any TableRecord.Type, using: ForeignKey?)?

    init() { reference = nil }

    init(_ step: RelationStep) { reference = step.direction == .up ? (step.type, step.using) : nil }

    /// Another identity of what goes the same way.
    init(copying other: RelationIdentity) { reference = other.reference }
}

/// A step from one table to another one, by a foreign key.
struct RelationStep: Sendable {
    enum Direction: Sendable {
        /// The foreign key is in the table that one comes from.
        case up
        /// The foreign key is in the table that the step leads to.
        case down
    }

    let direction: Direction
    /// The type that the step leads to.
    let type: any TableRecord.Type
    /// The foreign key, where the schema does not tell which.
    let using: ForeignKey?
    /// The rows that it leads to.
    var query: SelectQuery
    /// The first of them, where others lead nowhere: of all that one row is given by this step and those before it.
    var firstRows: FirstRows?

    init(_ direction: Direction, _ type: any TableRecord.Type, using: ForeignKey?) {
        (self.direction, self.type, self.using) = (direction, type, using)
        query = SelectQuery(QuerySource(.type(type)))
    }
}

extension [RelationStep] {
    /// The same steps, behind others.
    fileprivate func shifted(by count: Int) -> [RelationStep] {
        map { step in
            var step = step
            step.firstRows = step.firstRows.map {
                FirstRows(count: $0.count, ordering: $0.ordering.following([], after: count))
            }
            return step
        }
    }
}

/// The columns of a foreign key, where the schema does not tell which one a relation goes by.
///
/// ```swift
/// class Match: Record {
///     static let home = belongsTo(Team.self, using: "homeTeamID")
///     static let guest = belongsTo(Team.self, using: "guestTeamID")
/// }
/// ```
public struct ForeignKey: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// The columns that refer to others.
    let originColumns: [String]
    /// The columns that they refer to. Nil for those of the foreign key in the schema, or the primary key.
    let destinationColumns: [String]?

    /// Names a foreign key by its columns.
    ///
    /// - Parameters:
    ///   - columns: The columns that refer to others.
    ///   - destination: The columns that they refer to: by default, those that the schema says, or the primary key.
    public init(_ columns: [String], to destination: [String]? = nil) {
        (originColumns, destinationColumns) = (columns, destination)
    }

    /// Names a foreign key by its columns.
    ///
    /// - Parameters:
    ///   - columns: The columns that refer to others.
    ///   - destination: The columns that they refer to: by default, those that the schema says, or the primary key.
    public init(_ columns: [Column], to destination: [Column]? = nil) {
        self.init(columns.map(\.name), to: destination?.map(\.name))
    }

    /// Whether these are the columns that refer to others, in their order.
    func isOf(_ columns: [String]) -> Bool {
        originColumns.count == columns.count
            && zip(originColumns, columns).allSatisfy { CaseInsensitiveName.matches($0, $1) }
    }

    public init(stringLiteral column: String) { self.init([column]) }
    public init(arrayLiteral columns: String...) { self.init(columns) }
}

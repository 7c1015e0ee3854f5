/// The parts of a relation.
@_documentation(visibility: internal)
public struct RelationDefinition: Sendable {
    /// The identity of the relation, which derived relations share.
    var identity = RelationIdentity() { didSet { form = RelationIdentity() } }
    /// The identity of this value. A derived relation has another one.
    private(set) var form = RelationIdentity()
    /// The table that the relation begins with.
    let owner: RelationEnd
    /// The steps to the tables on the way. The last one leads to the target.
    var steps: [RelationStep] { didSet { form = RelationIdentity() } }
    /// Whether a record has a list of related rows.
    let isMany: Bool
    /// The class that makes records of the rows. Nil if the target is no class of records.
    let target: RelatedClass?
    /// The most related rows of one row.
    var limit: Int? { didSet { form = RelationIdentity() } }
    /// The relations that are loaded along with the rows.
    var nested: [any Relation] { query.included.loads }
    var givenKey: String?
    /// The reason why the relation cannot be used in this combination, if there is one.
    private(set) var fault: String?

    init(
        _ owner: RelationEnd, _ direction: RelationStep.Direction, _ end: RelationEnd, _ key: String?,
        _ foreignKey: ForeignKey?, isMany: Bool, target: RelatedClass? = nil
    ) {
        self.init(
            owner, RelationStep(direction, end, using: foreignKey), isMany: isMany, target: target)
        givenKey = key
    }

    init(
        _ owner: RelationEnd, _ step: RelationStep, isMany: Bool, target: RelatedClass?
    ) {
        (self.owner, steps, self.isMany, self.target) = (owner, [step], isMany, target)
        identity = RelationIdentity(step)
    }

    /// Creates a relation that leads through another one.
    init(through path: RelationDefinition, using last: RelationDefinition, isMany: Bool, key: String?) {
        givenKey = key
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

    /// Returns the reason why a relation cannot lead through another one, or nil.
    private static func fault(
        of path: RelationDefinition, _ last: RelationDefinition, _ order: [SQLOrdering]
    ) -> String? {
        if let limit = last.anyLimit, path.isMany {
            return
                "the limit of \(last.name()) would apply to each row of \(path.name()), through which it "
                + "leads: write limitPerParent(\(limit)) after the whole relation, for each "
                + "\(path.owner)"
        }
        if path.query.isDistinct, path.limit != nil || !order.isEmpty {
            return
                "the rows of \(path.name()), through which it leads, are distinct, and so they can have "
                + "neither an order nor a limit: leave out distinct(), or both of these"
        }
        return nil
    }

    /// Returns this definition. Traps if the relation made of it has another kind or target.
    func checked<R: Relation>(as relation: R.Type, isMany: Bool) -> RelationDefinition {
        if self.isMany == isMany, targetEnd.type.map({ $0 == R.Target.self }) ?? true { return self }
        Misuse.trap(
            "a \(relation) was made from the definition of \(name()), which leads to "
                + "\(self.isMany ? "a list" : "one") of \(targetEnd). Derive it from that relation.")
    }

    /// The request for the related rows, with the relation's refinements.
    var query: SelectQuery {
        get { steps[steps.count - 1].query }
        set { steps[steps.count - 1].query = newValue }
    }

    /// The table that the relation leads to.
    var targetEnd: RelationEnd { steps[steps.count - 1].end }

    /// The name of the relation: the given one, or else singular for one row and plural for many.
    var key: String {
        if let givenKey { return givenKey }
        let name = targetEnd.tableName
        return isMany ? Inflection.plural(name) : Inflection.singular(name)
    }

    /// Returns the name of the relation in messages.
    func name(_ key: String? = nil) -> String { "\(owner).\(key ?? self.key)" }
}

/// The identity of a relation.
@usableFromInline
final class RelationIdentity: Sendable {
    /// The single step along a foreign key. Nil if the relation goes another way.
    let reference: (type: any TableRecord.Type, using: ForeignKey?)?

    init() { reference = nil }

    init(_ step: RelationStep) {
        reference = step.direction == .up ? step.end.type.map { ($0, step.using) } : nil
    }

    /// Creates another identity with the same step.
    init(copying other: RelationIdentity) { reference = other.reference }
}

/// A step from one table to another, by a foreign key.
struct RelationStep: Sendable {
    enum Direction: Sendable {
        /// The foreign key is in the table that the step begins at.
        case up
        /// The foreign key is in the table that the step leads to.
        case down
    }

    let direction: Direction
    /// The table that the step leads to.
    let end: RelationEnd
    /// The foreign key, if the schema does not determine it.
    let using: ForeignKey?
    /// The request for the rows that the step leads to.
    var query: SelectQuery
    /// The first rows, if only these lead on. They are counted among all rows that one row gets by
    /// this step and the steps before it.
    var firstRows: FirstRows?

    /// Whether both this and another step have an alias, and not the same one.
    func hasOtherAlias(than other: RelationStep) -> Bool {
        guard let alias = query.source.alias, let otherAlias = other.query.source.alias else { return false }
        return alias != otherAlias
    }

    init(_ direction: Direction, _ end: RelationEnd, using: ForeignKey?) {
        (self.direction, self.end, self.using) = (direction, end, using)
        query = SelectQuery(end.source)
    }
}

extension [RelationStep] {
    /// Returns the same steps, moved behind others.
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

/// The columns of a foreign key. Name them if the schema does not determine the key of a relation.
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
    /// The referenced columns. Nil means those of the foreign key in the schema, or the primary
    /// key.
    let destinationColumns: [String]?

    /// Creates a foreign key from its columns.
    ///
    /// - Parameters:
    ///   - columns: The columns that refer to others.
    ///   - destination: The referenced columns. By default, the schema determines them, or they are
    ///     the primary key.
    public init(_ columns: [String], to destination: [String]? = nil) {
        (originColumns, destinationColumns) = (columns, destination)
    }

    /// Creates a foreign key from its columns.
    ///
    /// - Parameters:
    ///   - columns: The columns that refer to others.
    ///   - destination: The referenced columns. By default, the schema determines them, or they are
    ///     the primary key.
    public init(_ columns: [Column], to destination: [Column]? = nil) {
        self.init(columns.map(\.name), to: destination?.map(\.name))
    }

    /// Returns whether the given columns refer to others by this key, in the same order.
    func isOf(_ columns: [String]) -> Bool {
        originColumns.count == columns.count
            && zip(originColumns, columns).allSatisfy { CaseInsensitiveName.matches($0, $1) }
    }

    public init(stringLiteral column: String) { self.init([column]) }
    public init(arrayLiteral columns: String...) { self.init(columns) }
}

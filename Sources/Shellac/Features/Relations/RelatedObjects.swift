// What is loaded for a record hangs in a chain at one word of it, which is nil until then:
//
//     record ──▸ RelatedMany(players) ──▸ RelatedOne(captain) ──▸ nil
//
// The links never change: so records with the same related objects share one, as all players of a team share the link that
// leads back to it. To load a relation again is to make a new chain.

/// A relation that was loaded for a record.
@usableFromInline
class RelatedObjects: RecordAttachment {
    /// The relation. Nil for a way back, which no relation was named for.
    @usableFromInline final let identity: RelationIdentity?
    @usableFromInline final let next: RelatedObjects?

    @usableFromInline
    init(_ identity: RelationIdentity?, _ next: RelatedObjects?) {
        (self.identity, self.next) = (identity, next)
    }

    /// What another record was given that refers to this one, and was not saved along since. Nil where that is not so.
    var givenReference: GivenReference? {
        guard savedRecords == nil, let identity, identity.reference != nil, let given = records.first else {
            return nil
        }
        return GivenReference(identity: identity, type: type(of: given), record: given)
    }

    /// Those of the chain.
    private final var givenReferences: [GivenReference] {
        var found: [GivenReference] = []
        var objects: RelatedObjects? = self
        while let candidate = objects {
            if let given = candidate.givenReference { found.append(given) }
            objects = candidate.next
        }
        return found
    }

    override final var mayRefuseSaving: Bool { !givenReferences.isEmpty }

    override final var ofSavedCopy: RecordAttachment? {
        givenReferences.reduce(nil as RelatedObjects?) { GivenReferenceMark($1, $0) }
    }

    /// Throws where the record was given one that it refers to, and is about to be saved referring to none.
    override final func checkSaving(_ record: Record, _ writer: RecordWriter, _ mask: ColumnMask?) throws {
        for given in givenReferences { try given.check(record, writer, mask) }
    }

    /// The same in front of another chain.
    func copy(before next: RelatedObjects?) -> RelatedObjects { RelatedObjects(identity, next) }

    /// The objects of a list, or the one.
    var records: [Record] { [] }

    /// What they were when they were loaded, or last saved along with the record. Nil where they never were.
    var savedRecords: [Record]? { nil }

    /// Adds an object to a list that is being loaded, and that nobody was given.
    func add(_ record: Record) {}

    /// Gives each object the way back to the record that it was loaded for.
    func lead(_ back: RelatedOwner) {}

    /// The same, saved as others. Nil for what never was.
    func saved(as records: [Record]?) -> RelatedObjects { self }
}

/// A list that was loaded.
@usableFromInline
final class RelatedMany<Target: Record>: RelatedObjects {
    @exclusivity(unchecked) @usableFromInline private(set) var objects: [Target]
    private let savedObjects: [Target]?
    /// Whether the objects are those that were loaded.
    private let isAsLoaded: Bool

    @usableFromInline
    convenience init(_ identity: RelationIdentity?, _ objects: [Target], saved: [Target]?) {
        self.init(identity, objects, saved: saved, isAsLoaded: false, nil)
    }

    /// A list that is to be loaded, of which a length is expected.
    @usableFromInline
    init(loading identity: RelationIdentity?, capacity: Int) {
        (objects, savedObjects, isAsLoaded) = ([], nil, true)
        objects.reserveCapacity(capacity)
        super.init(identity, nil)
    }

    private init(
        _ identity: RelationIdentity?, _ objects: [Target], saved: [Target]?, isAsLoaded: Bool,
        _ next: RelatedObjects?
    ) {
        (self.objects, savedObjects, self.isAsLoaded) = (objects, saved, isAsLoaded)
        super.init(identity, next)
    }

    override func lead(_ back: RelatedOwner) { for object in objects { object.relate(back) } }

    override func add(_ record: Record) { objects.append(unsafeDowncast(record, to: Target.self)) }

    override func copy(before next: RelatedObjects?) -> RelatedObjects {
        RelatedMany(identity, objects, saved: savedObjects, isAsLoaded: isAsLoaded, next)
    }

    // Arrays of classes differ in nothing but what the compiler knows of them. To convert one would be to cast each object.
    override var records: [Record] { unsafeBitCast(objects, to: [Record].self) }
    override var savedRecords: [Record]? {
        isAsLoaded ? records : savedObjects.map { unsafeBitCast($0, to: [Record].self) }
    }

    override func saved(as records: [Record]?) -> RelatedObjects {
        let saved = records.map { unsafeBitCast($0, to: [Target].self) }
        return RelatedMany(identity, objects, saved: saved, isAsLoaded: false, next)
    }
}

/// One object that was loaded, or that there is none.
@usableFromInline
final class RelatedOne<Target: Record>: RelatedObjects {
    @usableFromInline let object: Target?
    private let savedObject: Target??

    @usableFromInline
    init(
        _ identity: RelationIdentity?, _ object: Target?, saved: Target??, _ next: RelatedObjects? = nil
    ) {
        (self.object, savedObject) = (object, saved)
        super.init(identity, next)
    }

    override func copy(before next: RelatedObjects?) -> RelatedObjects {
        RelatedOne(identity, object, saved: savedObject, next)
    }

    override func lead(_ back: RelatedOwner) { object?.relate(back) }

    override var records: [Record] { object.map { [$0] } ?? [] }
    override var savedRecords: [Record]? { savedObject.map { $0.map { [$0] } ?? [] } }

    override func saved(as records: [Record]?) -> RelatedObjects {
        let saved = records.map { $0.first.map { unsafeDowncast($0, to: Target.self) } }
        return RelatedOne(identity, object, saved: saved, next)
    }
}

/// The way back from a record to the one that it was loaded for. It does not keep that alive, or a graph would never be
/// freed.
final class RelatedOwner: RelatedObjects {
    private(set) weak var owner: Record?
    /// The class of the owner, and the step that leads from it to the record.
    let type: Record.Type
    private let step: RelationPath.Step
    /// The foreign key of the record that refers to the owner.
    let columns: [String]
    /// Whether there is no owner, as the foreign key has become NULL.
    let isNowhere: Bool
    /// The columns of the owner that it is referred to by.
    var ownerColumns: [String] { step.from }

    convenience init(_ owner: Record, _ step: RelationPath.Step) {
        self.init(owner, of: Swift.type(of: owner), step)
    }

    /// - Parameter owner: The record that the way leads to, or nil where it leads nowhere.
    convenience init(_ owner: Record?, of type: Record.Type, _ step: RelationPath.Step) {
        self.init(owner, type, step, step.to.map(\.name), isNowhere: owner == nil, nil)
    }

    private init(
        _ owner: Record?, _ type: Record.Type, _ step: RelationPath.Step, _ columns: [String],
        isNowhere: Bool, _ next: RelatedObjects?
    ) {
        (self.owner, self.type, self.step, self.columns) = (owner, type, step, columns)
        self.isNowhere = isNowhere
        super.init(nil, next)
    }

    override func copy(before next: RelatedObjects?) -> RelatedObjects {
        RelatedOwner(owner, type, step, columns, isNowhere: isNowhere, next)
    }

    /// Whether another one is the same way.
    func isSame(as other: RelatedObjects) -> Bool {
        guard other.identity == nil else { return false }
        let other = unsafeDowncast(other, to: RelatedOwner.self)
        return isReplaced(by: other) && owner === other.owner && isNowhere == other.isNowhere
    }

    /// Whether a relation leads this way.
    func isReached(by definition: RelationDefinition) -> Bool {
        guard definition.steps.count == 1, definition.query.given == nil,
            definition.query.included.joins.isEmpty
        else { return false }
        return isReached(by: definition.identity)
    }

    /// Whether a relation goes by the same foreign key, though it may leave rows out.
    func isReached(by identity: RelationIdentity) -> Bool {
        guard let reference = identity.reference, let target = reference.type as? Record.Type,
            type.isSubclass(of: target)
        else { return false }
        guard let using = reference.using else { return step.isOnly }
        let isSame = using.destinationColumns.map { ForeignKey($0).isOf(step.from) } ?? step.isPlain
        return isSame && using.isOf(columns)
    }
}

extension Record {
    /// What was loaded for the record.
    @usableFromInline final var related: RelatedObjects? {
        @inline(__always)
        get { attachment.map { unsafeDowncast($0, to: RelatedObjects.self) } }
        set { attachment = newValue }
    }

    /// What was loaded for a relation.
    final func related(by identity: RelationIdentity) -> RelatedObjects? {
        var objects = related
        while let candidate = objects {
            if candidate.identity === identity { return candidate }
            objects = candidate.next
        }
        return nil
    }

    /// Puts what was loaded in front of all else, and forgets what the same relation had given.
    final func relate(_ objects: RelatedObjects) {
        let others = related?.without(objects)
        related = others === objects.next ? objects : objects.copy(before: others)
    }
}

extension RelatedObjects {
    /// The chain without what another one is to replace.
    fileprivate func without(_ other: RelatedObjects) -> RelatedObjects? {
        if isReplaced(by: other) { return next }
        guard let next else { return self }
        let rest = next.without(other)
        return rest === next ? self : copy(before: rest)
    }

    /// Whether another one takes its place: of the same relation, or by the same way.
    func isReplaced(by other: RelatedObjects) -> Bool {
        if let identity { return identity === other.identity }
        guard let back = self as? RelatedOwner, let other = other as? RelatedOwner else { return false }
        return back.type == other.type && back.columns == other.columns
    }
}

/// What makes the records of a class, and keeps them as related objects: compiled where the class is known.
@usableFromInline
struct RelatedClass: Sendable {
    let type: Record.Type
    /// Makes a record of a row.
    let make: @Sendable (LiveRow) throws -> Record
    /// Makes a list that the records are added to, of which a length is expected, or keeps one of them.
    let many: @Sendable (RelationIdentity?, Int) -> RelatedObjects
    let one: @Sendable (RelationIdentity?, Record?) -> RelatedObjects

    @inlinable
    init<Target: Record>(_ type: Target.Type) {
        self.init(
            type,
            make: { try Target.keptElement(of: $0) },
            many: { RelatedMany<Target>(loading: $0, capacity: $1) },
            one: { identity, record in
                let object = record.map { unsafeDowncast($0, to: Target.self) }
                return RelatedOne<Target>(identity, object, saved: .some(object))
            })
    }

    @usableFromInline
    init(
        _ type: Record.Type, make: @escaping @Sendable (LiveRow) throws -> Record,
        many: @escaping @Sendable (RelationIdentity?, Int) -> RelatedObjects,
        one: @escaping @Sendable (RelationIdentity?, Record?) -> RelatedObjects
    ) { (self.type, self.make, self.many, self.one) = (type, make, many, one) }
}

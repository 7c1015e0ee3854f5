// The related objects of a record.
//
// They are linked in a chain, which begins at one word of the record. The word is nil until a
// relation is loaded:
//
//     record ──▸ RelatedMany(players) ──▸ RelatedOne(captain) ──▸ nil
//
// The links never change, so records with the same related objects share one. All players of a
// team, for example, share the link that leads back to it. Loading a relation again makes a new
// chain.

/// A relation that was loaded for a record.
@usableFromInline
class RelatedObjects: RecordAttachment {
    /// The relation. Nil for a way back, which belongs to no named relation.
    @usableFromInline final let identity: RelationIdentity?
    @usableFromInline final let next: RelatedObjects?

    @usableFromInline
    init(_ identity: RelationIdentity?, _ next: RelatedObjects?) {
        (self.identity, self.next) = (identity, next)
    }

    /// The record that the program gave to this link's owner, which refers to it. Nil if there is
    /// none, or if both were saved together since.
    var givenReference: GivenReference? {
        guard savedRecords == nil, let identity, identity.reference != nil, let given = records.first else {
            return nil
        }
        return GivenReference(identity: identity, type: type(of: given), record: given)
    }

    /// The given references of the chain.
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

    /// Throws if the program gave the record one that it refers to, and the record is about to be
    /// saved with a NULL reference.
    override final func checkSaving(_ record: Record, _ writer: RecordWriter, _ mask: ColumnMask?) throws {
        for given in givenReferences { try given.check(record, writer, mask) }
    }

    /// Returns a copy of this link in front of another chain.
    func copy(before next: RelatedObjects?) -> RelatedObjects { RelatedObjects(identity, next) }

    /// The objects of a list, or the single object.
    var records: [Record] { [] }

    /// The objects when they were loaded, or last saved along with the record. Nil if neither has
    /// happened.
    var savedRecords: [Record]? { nil }

    /// Adds an object to a list that is being loaded, and that no record has yet.
    func add(_ record: Record) {}

    /// Gives each object the way back to the record that it was loaded for.
    func attachInverse(_ back: RelatedOwner) {}

    /// Returns the same objects, with others as the saved ones. Nil means that the objects were
    /// never saved.
    func saved(as records: [Record]?) -> RelatedObjects { self }
}

/// A loaded list.
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

    /// Creates an empty list for loading, with the given capacity.
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

    override func attachInverse(_ back: RelatedOwner) { for object in objects { object.attach(back) } }

    override func add(_ record: Record) { objects.append(unsafeDowncast(record, to: Target.self)) }

    override func copy(before next: RelatedObjects?) -> RelatedObjects {
        RelatedMany(identity, objects, saved: savedObjects, isAsLoaded: isAsLoaded, next)
    }

    // Arrays of classes differ only in their static types. A conversion would cast each object.
    override var records: [Record] { unsafeBitCast(objects, to: [Record].self) }
    override var savedRecords: [Record]? {
        isAsLoaded ? records : savedObjects.map { unsafeBitCast($0, to: [Record].self) }
    }

    override func saved(as records: [Record]?) -> RelatedObjects {
        let saved = records.map { unsafeBitCast($0, to: [Target].self) }
        return RelatedMany(identity, objects, saved: saved, isAsLoaded: false, next)
    }
}

/// One loaded object, or the fact that there is none.
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

    override func attachInverse(_ back: RelatedOwner) { object?.attach(back) }

    override var records: [Record] { object.map { [$0] } ?? [] }
    override var savedRecords: [Record]? { savedObject.map { $0.map { [$0] } ?? [] } }

    override func saved(as records: [Record]?) -> RelatedObjects {
        let saved = records.map { $0.first.map { unsafeDowncast($0, to: Target.self) } }
        return RelatedOne(identity, object, saved: saved, next)
    }
}

/// The way back from a record to the one that it was loaded for. The reference is weak, or a graph
/// would never be freed.
final class RelatedOwner: RelatedObjects {
    private(set) weak var owner: Record?
    /// The class of the owner, and the step that leads from it to the record.
    let type: Record.Type
    private let step: RelationPath.Step
    /// The foreign key of the record that refers to the owner.
    let columns: [String]
    /// Whether there is no owner, because the foreign key has become NULL.
    let isNowhere: Bool
    /// The columns of the owner that the foreign key refers to.
    var ownerColumns: [String] { step.from }

    convenience init(_ owner: Record, _ step: RelationPath.Step) {
        self.init(owner, of: Swift.type(of: owner), step)
    }

    /// - Parameter owner: The record that the way leads to, or nil if it leads nowhere.
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

    /// Returns whether another link is the same way back.
    func isSame(as other: RelatedObjects) -> Bool {
        guard other.identity == nil else { return false }
        let other = unsafeDowncast(other, to: RelatedOwner.self)
        return isReplaced(by: other) && owner === other.owner && isNowhere == other.isNowhere
    }

    /// Returns whether a relation leads this way.
    func isReached(by definition: RelationDefinition) -> Bool {
        guard definition.steps.count == 1, definition.query.given == nil,
            definition.query.included.joins.isEmpty
        else { return false }
        return isReached(by: definition.identity)
    }

    /// Returns whether a relation goes by the same foreign key, even if it leaves out rows.
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
    /// The chain of the record's related objects.
    @usableFromInline final var related: RelatedObjects? {
        @inline(__always)
        get { attachment.map { unsafeDowncast($0, to: RelatedObjects.self) } }
        set { attachment = newValue }
    }

    /// Returns the loaded objects of a relation.
    final func related(by identity: RelationIdentity) -> RelatedObjects? {
        var objects = related
        while let candidate = objects {
            if candidate.identity === identity { return candidate }
            objects = candidate.next
        }
        return nil
    }

    /// Puts loaded objects in front of the chain, and removes those that the same relation had
    /// before.
    final func attach(_ objects: RelatedObjects) {
        let others = related?.without(objects)
        related = others === objects.next ? objects : objects.copy(before: others)
    }
}

extension RelatedObjects {
    /// Returns the chain without the link that another one replaces.
    fileprivate func without(_ other: RelatedObjects) -> RelatedObjects? {
        if isReplaced(by: other) { return next }
        guard let next else { return self }
        let rest = next.without(other)
        return rest === next ? self : copy(before: rest)
    }

    /// Returns whether another link replaces this one: it has the same relation or the same way.
    func isReplaced(by other: RelatedObjects) -> Bool {
        if let identity { return identity === other.identity }
        guard let back = self as? RelatedOwner, let other = other as? RelatedOwner else { return false }
        return back.type == other.type && back.columns == other.columns
    }
}

/// The functions that make the records of a class and keep them as related objects. They are
/// compiled where the class is known.
@usableFromInline
struct RelatedClass: Sendable {
    let type: Record.Type
    /// Makes a record from a row.
    let make: @Sendable (LiveRow) throws -> Record
    /// Makes a list with the given capacity, to which the records are added. `one` keeps a single
    /// record.
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

// The check of foreign keys that were not filled in from a given record.
//
// The program may give a record the one that it refers to. Its foreign key gets that record's key
// only if both are saved together. Saving the record alone would store NULL.

/// The record that the program gave to another one, which refers to it.
struct GivenReference {
    /// The relation.
    let identity: RelationIdentity
    /// The class of the record.
    let type: Record.Type
    /// The record. Nil in a copy that is saved elsewhere, because only the record's owner may read
    /// it.
    var record: Record?

    /// Throws if the other record is about to be saved with a foreign key that is NULL.
    @inline(never)
    func check(_ record: Record, _ writer: RecordWriter, _ mask: ColumnMask?) throws {
        guard let reference = identity.reference else { return }
        let step = RelationStep(.up, .type(reference.type), using: reference.using)
        var definition = RelationDefinition(.type(Swift.type(of: record)), step, isMany: false, target: nil)
        definition.identity = identity
        let db = writer.database
        let path = try db.relations.path(of: definition, for: .type(Swift.type(of: record)), on: db).steps[0]
        let columns = path.from.compactMap(writer.columns.layout.column(named:))
        guard columns.contains(where: writer.columns.isNull),
            !path.from.contains(where: { record.isUnread($0, .null) }),
            mask.map({ columns.contains(where: $0.contains) }) ?? true
        else { return }
        let names = path.from.joined(separator: ", ")
        let key = try self.record?.encodedKey(path.to.map(\.name), of: definition, in: db)
        let what =
            key?.contains(where: \.isNull) == true
            ? "the \(type) that it was set to has no key yet. Save that first, and"
            : "its key was not filled in from the \(type) that it was set to:"
        throw RelationError.unsound(
            relation: definition.name(),
            reason:
                "the \(Swift.type(of: record)) would be saved with NULL in \(names), and \(what) set "
                + "\(names), or save both with save(db, with: \(definition.name())). If it should refer to "
                + "nothing, set the relation to nil"
        )
    }
}

/// The mark of a given record in a copy of the other one that is saved elsewhere. No relation of
/// the copy is loaded.
final class GivenReferenceMark: RelatedObjects {
    private let given: GivenReference

    init(_ given: GivenReference, _ next: RelatedObjects?) {
        self.given = GivenReference(identity: given.identity, type: given.type)
        super.init(RelationIdentity(), next)
    }

    override var givenReference: GivenReference? { given }

    override func copy(before next: RelatedObjects?) -> RelatedObjects { GivenReferenceMark(given, next) }
}

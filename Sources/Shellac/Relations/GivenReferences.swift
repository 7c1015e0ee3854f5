// A record may be given the one that it refers to. Its foreign key becomes that one's key where both are saved together, and nowhere else:
// so a save of the record alone would store NULL.

extension RelationIdentity {
    /// Throws where a record that was given another one is about to be saved with a foreign key that is NULL.
    @inline(never)
    func checkReference(
        of record: Record, to given: Record, _ writer: RecordWriter, _ mask: ColumnMask?
    ) throws {
        guard let reference else { return }
        let step = RelationStep(.up, reference.type, using: reference.using)
        var definition = RelationDefinition(type(of: record), step, isMany: false, target: nil)
        definition.identity = self
        let db = writer.database
        let path = try db.relations.path(of: definition, for: type(of: record), on: db).steps[0]
        let columns = path.from.compactMap(writer.columns.layout.column(named:))
        guard columns.contains(where: writer.columns.isNull),
            !path.from.contains(where: { record.isUnread($0, .null) }),
            mask.map({ columns.contains(where: $0.contains) }) ?? true
        else { return }
        let (type, names) = (type(of: given), path.from.joined(separator: ", "))
        let key = try given.encodedKey(path.to.map(\.name), of: definition, in: db)
        let what =
            key.contains(where: \.isNull)
            ? "the \(type) that it was set to has no key yet. Save that first, and"
            : "its key was not filled in from the \(type) that it was set to:"
        throw RelationError.unsound(
            relation: definition.name(),
            reason:
                "the \(Swift.type(of: record)) would be saved with NULL in \(names), and \(what) set \(names), or save both by "
                + "save(db, with: \(definition.name())). Where it is to refer to none, set the relation to nil"
        )
    }
}

/// The columns that the steps of a relation compare, read from the schema.
struct RelationPath {
    struct Step {
        /// The columns of the table that the step comes from.
        let from: [String]
        /// The columns of the table that it leads to.
        let to: [Target]
        /// Whether a relation need not name the columns that the key refers to, and whether the key
        /// is also the only one between the tables.
        let (isPlain, isOnly): (Bool, Bool)
        /// Whether both columns hold integers. SQLite then compares a column with the other one as
        /// with the values of the other one.
        let comparesIntegers: Bool

        /// Whether two keys lead to the same rows. Keys with NULL in the same columns count as
        /// equal: they lead to no rows.
        func areEqual(_ a: [DatabaseValue], _ b: [DatabaseValue]) -> Bool {
            zip(zip(a, b), to).allSatisfy { $0.0 == $0.1 || $1.comparison.areEqual($0.0, $0.1) }
        }
    }

    /// A column that values are compared with.
    ///
    /// A relation compares texts by the collation of the parent's column in both directions. SQLite
    /// does the same to enforce a foreign key. See ``TableSchema/collation(ofReferencesTo:)``.
    struct Target {
        let name: String
        let comparison: ColumnComparison
        /// The parent's collation. Nil if the column itself declares the same one.
        private let collation: Database.CollationName?

        /// Returns the column as one side of a comparison. The other side has no `COLLATE`.
        func compared(_ column: SQLExpression) -> SQLExpression {
            collation.map { column.collating($0) } ?? column
        }
    }

    let steps: [Step]

    /// Reads the columns from the schema.
    ///
    /// - Parameter end: The table whose rows have the relation. Its type may be a subclass of the
    ///   one that declares the relation.
    /// - Throws: ``RelationError/noForeignKey(relation:reason:)``, or the error of a missing table.
    init(_ definition: RelationDefinition, of end: RelationEnd, on db: Database) throws {
        var origin = end
        steps = try definition.steps.map { step in
            defer { origin = step.end }
            return try Step(step, from: origin, of: definition, on: db)
        }
    }
}

extension RelationPath.Target {
    /// Reads a column of a table, which may be its row id.
    init(_ name: String, in table: TableSchema) {
        (self.name, comparison, collation) = (name, table.comparison(ofColumn: name), nil)
    }

    /// Reads a column of a child, which refers to a column of its parent.
    init(_ name: String, in child: TableSchema, referringTo parentName: String, in parent: TableSchema) {
        let (own, collation) = (
            child.comparison(ofColumn: name), parent.collation(ofReferencesTo: parentName)
        )
        self.name = name
        guard let collation, collation != own.collation, let collationName = collation.name else {
            (comparison, self.collation) = (own, nil)
            return
        }
        // The column of a view may be any expression: only SQLite compares its values.
        let isKnown = own.collation != .unknown
        comparison = isKnown ? ColumnComparison(affinity: own.affinity, collation: collation) : own
        self.collation = Database.CollationName(rawValue: collationName)
    }
}

extension RelationPath.Step {
    fileprivate init(
        _ step: RelationStep, from origin: RelationEnd, of definition: RelationDefinition,
        on db: Database
    ) throws {
        let isUp = step.direction == .up
        let (childEnd, parentEnd) = isUp ? (origin, step.end) : (step.end, origin)
        let (child, parent) = try (childEnd.schema(on: db), parentEnd.schema(on: db))
        let key = try Self.columns(
            from: child, to: parent, parentEnd.primaryKey(of: parent), step,
            definition,
            db)
        from = isUp ? key.child : key.parent
        to = zip(key.child, key.parent).map { childName, parentName in
            isUp
                ? RelationPath.Target(parentName, in: parent)
                : RelationPath.Target(childName, in: child, referringTo: parentName, in: parent)
        }
        (isPlain, isOnly) = (key.isPlain, key.isOnly)
        let origin = isUp ? child : parent
        comparesIntegers =
            origin.kind == .table && from.count == 1 && to[0].comparison.affinity == .integer
            && origin.affinity(ofColumn: from[0]) ?? .integer == .integer && to[0].comparison.isComparable
    }

    /// Returns the columns of the foreign key.
    private static func columns(
        from child: TableSchema, to parent: TableSchema, _ primaryKey: [String], _ step: RelationStep,
        _ definition: RelationDefinition, _ db: Database
    ) throws -> (child: [String], parent: [String], isPlain: Bool, isOnly: Bool) {
        func error(_ reason: String) -> RelationError {
            .noForeignKey(relation: definition.name(), reason: reason)
        }
        let keys = try db.foreignKeys(on: child.name).filter {
            CaseInsensitiveName.matches($0.destinationTable, parent.name)
        }
        let found: (child: [String], parent: [String])
        if let using = step.using {
            for name in using.originColumns where child.column(named: name) == nil {
                let question = child.columns.map(\.name).question(for: name)
                throw error("the table \(child.name) has no column \(name)\(question)")
            }
            let declared = keys.first { using.isOf($0.originColumns) }
            found = (
                using.originColumns, using.destinationColumns ?? declared?.destinationColumns ?? primaryKey
            )
        } else {
            guard let only = keys.first, keys.count == 1 else {
                throw error(
                    keys.isEmpty
                        ? "the table \(child.name) has no foreign key that refers to \(parent.name). Declare one in the "
                            + "schema, or name the columns: using: \"\(Inflection.singular(parent.name))ID\""
                        : "the table \(child.name) has \(keys.count) foreign keys that refer to \(parent.name). Say which: "
                            + keys.map { "using: \($0.originColumns.sourceText)" }.joined(separator: ", or "))
            }
            found = (only.originColumns, only.destinationColumns)
        }
        guard found.child.count == found.parent.count, !found.child.isEmpty else {
            throw error(
                "the columns (\(found.child.joined(separator: ", "))) of \(child.name) refer to \(parent.name), whose "
                    + "key is (\(found.parent.joined(separator: ", "))). Name both: "
                    + "using: ForeignKey(\(found.child.sourceText), to: […])")
        }
        for name in found.parent
        where parent.column(named: name) == nil && !TableSchema.rowIDNames.contains(name) {
            throw error("the table \(parent.name) has no column \(name)")
        }
        let declared = keys.first { ForeignKey($0.originColumns).isOf(found.child) }
        let isPlain = ForeignKey(found.parent).isOf(declared?.destinationColumns ?? primaryKey)
        return (found.child, found.parent, isPlain, isPlain && declared != nil && keys.count == 1)
    }
}

extension [String] {
    /// The source code of the strings: one literal, or several in brackets.
    fileprivate var sourceText: String {
        let names = map { "\"\($0)\"" }.joined(separator: ", ")
        return count == 1 ? names : "[\(names)]"
    }
}

/// A connection's cache of the columns of relations, and of the related objects of peers.
final class RelationCache: AccessKeeper {
    private struct Key: Hashable {
        let identity: ObjectIdentifier
        let end: RelationEnd
    }
    private var paths: [Key: (definition: RelationIdentity, generation: UInt64, path: RelationPath)] = [:]

    /// Returns the columns that a relation compares, in the present schema.
    func path(
        of definition: RelationDefinition, for end: RelationEnd, on db: Database
    ) throws -> RelationPath {
        let generation = try db.schemaGeneration
        let key = Key(identity: ObjectIdentifier(definition.identity), end: end)
        if let known = paths[key], known.generation == generation { return known.path }
        let path = try RelationPath(definition, of: end, on: db)
        if paths.count >= 512 { paths.removeAll() }
        paths[key] = (definition.identity, generation, path)
        return path
    }

    /// The objects that were loaded for the peers of records, until the access ends.
    private(set) var peers: [PeerRelation: LoadedPeers] = [:]
    /// The same objects, by the identity of the relation's value that loaded them. Looking them up
    /// compares no refinements.
    private var peersOfForms: [PeerRelation.Form: LoadedPeers] = [:]

    /// Returns the objects that were loaded for the peers of a record.
    ///
    /// - Parameter key: Returns the relation with its refinements. It is called only if this value
    ///   of the relation has not loaded the objects.
    func loadedPeers(
        of form: PeerRelation.Form, _ key: () throws -> PeerRelation
    ) rethrows -> LoadedPeers? {
        if let known = peersOfForms[form] { return known }
        return peers.isEmpty ? nil : try peers[key()]
    }

    /// Keeps the objects that were loaded for the peers of records.
    func keep(_ loaded: LoadedPeers, for form: PeerRelation.Form, _ key: PeerRelation) {
        if peers.count >= 64 { releaseKept() }
        // Releasing the old objects may free records, which may call this class again.
        let old = (peers[key], peersOfForms[form])
        peers[key] = loaded
        peersOfForms[form] = loaded
        withExtendedLifetime(old) {}
    }

    #if DEBUG
    var loops = LoopAdvisor()
    #endif

    func releaseKept() {
        #if DEBUG
        loops.forgetCounts()
        #endif
        let old = (peers, peersOfForms)
        (peers, peersOfForms) = ([:], [:])
        withExtendedLifetime(old) {}
    }
}

extension Slot<RelationCache> {
    static var relations: Self { Slot(8, until: .closing) }
}

extension Database {
    /// This connection's cache for relations.
    var relations: RelationCache {
        checkAccess()
        if let relations = object(in: .relations) { return relations.object }
        let relations = RelationCache()
        fill(.relations, with: relations)
        return relations
    }
}

// Warns in debug builds when a relation is loaded record by record in a loop (N+1 queries).

#if DEBUG
/// A detector of loops that load a relation for one record after the other.
struct LoopAdvisor {
    /// The number of times that each relation was loaded in this access.
    private var counts: [ObjectIdentifier: Int] = [:]
    /// The relations that were counted or reported. They are kept alive, so that no other ones get
    /// their addresses.
    private var known: [ObjectIdentifier: RelationIdentity] = [:]
    private var told: Set<ObjectIdentifier> = []

    /// The number of loads that triggers the warning.
    static let limit = 30

    /// Notes that a relation was loaded for one record. Warns when the limit is reached.
    mutating func note(_ definition: RelationDefinition, for end: RelationEnd) {
        let identity = ObjectIdentifier(definition.identity)
        let count = counts[identity, default: 0] + 1
        counts[identity] = count
        if count == 1 { known[identity] = definition.identity }
        guard count == Self.limit, (end.type as? Record.Type)?.warnsOfRepeatedLoads ?? true,
            told.insert(identity).inserted
        else { return }
        let name = definition.name()
        ErrorLog.warn(
            "\(name) was loaded \(count) times, for one record after the other, with a statement for each. "
                + "One statement can load it for all records: fetch them with \(end).including(\(name)), or "
                + "load it with db.load(records, \(name)). If this is intended, override class var "
                + "warnsOfRepeatedLoads.")
    }

    /// Resets the counts at the end of the access.
    mutating func forgetCounts() { counts = [:] }
}
#endif

extension Database {
    /// Notes that a relation was loaded for one record, in builds that detect loops.
    func noteLoad(of definition: RelationDefinition, for end: RelationEnd) {
        #if DEBUG
        relations.loops.note(definition, for: end)
        isKeptForAccess = true
        #endif
    }
}

/// All workloads, in the order of the budget.
enum Catalogue {
    static let all =
        RowWorkloads.all + ValueWorkloads.all + AccessWorkloads.all + ExecuteWorkloads.all
        + SchemaWorkloads.all
        + RecordWorkloads.all
        + InsertionWorkloads.all + SavingWorkloads.all + ObservationWorkloads.all + JournalWorkloads.all
        + RequestWorkloads.all
        + StampWorkloads.all + RelationWorkloads.all + LiveWorkloads.all + PoolWorkloads.all
        + SearchWorkloads.all

    /// The workloads whose names begin with one of the prefixes, or all if there is no prefix.
    ///
    /// - Parameter inMemory: Whether those that count bytes are wanted, or the others. Both when
    ///   nil.
    /// - Throws: ``OptionError`` for a prefix that no workload has.
    static func workloads(startingWith prefixes: [String], inMemory: Bool?) throws -> [Workload] {
        for prefix in prefixes where !all.contains(where: { $0.name.hasPrefix(prefix) }) {
            throw OptionError("no workload begins with \(prefix)")
        }
        return all.filter { workload in
            (prefixes.isEmpty || prefixes.contains(where: workload.name.hasPrefix))
                && (inMemory.map { $0 == (workload.unit == .memory) } ?? true)
        }
    }
}

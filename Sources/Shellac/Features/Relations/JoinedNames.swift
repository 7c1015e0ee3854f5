/// The names that the tables of a statement have.
struct JoinedNames {
    private var taken: Set<CaseInsensitiveName>

    init(_ names: [String]) { taken = Set(names.map(CaseInsensitiveName.init)) }

    /// Returns the table of a step, under a name that no other one has. That is its own name, or
    /// its own name with a number behind it.
    mutating func source(of step: RelationStep) -> QuerySource {
        var source = step.query.source
        let base = source.alias ?? step.end.tableName
        var (name, number) = (base, 2)
        while !taken.insert(CaseInsensitiveName(name)).inserted {
            name = "\(base)\(number)"
            number += 1
        }
        if name != source.name { source.alias = name }
        return source
    }
}

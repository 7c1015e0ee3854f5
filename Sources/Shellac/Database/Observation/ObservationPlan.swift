/// What is kept of a statement between two of its runs: what it may do, and who wanted to hear of it last time.
final class ObservationPlan {
    /// The kinds that all observers are asked for, and then those that only observers of hidden changes are asked for.
    let kinds: [DatabaseEventKind]
    let openKindCount: Int
    /// What the observers answered last time, as bits, and the list of observers that was asked. Each has one number,
    /// or another one for each 64 kinds.
    @exclusivity(unchecked) private var answers: [UInt64] = []
    private var version: UInt = 0
    /// When they were asked: see ``ObserverList/generation``.
    var generation: UInt = 0
    /// The state of the schema that the statement was seen to fit before it ran last.
    var settledGeneration: UInt64 = 0
    /// The state of the schema in which the columns of the tables were learnt.
    var schemaGeneration: UInt64 = 0
    /// Those who wanted something.
    @exclusivity(unchecked) private var audience: Audience? {
        didSet {
            audienceReference = audience.map { Unretained($0) }
            needsPreUpdateHook = audience?.needsPreUpdateHook ?? false
            wantsValues = audience?.wantsValues ?? false
        }
    }
    /// The audience, to be followed without counting.
    private(set) var audienceReference: Unretained<Audience>?
    private(set) var needsPreUpdateHook = false
    private(set) var wantsValues = false

    /// How many numbers keep the answers of an observer.
    let wordCount: Int

    /// Keeps answers. Returns whether they differ from those of last time.
    func keep(_ word: UInt64, at index: Int) -> Bool {
        // (One that told changes where there are none would only make the audience once more.)
        if answers[index] == word { return false }
        answers[index] = word
        return true
    }

    /// Makes room for the answers of a list of observers, unless it is the one that was asked last time.
    func expectAnswers(of observerCount: Int, _ version: UInt) {
        if version == self.version { return }
        self.version = version
        answers = Array(repeating: 0, count: observerCount * wordCount)
        audience = nil
    }

    /// Makes the audience of those who have answered.
    @inline(never)
    func makeAudience(of registrations: [ObserverRegistration], on database: Database) {
        var listeners: [Audience.Listener] = []
        var unseen: Set<CaseInsensitiveName> = []
        for (index, registration) in registrations.enumerated() {
            let wanted = kinds.indices.filter { answer(of: index, to: $0) }.map { kinds[$0] }
            guard !wanted.isEmpty else { continue }
            listeners.append(Audience.Listener(registration: registration, kinds: wanted))
            for case .delete(let table) in wanted { unseen.insert(CaseInsensitiveName(table)) }
        }
        if !unseen.isSubset(of: database.tablesWithNotifiedDeletions) {
            database.tablesWithNotifiedDeletions.formUnion(unseen)
        }
        schemaGeneration = 0
        audience =
            listeners.isEmpty ? nil : Audience(listeners, movedTables: database.movedTables(by: kinds))
    }

    /// Whether an observer wanted a kind.
    private func answer(of observer: Int, to kind: Int) -> Bool {
        answers[observer * wordCount + kind / 64] & 1 << UInt64(kind % 64) != 0
    }

    init(_ effects: StatementEffects, _ database: Database) {
        let open = DatabaseEventKind.kinds(of: effects).map { kind in
            guard case .update(let table, var columns) = kind else { return kind }
            columns.formUnion(database.generatedColumns(of: table, in: effects.databases))
            return .update(tableName: table, columnNames: columns)
        }
        openKindCount = open.count
        // Every insertion, and every update, may replace rows.
        var hidden = Set(open.map { DatabaseEventKind.delete(tableName: $0.tableName) })
        hidden.subtract(open)
        kinds = open + hidden.sorted { $0.tableName < $1.tableName }
        wordCount = (kinds.count + 63) / 64
    }
}

extension Database {
    /// The tables whose row ids may be updated.
    fileprivate func movedTables(by kinds: [DatabaseEventKind]) -> Set<CaseInsensitiveName> {
        var moved: Set<CaseInsensitiveName> = []
        for case .update(let table, let columns) in kinds {
            let names = Set(columns.map(CaseInsensitiveName.init))
            // SQLite says ROWID whatever the column is called, and the name of the column where the statement does.
            let known = try? schema.tables(named: table).compactMap(\.primaryKey.rowIDColumn)
            let rowIDs = (known ?? Array(columns)) + ["rowid"]
            if rowIDs.contains(where: { names.contains(CaseInsensitiveName($0)) }) {
                moved.insert(CaseInsensitiveName(table))
            }
        }
        return moved
    }

    /// The generated columns of a table: they may change with any other.
    fileprivate func generatedColumns(of table: String, in databases: Set<String>) -> [String] {
        databases.flatMap { name -> [String] in
            let columns = try? schema.table(table, in: name)?.allColumns
            return columns?.filter(\.isGenerated).map(\.name) ?? []
        }
    }
}

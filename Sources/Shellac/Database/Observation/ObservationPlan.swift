/// The cached state of a statement between two runs: its possible changes and interested observers.
final class ObservationPlan {
    /// The kinds that all observers are asked about, followed by those that only observers of
    /// hidden changes are asked about.
    let kinds: [DatabaseEventKind]
    let openKindCount: Int
    /// The observers' last answers, as bits. Each observer has one number, or one for each 64
    /// kinds. `version` is that of the list of observers.
    @exclusivity(unchecked) private var answers: [UInt64] = []
    private var version: UInt = 0
    /// The generation in which they were asked: see ``ObserverList/generation``.
    var generation: UInt = 0
    /// The state of the schema for which the statement was checked before its last run.
    var settledGeneration: UInt64 = 0
    /// The state of the schema from which the columns of the tables were read.
    var schemaGeneration: UInt64 = 0
    /// The interested observers.
    @exclusivity(unchecked) private var audience: Audience? {
        didSet {
            audienceReference = audience.map { Unretained($0) }
            needsPreUpdateHook = audience?.needsPreUpdateHook ?? false
            wantsValues = audience?.wantsValues ?? false
        }
    }
    /// The audience, as a reference without retain and release.
    private(set) var audienceReference: Unretained<Audience>?
    private(set) var needsPreUpdateHook = false
    private(set) var wantsValues = false

    /// The number of integers that store the answers of an observer.
    let wordCount: Int

    /// Stores answers. Returns whether they differ from the last ones.
    func keep(_ word: UInt64, at index: Int) -> Bool {
        // (Returning true without a change would only rebuild the audience.)
        if answers[index] == word { return false }
        answers[index] = word
        return true
    }

    /// Makes room for the answers of a list of observers, unless it is the same list as last time.
    func expectAnswers(of observerCount: Int, _ version: UInt) {
        if version == self.version { return }
        self.version = version
        answers = Array(repeating: 0, count: observerCount * wordCount)
        audience = nil
    }

    /// Builds the audience from the answers.
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

    /// Whether an observer is interested in a kind.
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
    /// Returns the tables whose row ids may be updated.
    fileprivate func movedTables(by kinds: [DatabaseEventKind]) -> Set<CaseInsensitiveName> {
        var moved: Set<CaseInsensitiveName> = []
        for case .update(let table, let columns) in kinds {
            let names = Set(columns.map(CaseInsensitiveName.init))
            // SQLite reports ROWID whatever the column is called, and the name of the column if the
            // statement uses it.
            let known = try? schema.tables(named: table).compactMap(\.primaryKey.rowIDColumn)
            let rowIDs = (known ?? Array(columns)) + ["rowid"]
            if rowIDs.contains(where: { names.contains(CaseInsensitiveName($0)) }) {
                moved.insert(CaseInsensitiveName(table))
            }
        }
        return moved
    }

    /// Returns the generated columns of a table, which may change along with any other column.
    fileprivate func generatedColumns(of table: String, in databases: Set<String>) -> [String] {
        databases.flatMap { name -> [String] in
            let columns = try? schema.table(table, in: name)?.allColumns
            return columns?.filter(\.isGenerated).map(\.name) ?? []
        }
    }
}

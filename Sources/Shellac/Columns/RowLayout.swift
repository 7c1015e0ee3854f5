/// What all rows of a statement have in common: the names of their columns, and the SQL.
///
/// Names match without regard to the case of ASCII letters, and the leftmost of duplicates wins.
@usableFromInline
final class RowLayout: Sendable {
    @usableFromInline let names: [String]

    /// The SQL of the statement, for errors.
    let sql: String?

    /// The columns by name, for rows that are too wide for a search from left to right. Built when first asked.
    private let index = Lock<[CaseInsensitiveName: Int]?>(nil)

    @usableFromInline
    init(names: [String], sql: String?) {
        self.names = names
        self.sql = sql
    }

    /// The leftmost column of this name.
    @usableFromInline
    func column(named name: String) -> Int? {
        if names.count <= 12 {
            return names.firstIndex { CaseInsensitiveName.matches($0, name) }
        }
        return index.withLock { index in
            if index == nil {
                let columns = names.enumerated().map { (CaseInsensitiveName($1), $0) }
                index = Dictionary(columns, uniquingKeysWith: { leftmost, _ in leftmost })
            }
            return index?[CaseInsensitiveName(name)]
        }
    }
}

/// The open savepoints, the outermost first.
///
/// Names match without regard to case. Of several savepoints with the same name, a statement uses
/// the innermost. See "Savepoints" in the SQLite documentation.
struct SavepointStack {
    private struct Savepoint {
        let name: String
        let number: Int
    }

    private var savepoints: [Savepoint] = []
    private(set) var lastNumber = 0

    /// The names of the open savepoints.
    var names: [String] { savepoints.map(\.name) }

    #if DEBUG
    /// Their numbers.
    var numbers: [Int] { savepoints.map(\.number) }
    #endif

    /// The number of savepoints that are open.
    var depth: Int { savepoints.count }

    /// Opens a savepoint, and returns its unique number.
    @discardableResult
    mutating func open(_ name: String) -> Int {
        lastNumber += 1
        savepoints.append(Savepoint(name: name, number: lastNumber))
        return lastNumber
    }

    /// The number of the savepoint opened last.
    var innermost: Int? { savepoints.last?.number }

    /// The number of the savepoint opened first.
    var outermost: Int? { savepoints.first?.number }

    /// Whether a savepoint is open.
    func contains(_ number: Int) -> Bool { savepoints.contains { $0.number == number } }

    /// Returns the number of the innermost savepoint with a name.
    func number(of name: String) -> Int? { index(of: name).map { savepoints[$0].number } }

    /// Closes the innermost savepoint with a name, and all that were opened inside it.
    mutating func release(_ name: String) {
        guard let index = index(of: name) else { return }
        savepoints.removeSubrange(index...)
    }

    /// Rolls back to the innermost savepoint with a name. It stays open; those that were opened
    /// inside it are closed.
    mutating func rollBack(to name: String) {
        guard let index = index(of: name) else { return }
        savepoints.removeSubrange((index + 1)...)
    }

    mutating func removeAll() { savepoints.removeAll(keepingCapacity: true) }

    private func index(of name: String) -> Int? {
        savepoints.lastIndex { CaseInsensitiveName.matches($0.name, name) }
    }
}

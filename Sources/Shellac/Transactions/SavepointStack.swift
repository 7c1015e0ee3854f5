/// The open savepoints, the outermost first.
///
/// Names match without regard to case, and the innermost of several with the same name is meant. See
/// "Savepoints" in the SQLite documentation.
struct SavepointStack {
    private(set) var names: [String] = []

    /// How many savepoints are open.
    var depth: Int { names.count }

    mutating func open(_ name: String) { names.append(name) }

    /// Closes the innermost savepoint of a name, and all that were opened inside it.
    mutating func release(_ name: String) {
        guard let index = index(of: name) else { return }
        names.removeSubrange(index...)
    }

    /// Undoes what happened since the innermost savepoint of a name was opened. It stays open; those that were
    /// opened inside it are gone.
    mutating func rollBack(to name: String) {
        guard let index = index(of: name) else { return }
        names.removeSubrange((index + 1)...)
    }

    mutating func removeAll() { names.removeAll(keepingCapacity: true) }

    private func index(of name: String) -> Int? {
        names.lastIndex { CaseInsensitiveName.matches($0, name) }
    }
}

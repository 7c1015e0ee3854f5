/// The columns that a row was asked for, and does not have.
///
/// A record reads such a column as nil where it reads an optional, and nobody hears of it: a ``RowLayout`` that has one
/// of these notes the name.
class MissedNames: @unchecked Sendable {  // `noted` has a lock
    private let noted = Lock<[CaseInsensitiveName]>([])

    /// The names as they were asked, in order, each once.
    var names: [String] { noted.withLock { $0.map(\.name) } }

    func note(_ name: String) {
        let name = CaseInsensitiveName(name)
        noted.withLock { if !$0.contains(name) { $0.append(name) } }
    }
}

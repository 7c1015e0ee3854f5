/// The names of columns that a row was asked for but does not have.
///
/// A record that reads an optional from a missing column silently gets nil. A ``RowLayout`` with an
/// object of this class notes the name.
class MissedNames: @unchecked Sendable {  // `noted` has a lock
    private let noted = Lock<[CaseInsensitiveName]>([])

    /// The names as they were requested, in order and without duplicates.
    var names: [String] { noted.withLock { $0.map(\.name) } }

    func note(_ name: String) {
        let name = CaseInsensitiveName(name)
        noted.withLock { if !$0.contains(name) { $0.append(name) } }
    }
}

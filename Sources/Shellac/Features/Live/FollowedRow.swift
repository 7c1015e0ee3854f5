/// A row that records follow: see ``FollowedRows``.
struct FollowedRow {
    enum Known {
        case nothing
        case deleted
        case row(PackedRow)
    }

    var known = Known.nothing
    /// The followers of the row: mostly one.
    var first: RowFollower
    var others: [RowFollower] = []

    init(_ first: RowFollower) { self.first = first }

    var all: [RowFollower] { [first] + others }

    var isKnown: Bool { if case .nothing = known { false } else { true } }

    /// Whether a fetched row is the one that is known.
    func isKnown(as row: PackedRow?) -> Bool {
        switch (known, row) {
        case (.deleted, nil): true
        case (.row(let known), let row?): known.bytes.isSame(as: row.bytes)
        default: false
        }
    }

    /// Removes a follower. Returns false if it was the only one.
    mutating func remove(_ follower: RowFollower) -> Bool {
        others.removeAll { $0 === follower }
        guard first === follower else { return true }
        if others.isEmpty { return false }
        first = others.removeFirst()
        return true
    }
}

/// The notes of what a fetch must read.
struct FollowedNotes {
    /// The written rows, whose followers must get a state.
    var keys: Set<RowKey> = []
    /// The rows whose first follower came when they may have been written already.
    var joined: Set<RowKey> = []
    /// Whether any other row may have changed.
    var isAll = false
    /// Whether any row may have been written.
    var isAllWritten = false

    /// Whether no write is known.
    var isEmpty: Bool { keys.isEmpty && !isAll }

    mutating func noteAll(isWritten: Bool) { (isAll, isAllWritten) = (true, isAllWritten || isWritten) }

    mutating func formUnion(_ other: FollowedNotes) {
        keys.formUnion(other.keys)
        joined.formUnion(other.joined)
        if other.isAll { noteAll(isWritten: other.isAllWritten) }
    }
}

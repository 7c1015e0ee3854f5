// Debug checks of a record's snapshot, and of everything that a connection keeps.

#if DEBUG
extension RememberedRow: CheckedInvariants {
    var _violations: [String] {
        let (chunked, packed) = memory
        if let chunked {
            return chunked._violations + Self.violations(of: chunked.layoutReference.object)
                + Self.violations(ofMoment: chunked.moment)
        }
        return packed.map { Self.violations(of: $0, depth: 0) } ?? []
    }

    private static func violations(of row: PackedRow, depth: Int) -> [String] {
        var violations = row._violations + violations(of: row.layout) + violations(ofMoment: row.moment)
        // A row that is restored forgets its previous state.
        violations.expect(depth <= 2, "the previous state of a row has a previous state of its own")
        if depth > 2 { return violations }
        for previous in row.previousRows { violations += Self.violations(of: previous, depth: depth + 1) }
        return violations
    }

    private static func violations(of layout: RowLayout) -> [String] {
        guard let unread = layout.unreadColumns else { return [] }
        var violations = unread.row._violations
        violations.expect(unread.row.count > 0, "a layout notes unread columns, but has none")
        // If the flag was set to false, the row has all encoded columns, and unread columns stay
        // unread.
        let read = layout.sql == nil ? [] : unread.row.layout.names.filter { layout.column(named: $0) != nil }
        violations.expect(
            read.isEmpty, "\(read) are noted as unread, but are among the columns \(layout.names)")
        return violations
    }

    private static func violations(ofMoment moment: UInt64) -> [String] {
        moment <= Journal.latestMoment
            ? [] : ["a row was saved at the moment \(moment), which is in the future"]
    }
}

extension Record: CheckedInvariants {
    final var _violations: [String] { rememberedRow._violations }
}

extension Database {
    /// A sentence for each violated invariant of the connection's state. The state is its
    /// transaction and journal, the records saved in it, its statements, and the broker of its
    /// observers.
    var _violations: [String] {
        var violations = transactionLog._violations + statementCache._violations + (broker?._violations ?? [])
        for note in transactionLog.journal.notes {
            if let record = note.object as? Record { violations += record._violations }
            if let row = note.state as? PackedRow { violations += row._violations }
        }
        return violations
    }
}

extension Database: CheckedInvariants {}
#endif

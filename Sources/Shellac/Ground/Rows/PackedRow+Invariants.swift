// Debug checks of a packed row, and the earlier rows that it refers to.

#if DEBUG
extension PackedRow: CheckedInvariants {
    var _violations: [String] {
        withExtendedLifetime(self) {
            layout._violations
                + bytes._violations
        }
    }

    /// The remembered rows from before this one.
    var previousRows: [PackedRow] {
        switch memory {
        case .nothing, .forgotten: []
        case .row(let row): [row]
        case .save(let before, let after): [before, after].compactMap(\.self)
        case .merge(let before, let after): [before, after].compactMap(\.self)
        }
    }
}
#endif

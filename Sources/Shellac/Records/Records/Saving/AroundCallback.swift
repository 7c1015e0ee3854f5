/// How far what an `around` callback is called around has come.
///
/// The callback is handed a function that returns what was written. Where there is nothing to return, because a conflict was
/// resolved by ignoring the record, an error leads out of it.
struct AroundCallback<Success> {
    private enum Progress {
        case none, begun, ignored
        case done(Success)
    }
    private var progress = Progress.none

    /// Whether the error that has led out of the callback is ours.
    var isIgnored: Bool { if case .ignored = progress { true } else { false } }

    /// Runs what the callback is called around: a function that saves the record, and returns nil when a conflict was
    /// resolved by ignoring it.
    mutating func run(_ save: () throws -> Success?) throws -> Success {
        progress = .begun
        guard let success = try save() else {
            progress = .ignored
            throw IgnoredConflict()
        }
        progress = .done(success)
        return success
    }

    /// Returns what came of it: nil when a conflict was resolved by ignoring the record. A callback that did not run it is told so.
    func result(_ name: StaticString, _ type: any Any.Type) -> Success? {
        switch progress {
        case .done(let success): return success
        case .ignored: return nil
        case .begun, .none:
            Misuse.trap(
                "\(name) of \(type) has returned without having called the function that it was given, or has "
                    + "caught its error. Call it once, and let its errors through.")
        }
    }
}

/// Leads out of the `around` callbacks when a conflict was resolved by ignoring the record.
struct IgnoredConflict: Error, CustomStringConvertible {
    var description: String { "a conflict was resolved by ignoring the record" }
}

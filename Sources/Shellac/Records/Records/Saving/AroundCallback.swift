/// The progress of the operation inside an `around` callback.
///
/// The callback gets a function that returns what was written. If a conflict was resolved by
/// ignoring the record, there is nothing to return. Then the function throws an error to leave the
/// callback.
struct AroundCallback<Success> {
    private enum Progress {
        case none, begun, ignored
        case done(Success)
    }
    private var progress = Progress.none

    /// Whether the error that has left the callback is Shellac's own.
    var isIgnored: Bool { if case .ignored = progress { true } else { false } }

    /// Runs the operation inside the callback. The operation saves the record, and returns nil if a
    /// conflict was resolved by ignoring it.
    mutating func run(_ save: () throws -> Success?) throws -> Success {
        progress = .begun
        guard let success = try save() else {
            progress = .ignored
            throw IgnoredConflict()
        }
        progress = .done(success)
        return success
    }

    /// Returns the outcome, or nil if a conflict was resolved by ignoring the record. Traps if the
    /// callback did not run the operation.
    func result(_ name: StaticString, _ type: any Any.Type) -> Success? {
        switch progress {
        case .done(let success): return success
        case .ignored: return nil
        case .begun, .none:
            Misuse.trap(
                "\(name) of \(type) returned without calling the function that it received, or caught its error. "
                    + "Call the function once, and rethrow its errors.")
        }
    }
}

/// The error that leaves the `around` callbacks if a conflict was resolved by ignoring the record.
struct IgnoredConflict: Error, CustomStringConvertible {
    var description: String { "a conflict was resolved by ignoring the record" }
}

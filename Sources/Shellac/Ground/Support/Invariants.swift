// The protocol of data structures whose invariants are checked by tests in debug builds.

#if DEBUG
/// A structure whose invariants tests check, in debug builds, after what they do with it.
protocol CheckedInvariants: ~Copyable {
    /// A sentence for each invariant that does not hold.
    var _violations: [String] { get }
}

extension CheckedInvariants where Self: ~Copyable {
    /// Stops the program where an invariant does not hold.
    func _checkInvariants(file: StaticString = #fileID, line: UInt = #line) {
        let violations = _violations
        if violations.isEmpty { return }
        fatalError("Shellac is broken: \(violations.joined(separator: "; "))", file: file, line: line)
    }
}

extension [String] {
    /// Adds a sentence, unless what it denies holds.
    mutating func expect(_ holds: Bool, _ sentence: @autoclosure () -> String) {
        if !holds { append(sentence()) }
    }
}
#endif

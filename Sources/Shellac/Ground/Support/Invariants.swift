// A protocol of data structures whose invariants the tests check in debug builds.

#if DEBUG
/// A structure whose invariants the tests check after each use, in debug builds.
protocol CheckedInvariants: ~Copyable {
    /// One sentence for each violated invariant.
    var _violations: [String] { get }
}

extension CheckedInvariants where Self: ~Copyable {
    /// Stops the program if an invariant is violated.
    func _checkInvariants(file: StaticString = #fileID, line: UInt = #line) {
        let violations = _violations
        if violations.isEmpty { return }
        fatalError("Shellac is broken: \(violations.joined(separator: "; "))", file: file, line: line)
    }
}

extension [String] {
    /// Adds a sentence if the condition does not hold.
    mutating func expect(_ holds: Bool, _ sentence: @autoclosure () -> String) {
        if !holds { append(sentence()) }
    }
}
#endif

/// The check of statements that are about to write, in debug builds.
///
/// Each statement is checked once, until the checking function is replaced.
#if DEBUG
struct StatementAdvice {
    /// A number that changes with the checking function.
    private(set) var version = 0
    private var look: ((Statement) -> Void)?

    /// Sets the function that checks each statement that writes. It replaces the previous one.
    mutating func replace(_ look: @escaping (Statement) -> Void) {
        version += 1
        self.look = look
    }

    /// Checks a statement that is about to run.
    @inline(never)
    func look(at statement: Statement) {
        guard statement.adviceVersion >= 0 else { return }
        statement.adviceVersion = version
        look?(statement)
    }
}
#endif

extension Statement {
    /// Exempts one of Shellac's own statements from the check.
    func bypassAdvice() {
        #if DEBUG
        adviceVersion = -1
        #endif
    }
}

/// The check of statements that are about to write, in debug builds: each statement once, as long as nobody else looks.
#if DEBUG
struct StatementAdvice {
    /// Changes with who looks.
    private(set) var version = 0
    private var look: ((Statement) -> Void)?

    /// Sets the function that looks at each statement that writes, in place of the one before.
    mutating func replace(_ look: @escaping (Statement) -> Void) {
        version += 1
        self.look = look
    }

    /// Looks at a statement that is about to run.
    @inline(never)
    func look(at statement: Statement) {
        guard statement.adviceVersion >= 0 else { return }
        statement.adviceVersion = version
        look?(statement)
    }
}
#endif

extension Statement {
    /// Exempts the statement from all looks: it is one of ours.
    func bypassAdvice() {
        #if DEBUG
        adviceVersion = -1
        #endif
    }
}

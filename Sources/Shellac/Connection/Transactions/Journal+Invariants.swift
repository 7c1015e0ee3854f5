// Debug checks of the invariants of savepoints, the journal and the transaction log.

#if DEBUG
import CSQLite

extension SavepointStack: CheckedInvariants {
    var _violations: [String] {
        var violations: [String] = []
        let numbers = self.numbers
        violations.expect(
            numbers.isStrictlyAscending,
            "the numbers of the open savepoints are \(numbers): not nested in order")
        violations.expect(
            numbers.allSatisfy { $0 > 0 && $0 <= lastNumber },
            "the savepoints \(numbers) are open of \(lastNumber)")
        return violations
    }
}

extension MarkedLog: CheckedInvariants {
    var _violations: [String] {
        var violations: [String] = []
        let numbers = marks.map(\.savepoint)
        violations.expect(
            numbers.isStrictlyAscending, "the marks are those of the savepoints \(numbers): not in order")
        let starts = marks.map(\.start)
        violations.expect(
            starts.isStrictlyAscending && starts.allSatisfy { 0..<count ~= $0 },
            "the elements since savepoints begin at \(starts) of \(count)")
        violations.expect(
            isEmpty || starts.first == 0, "elements are before the first mark, at \(starts.first ?? -1)")
        return violations
    }
}

extension Journal: CheckedInvariants {
    var _violations: [String] {
        var violations = log._violations
        violations.expect(
            notes.map(\.depth).isAscending && notes.allSatisfy { $0.depth >= 0 },
            "the depths of notes are \(notes.map(\.depth)): those made from inside of statements are not the last"
        )
        violations.expect(
            notes.allSatisfy { ($0.rowID?.column ?? 0) >= 0 },
            "a row id was given in a column that does not exist")
        violations.expect(moment <= Self.latestMoment, "the moment \(moment) is in the future")
        return violations
    }
}

extension TransactionLog: CheckedInvariants {
    var _violations: [String] {
        var violations = savepoints._violations + journal._violations
        violations.expect(openScopes >= 0, "\(openScopes) scopes are open")
        let marked = journal.log.marks.map(\.savepoint)
        violations.expect(
            marked.allSatisfy { $0 <= savepoints.lastNumber },
            "notes were made since the savepoints \(marked), of \(savepoints.lastNumber)")
        violations.expect(
            isOpen || savepoints.depth == 0,
            "\(savepoints.depth) savepoints are open outside of a transaction")
        violations.expect(
            !isOpenedBySavepoint || !isOpen || savepoints.depth > 0,
            "the savepoint that has opened the transaction is closed")
        violations.expect(
            journal.deepest <= database.callbackDepth,
            "a note was made \(journal.deepest) functions deep, and \(database.callbackDepth) are running")
        guard database.isIdle else { return violations }
        let isInside = sqlite3_get_autocommit(database.pointer) == 0
        violations.expect(isOpen == isInside, "the transaction is \(isOpen ? "" : "not ")thought to be open")
        violations.expect(isOpen || journal.isEmpty, "\(journal.count) notes have outlived their transaction")
        violations.expect(!journal.hasDepartures, "notes that have ended were not released")
        violations.expect(!hasUndoneStatements, "statements are thought to be undone that are not running")
        return violations
    }
}

extension Database {
    /// Whether no statement is running, and no function that a statement has called.
    var isIdle: Bool { !isClosed && callbackDepth == 0 && lastBegun == nil }
}

extension Array where Element: Comparable {
    fileprivate var isStrictlyAscending: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }
    fileprivate var isAscending: Bool { zip(self, dropFirst()).allSatisfy { $0 <= $1 } }
}
#endif

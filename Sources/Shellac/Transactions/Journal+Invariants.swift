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

extension Journal: CheckedInvariants {
    var _violations: [String] {
        var violations: [String] = []
        violations.expect(
            marks.map(\.savepoint).isStrictlyAscending,
            "the marks are those of the savepoints \(marks.map(\.savepoint)): not nested in order")
        violations.expect(
            marks.map(\.start).isAscending && marks.allSatisfy { $0.start >= 0 && $0.start <= notes.count },
            "the notes of savepoints begin at \(marks.map(\.start)) of \(notes.count)")
        violations.expect(
            notes.map(\.depth).isAscending && notes.allSatisfy { $0.depth >= 0 },
            "the depths of notes are \(notes.map(\.depth)): those made from inside of statements are not the last"
        )
        violations.expect(
            notes.allSatisfy { ($0.rowID?.column ?? 0) >= 0 },
            "a row id was given in a column that there is not")
        violations.expect(moment <= Self.latestMoment, "the moment \(moment) is yet to come")
        return violations
    }
}

extension TransactionLog: CheckedInvariants {
    var _violations: [String] {
        var violations = savepoints._violations + journal._violations
        violations.expect(openScopes >= 0, "\(openScopes) scopes are open")
        let marked = journal.markedSavepoints
        violations.expect(
            marked.allSatisfy(savepoints.contains),
            "savepoints \(marked) have marks in the journal, and \(savepoints.numbers) are open")
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
        violations.expect(!journal.hasDepartures, "notes that have ended were not let go of")
        violations.expect(!hasUndoneStatements, "statements are thought to be undone that are not running")
        return violations
    }
}

extension Database {
    /// Whether no statement is running, nor any function that one has called.
    var isIdle: Bool { !isClosed && callbackDepth == 0 && lastBegun == nil }
}

extension Array where Element: Comparable {
    fileprivate var isStrictlyAscending: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }
    fileprivate var isAscending: Bool { zip(self, dropFirst()).allSatisfy { $0 <= $1 } }
}
#endif

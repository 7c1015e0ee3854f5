import Foundation
import TestSupport

/// A program of steps on heroes and teams: what a random history is made of. It is a value, so that
/// a failing one can be taken apart: see ``shrunk(while:)``.
struct History: CustomStringConvertible {
    var steps: [Step]

    /// A step of a program, or a scope with steps of its own.
    indirect enum Step {
        case run(Operation)
        case scope(Scope, [Step], Ending)
    }

    enum Scope: CaseIterable { case transaction, savepoint, rawTransaction, rawSavepoint }
    enum Ending: CaseIterable { case commit, rollback, error }

    /// Operations name records by numbers, which wrap around the records that there are: so any
    /// part of a program is one, too.
    indirect enum Operation {
        case make(Values)
        case fetchAll
        case fetch(id: Int)
        case fetchPart(id: Int, Columns)
        case fetchJoined(id: Int)
        case set(Int, Columns, Values)
        case setID(Int, Int?)
        case insert(Int, Policy)
        case update(Int)
        case updateColumns(Int, Columns)
        case updateChanges(Int)
        case updateChangesModifying(Int, Columns, Values)
        case save(Int)
        case delete(Int)
        case reload(Int)
        case copy(Int)
        case flag(Int, Bool)
        case upsert(Int)
        case insertAll([Values])
        case saveWhileEncoding(Int, Int)
        case rawInsert(Values)
        case rawUpdate(id: Int, Values)
        case rawUpdateAll(Int)
        case rawDelete(id: Int)
        case requestUpdate(Int)
        case requestDelete(Int)
        case insertTeam(Int)
        case deleteTeam(Int)
        /// Outside of transactions, in asynchronous accesses: what is saved stays with its owner,
        /// or is a copy handed over.
        case saveIn(Int, Columns, Values)
        case handOver(Int)
        case failingStatement, interruptedStatement
        /// Of stamped records. The clock moves inside of transactions, too, whose date does not.
        case moveClock
        case touch(Int)
        case saveWithoutStamps(Int)
        /// Of records that are called around their saves: what one does at a moment of an
        /// operation.
        case during(Moment, Deed, Operation)
        /// Between accesses: whether the changes of the tables are recorded from now on. Inside of
        /// one, undo is refused.
        case record(Bool)
        case undo, redo
    }

    enum Policy: CaseIterable { case abort, ignore, replace }

    var description: String { Self.lines(steps, "").joined(separator: "\n") }

    private static func lines(_ steps: [Step], _ indentation: String) -> [String] {
        steps.flatMap { step in
            switch step {
            case .run(let operation): [indentation + "\(operation)"]
            case .scope(let scope, let inner, let ending):
                ["\(indentation)\(scope) {"] + lines(inner, indentation + "  ")
                    + ["\(indentation)} \(ending)"]
            }
        }
    }
}

// MARK: - Making programs

extension History {
    /// Makes a program of a seed, which is another one for each class of records.
    init(seed: UInt64, for type: Adventurer.Type, count: Int) {
        let own = "\(type)".utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        var maker = Maker(random: SeededGenerator(seed: own))
        let records: [Step] = maker.number(0..<2) == 0 ? [.run(.record(true))] : []
        steps = records + maker.steps(count, depth: 0)
    }

    private struct Maker {
        var random: SeededGenerator

        mutating func number(_ range: Range<Int>) -> Int { .random(in: range, using: &random) }
        mutating func element<T>(_ elements: [T]) -> T { elements[number(0..<elements.count)] }

        mutating func steps(_ count: Int, depth: Int) -> [Step] {
            var steps: [Step] = []
            var left = count
            while left > 0 {
                if number(0..<10) < 2, depth < 4 {
                    let inner = min(left, number(1..<12))
                    let ending = element([Ending.commit, .commit, .rollback, .error])
                    let scope = depth == 0 ? element(Scope.allCases) : element([.savepoint, .rawSavepoint])
                    steps.append(.scope(scope, self.steps(inner, depth: depth + 1), ending))
                    left -= inner
                } else {
                    steps.append(.run(operation()))
                    left -= 1
                }
            }
            return steps
        }

        mutating func values() -> Values {
            Values(
                name: element(["a", "b", "c", "d", "e", "f"]), score: element([nil, 0, 1, 2, 300]),
                rating: element([nil, 1, 1.5, -0.0]), mood: element([nil, "", "glad", "sad"]),
                teamID: element([nil, nil, 1, 2, 3]), createdAt: date(), updatedAt: date(), ratedAt: date())
        }

        /// Returns a date that the program sets: mostly none, and seldom one that the clock may
        /// show.
        private mutating func date() -> Date? {
            element([nil, nil, nil, nil, nil, 0, 1, 77, 88]).map(History.date)
        }

        mutating func columns() -> Columns {
            // Stamps are mostly left alone.
            Columns(bits: UInt8(number(0..<4) == 0 ? number(1..<256) : number(1..<32)))
        }
        mutating func id() -> Int { number(1..<8) }
        mutating func record() -> Int { number(0..<64) }

        mutating func operation() -> Operation {
            switch number(0..<58) {
            case 0, 1: return .make(values())
            case 2: return .fetchAll
            case 3: return .fetch(id: id())
            case 4: return .fetchPart(id: id(), columns())
            case 5: return .fetchJoined(id: id())
            case 6, 7, 8, 9: return .set(record(), columns(), values())
            case 10: return .setID(record(), element([nil, id(), id()]))
            case 11, 12: return .insert(record(), element([.abort, .abort, .ignore, .replace]))
            case 13: return .update(record())
            case 14: return .updateColumns(record(), columns())
            case 15, 16: return .updateChanges(record())
            case 17: return .updateChangesModifying(record(), columns(), values())
            case 18, 19, 20: return .save(record())
            case 21: return .delete(record())
            case 22: return .reload(record())
            case 23: return .copy(record())
            case 24: return .flag(record(), element([true, false]))
            case 25: return .upsert(record())
            case 26: return .insertAll((0..<number(0..<4)).map { _ in values() })
            case 27: return .saveWhileEncoding(record(), record())
            case 28: return .rawInsert(values())
            case 29: return .rawUpdate(id: id(), values())
            case 30: return .rawUpdateAll(number(0..<4))
            case 31: return .rawDelete(id: id())
            case 32: return .requestUpdate(number(0..<3))
            case 33: return .requestDelete(number(0..<3))
            case 34: return .insertTeam(number(1..<4))
            case 35: return .deleteTeam(number(1..<4))
            case 36: return .failingStatement
            case 38, 39: return .saveIn(record(), columns(), values())
            case 40, 41: return .handOver(record())
            case 42, 43: return .moveClock
            case 44: return .touch(record())
            case 45: return .saveWithoutStamps(record())
            case 46, 47, 48, 49, 50: return .during(element(Moment.allCases), deed(), save(record()))
            case 51: return element([.record(true), .record(true), .record(false)])
            case 52, 53, 54: return .undo
            case 55, 56: return .redo
            case 57: return .deleteTeam(number(1..<3))
            default: return .interruptedStatement
            }
        }

        mutating func deed() -> Deed {
            switch number(0..<5) {
            case 0, 1: .change(columns(), values())
            case 2: .fail
            default: .saveOther(record())
            }
        }

        /// An operation around which a record is called.
        mutating func save(_ record: Int) -> Operation {
            switch number(0..<10) {
            case 0, 1, 2: .save(record)
            case 3: .insert(record, element([.abort, .ignore, .replace]))
            case 4: .update(record)
            case 5: .updateColumns(record, columns())
            case 6: .updateChanges(record)
            case 7: .upsert(record)
            case 8: .touch(record)
            default: .delete(record)
            }
        }
    }
}

// MARK: - Shrinking

extension History.Operation {
    /// The number of the record that is saved or deleted.
    var saved: Int? {
        switch self {
        case .save(let number), .insert(let number, _), .update(let number), .updateColumns(let number, _),
            .updateChanges(let number), .upsert(let number), .touch(let number), .delete(let number):
            number
        default: nil
        }
    }
}

extension History {
    /// A program that still fails, of which no step can be left out.
    func shrunk(while fails: (History) async -> Bool) async -> History {
        var best = self
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            for index in (0..<Self.count(best.steps)).reversed() {
                var number = index
                let smaller = History(steps: Self.removing(&number, from: best.steps, keepingInner: false))
                if Self.count(smaller.steps) < Self.count(best.steps), await fails(smaller) {
                    best = smaller
                    isSmaller = true
                    break
                }
                number = index
                let flatter = History(steps: Self.removing(&number, from: best.steps, keepingInner: true))
                if Self.count(flatter.steps) < Self.count(best.steps), await fails(flatter) {
                    best = flatter
                    isSmaller = true
                    break
                }
            }
        }
        return best
    }

    static func count(_ steps: [Step]) -> Int {
        steps.reduce(0) { sum, step in
            if case .scope(_, let inner, _) = step { sum + 1 + count(inner) } else { sum + 1 }
        }
    }

    /// Leaves out the step of a number, in the order of the text. A scope leaves its steps behind,
    /// if they are kept.
    private static func removing(_ number: inout Int, from steps: [Step], keepingInner: Bool) -> [Step] {
        var kept: [Step] = []
        for step in steps {
            defer { number -= 1 }
            if number == 0 {
                if keepingInner, case .scope(_, let inner, _) = step { kept += inner }
                continue
            }
            guard number > 0, case .scope(let scope, let inner, let ending) = step else {
                kept.append(step)
                continue
            }
            number -= 1
            kept.append(.scope(scope, removing(&number, from: inner, keepingInner: keepingInner), ending))
            number += 1
        }
        return kept
    }
}

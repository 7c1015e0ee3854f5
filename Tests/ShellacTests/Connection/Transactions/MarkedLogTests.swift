import TestSupport
import Testing

@testable import Shellac

@Suite("Marked logs")
struct MarkedLogTests {
    @Test("What came since a savepoint was opened is taken, also after one that was released")
    func since() {
        var log = MarkedLog<String>()
        var savepoints = SavepointStack()
        log.append("a", after: savepoints.lastNumber)
        let outer = savepoints.open("outer")
        log.append("b", after: savepoints.lastNumber)
        savepoints.open("inner")
        log.append("c", after: savepoints.lastNumber)
        savepoints.release("inner")
        log.append("d", after: savepoints.lastNumber)
        #expect(log.takeElements(since: outer) == ["b", "c", "d"])
        // It is still open, and what comes now is taken once more.
        log.append("e", after: savepoints.lastNumber)
        #expect(log.takeElements(since: outer) == ["e"])
        #expect(log.elements == ["a"])
        #expect(log.takeElements(since: savepoints.open("empty")) == [])
        #expect(log.takeAll() == ["a"] && log.count == 0)
    }

    @Test("Rollbacks to savepoints take what a log that follows savepoints would", arguments: 0..<50)
    func random(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var log = MarkedLog<Int>()
        var savepoints = SavepointStack()
        // The model: elements, and how many there were when each open savepoint was opened.
        var elements: [Int] = []
        var starts: [(name: String, start: Int)] = []
        for step in 0..<200 {
            let name = starts.randomElement(using: &random)?.name
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                log.append(step, after: savepoints.lastNumber)
                elements.append(step)
            case 5:
                let new = Array(repeating: step, count: Int.random(in: 0..<3, using: &random))
                log.append(contentsOf: new, after: savepoints.lastNumber)
                elements += new
            case 6, 7:
                savepoints.open("\(step)")
                starts.append(("\(step)", elements.count))
            case 8:
                guard let name, let index = starts.firstIndex(where: { $0.name == name }) else { continue }
                savepoints.release(name)
                starts.removeSubrange(index...)
            default:
                guard let name, let index = starts.firstIndex(where: { $0.name == name }),
                    let number = savepoints.number(of: name)
                else { continue }
                savepoints.rollBack(to: name)
                let taken = log.takeElements(since: number)
                #expect(taken == Array(elements[starts[index].start...]), "seed \(seed), step \(step)")
                elements.removeSubrange(starts[index].start...)
                starts.removeSubrange((index + 1)...)
            }
            #expect(log.elements == elements, "seed \(seed), step \(step)")
            #if DEBUG
            #expect(log._violations == [], "seed \(seed), step \(step)")
            #endif
        }
    }
}

import Shellac
import TestSupport
import Testing

@Suite("The extent of observations")
struct ObservationExtentTests {
    @Test("By default the database holds an observer weakly", .behaviour(51))
    func weak() throws {
        let queue = try DatabaseQueue.withPlayers()
        weak var gone: ObserverSpy?
        do {
            let spy = ObserverSpy()
            gone = spy
            queue.add(transactionObserver: spy)
            try queue.write { db in try db.insert("Arthur") }
            #expect(spy.log == ["insert player 1", "willCommit", "didCommit"])
        }
        #expect(gone == nil)
        try queue.write { db in try db.insert("Barbara") }
        #expect(try queue.names() == ["Arthur", "Barbara"])
    }

    @Test(
        ".nextTransaction holds the observer until the present transaction has ended", .behaviour(51),
        arguments: [true, false])
    func nextTransaction(isCommitted: Bool) throws {
        let queue = try DatabaseQueue.withPlayers()
        weak var gone: ObserverSpy?
        let recorder = Recorder<String>()
        try queue.inTransaction { db in
            try db.insert("Arthur")
            let spy = ObserverSpy()
            gone = spy
            spy.onChange = { recorder.record("\($0.kind) \($0.rowID)") }
            spy.onCommit = { _ in recorder.record("didCommit") }
            spy.onRollback = { _ in recorder.record("didRollback") }
            db.add(transactionObserver: spy, extent: .nextTransaction)
            try db.insert("Barbara")
            return isCommitted ? .commit : .rollback
        }
        let told = ["insert 2", isCommitted ? "didCommit" : "didRollback"]
        #expect(recorder.elements == told)
        #expect(gone == nil)
        try queue.write { db in try db.insert("Craig") }
        #expect(recorder.elements == told)
    }

    @Test(
        ".nextTransaction waits for a statement outside of a transaction, too, and not for a read",
        .behaviour(51))
    func nextLone() throws {
        let queue = try DatabaseQueue.withPlayers()
        let spy = ObserverSpy()
        queue.add(transactionObserver: spy, extent: .nextTransaction)
        _ = try queue.read { db in try db.names() }
        #expect(spy.log == [])
        try queue.inDatabase { db in
            try db.insert("Arthur")
            try db.insert("Barbara")
        }
        #expect(spy.log == ["insert player 1", "willCommit", "didCommit"])
    }

    @Test(
        ".databaseLifetime holds the observer until the database is closed", .behaviour(51),
        arguments: [true, false])
    func databaseLifetime(isClosed: Bool) throws {
        weak var gone: ObserverSpy?
        do {
            let queue = try DatabaseQueue.withPlayers()
            do {
                let spy = ObserverSpy()
                gone = spy
                queue.add(transactionObserver: spy, extent: .databaseLifetime)
            }
            try queue.write { db in try db.insert("Arthur") }
            #expect(gone?.log == ["insert player 1", "willCommit", "didCommit"])
            if isClosed {
                try queue.close()
                #expect(gone == nil)
            }
        }
        #expect(gone == nil)
    }

    @Test("An observer is removed at any time, also by itself, and the others go on")
    func removal() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        let other = ObserverSpy()
        queue.add(transactionObserver: other)
        spy.onChange = { event in if event.rowID == 2 { queue.remove(transactionObserver: spy) } }
        try queue.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('A'), ('B'), ('C')")
        }
        #expect(spy.log == ["insert player 1", "insert player 2"])
        let told = (1...3).map { "insert player \($0)" } + ["willCommit", "didCommit"]
        #expect(other.log == told)
        queue.remove(transactionObserver: other)
        try queue.write { db in try db.insert("D") }
        #expect(other.log == told)
        queue.remove(transactionObserver: other)
    }

    @Test("An observer removes itself in a statement outside of a transaction, in each of its methods")
    func removalAlone() throws {
        for place in 0..<4 {
            let (queue, spy) = try DatabaseQueue.withSpy()
            let remove = { queue.remove(transactionObserver: spy) }
            switch place {
            case 0: spy.onChange = { _ in remove() }
            case 1: spy.onWillCommit = { remove() }
            case 2: spy.onCommit = { _ in remove() }
            default:
                spy.filter = { _ in
                    remove()
                    return true
                }
            }
            try queue.inDatabase { db in
                try db.insert("Arthur")
                try db.insert("Barbara")
            }
            let told = ["insert player 1", "willCommit", "didCommit"]
            #expect(spy.log == [Array(told[..<1]), Array(told[..<2]), told, []][place], "place \(place)")
            #expect(try queue.names() == ["Arthur", "Barbara"])
        }
    }

    @Test("An observer that is freed while others are told is told no more")
    func freed() throws {
        let queue = try DatabaseQueue.withPlayers()
        let first = ObserverSpy()
        var second: ObserverSpy? = ObserverSpy()
        let recorder = Recorder<Int64>()
        second?.onChange = { recorder.record($0.rowID) }
        second?.onCommit = { _ in recorder.record(-1) }
        queue.add(transactionObserver: first)
        if let second { queue.add(transactionObserver: second) }
        first.onChange = { event in if event.rowID == 2 { second = nil } }
        try queue.write { db in
            try db.execute(sql: "INSERT INTO player (name) VALUES ('A'), ('B'), ('C')")
        }
        #expect(second == nil)
        #expect(recorder.elements == [1])
    }

    @Test("A hundred observers are told, each of what it wants")
    func hundred() throws {
        let queue = try DatabaseQueue.withPlayers()
        let spies = (0..<100).map { _ in ObserverSpy() }
        for (index, spy) in spies.enumerated() {
            spy.filter = { _ in index.isMultiple(of: 2) }
            queue.add(transactionObserver: spy)
        }
        try queue.write { db in try db.insert("Arthur") }
        for (index, spy) in spies.enumerated() {
            let told = index.isMultiple(of: 2) ? ["insert player 1"] : []
            #expect(spy.log == told + ["willCommit", "didCommit"])
        }
    }

    @Test("An observer that knows enough hears of no more changes until the next transaction")
    func paused() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        spy.onChange = { _ in spy.stopObservingDatabaseChangesUntilNextTransaction() }
        for _ in 0..<2 {
            try queue.inTransaction { db in
                try db.execute(sql: "INSERT INTO player (name) VALUES ('A'), ('B')")
                try db.insert("C")
                return .rollback
            }
        }
        let told = ["insert player 1", "didRollback"]
        #expect(spy.log == told + told)
        // The second statement asks nothing.
        #expect(spy.questions.count == 2)
    }

    @Test(
        "In didCommit and didRollback the database can be used, and a new transaction opened", .behaviour(52))
    func useAfterwards() throws {
        let (queue, spy) = try DatabaseQueue.withSpy()
        var rest = 2
        spy.onCommit = { db in
            guard rest > 0 else { return }
            rest -= 1
            try? db.inTransaction {
                try db.insert("\(rest)")
                return .commit
            }
        }
        spy.onRollback = { db in try? db.insert("rolled back") }
        try queue.write { db in try db.insert("Arthur") }
        #expect(try queue.names() == ["Arthur", "1", "0"])
        #expect(
            spy.removeAll()
                == (1...3).flatMap { ["insert player \($0)", "willCommit", "didCommit"] })
        #expect(throws: TestError(1)) { try queue.write { _ in throw TestError(1) } }
        #expect(spy.log == ["didRollback", "insert player 4", "willCommit", "didCommit"])
    }

    enum Place: String, CaseIterable, Codable {
        case changed, willCommit, aloneChanged, aloneWillCommit, asked, access
    }

    @Test(
        "Use of the database in didChange or willCommit stops the program", .behaviour(52),
        arguments: Place.allCases)
    func useTooEarly(place: Place) async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [place] in
            crashWithoutBacktrace()
            let (queue, spy) = try DatabaseQueue.withSpy()
            try queue.inDatabase { db in
                switch place {
                case .changed, .aloneChanged: spy.onChange = { _ in _ = try? db.names() }
                case .access: spy.onChange = { _ in _ = try? queue.names() }
                case .willCommit, .aloneWillCommit: spy.onWillCommit = { _ = db.changesCount }
                case .asked:
                    spy.filter = { _ in
                        _ = try? db.names()
                        return true
                    }
                }
                if place == .aloneChanged || place == .aloneWillCommit { return try db.insert("Arthur") }
                try db.inTransaction {
                    try db.insert("Arthur")
                    return .commit
                }
            }
        }
        let message = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            message.contains(
                place == .access ? "accessed from inside an access to it" : "used by an observer"))
    }
}

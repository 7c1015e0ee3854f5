import Foundation
import Shellac

/// `Benchmarks --startup`: what a new process needs to open a file and read one row, beside the
/// same by hand.
struct StartupComparison {
    static let (option, step) = ("--startup", "--startup-step")

    /// One way to read the row.
    private enum Side: String, CaseIterable {
        case c = "C"
        case row = "a row, of a queue"
        case record = "a class record, of a queue"
        case pool = "a class record, of a pool"
    }

    /// Measures one side, in a process of its own. Returns nanoseconds and bytes.
    static func perform(_ side: String, _ path: String) throws -> (Double, Double) {
        guard let side = Side(rawValue: side) else { throw BenchmarkError("unknown side \(side)") }
        let before = try Machine.residentBytes()
        let time = try ContinuousClock().measure { try read(side, path) }
        return (time / .nanoseconds(1), Double(try Machine.residentBytes() - before))
    }

    private static func read(_ side: Side, _ path: String) throws {
        let score: Int?
        switch side {
        case .c:
            let statement = try CConnection(path).prepare(Player.selectionByID)
            statement.bind(1, 1)
            score = try statement.step() ? try Player(statement).score : nil
        case .row:
            score = try DatabaseQueue(path: path).read { db in
                try Row.fetchOne(db, sql: Player.selectionByID, arguments: [1])?["score"]
            }
        case .record:
            score = try DatabaseQueue(path: path).read { db in try ListedPlayer.fetchOne(db, key: 1)?.score }
        case .pool:
            score = try DatabasePool(path: path).read { db in try ListedPlayer.fetchOne(db, key: 1)?.score }
        }
        guard score == Player(row: 0).score else {
            throw BenchmarkError("\(side.rawValue) has read another row")
        }
    }

    func run() throws {
        let fixture = try Fixture.make(scale: Scale(rows: 1_000))
        defer { fixture.remove() }
        print("The first row that a process reads, with its opening. \(Machine.description)\n")
        for side in Side.allCases {
            let answers = try (1...21).map { _ in
                try Answer<Double>.of([Self.step, side.rawValue, fixture.path])
            }
            let (milliseconds, kilobytes) = (
                answers.map { $0.0 / 1e6 }.median, answers.map { $0.1 / 1e3 }.median
            )
            print(
                side.rawValue.left(28), "\(milliseconds.text(2)) ms".right(10),
                "\(kilobytes.text(0)) kB".right(10))
        }
    }
}

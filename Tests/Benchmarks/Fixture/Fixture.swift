import Foundation

/// The database file that all workloads read.
struct Fixture: Sendable {
    let path: String
    let scale: Scale

    /// Writes the tables to a new temporary file, the same for each run.
    ///
    /// The file is removed by ``remove()``, and when the program is interrupted.
    static func make(scale: Scale) throws -> Fixture {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("shellac-benchmarks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let fixture = Fixture(path: folder.appendingPathComponent("data.sqlite").path, scale: scale)
        fixture.removeOnInterruption()
        do {
            try fixture.fill()
        } catch {
            fixture.remove()
            throw error
        }
        return fixture
    }

    func remove() {
        try? FileManager.default.removeItem(at: URL(fileURLWithPath: path).deletingLastPathComponent())
    }

    private func fill() throws {
        let connection = try CConnection(path)
        try connection.execute("BEGIN")
        try connection.execute(Item.table)
        let item = try connection.prepare(Item.insertion)
        for row in 0..<scale.rows { try Item.bind(row, to: item) }
        try connection.execute(Player.table)
        let player = try connection.prepare(Player.insertion)
        for row in 0..<scale.rows { try Player(row: row).bind(to: player) }
        try connection.execute("COMMIT")
    }

    private func removeOnInterruption() {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // The handler keeps its source, until the program ends.
                withExtendedLifetime(source) { remove() }
                exit(128 + number)
            }
            source.activate()
        }
    }
}

//: # Lists
//: A list that says what moved, while another process writes.

import Foundation
import Shellac

class Player: Record {
    var id: Int64?
    var name = ""
    var team = ""
    var score = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("team", team) { team = $0 }
        try column("score", score) { score = $0 }
    }
}

let game = [
    "UPDATE player SET score = score + 150 WHERE name = 'Arthur'",
    "INSERT INTO player (name, team, score) VALUES ('Diane', 'Green', 210)",
    "UPDATE player SET team = 'Blue' WHERE name = 'Craig'",
    "DELETE FROM player WHERE name = 'Barbara'; UPDATE player SET score = score + 1",
]

//: The other process is this very program, started once more: it is given the file, and writes.

if let path = CommandLine.arguments.dropFirst().first {
    let dbQueue = try DatabaseQueue(path: path)
    for sql in game {
        try dbQueue.write { db in try db.execute(sql: sql) }
        try await Task.sleep(for: .milliseconds(200))
    }
    exit(0)
}

let folder = FileManager.default.temporaryDirectory.appending(path: "Shellac-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
let path = folder.appending(path: "game.sqlite").path
let dbQueue = try DatabaseQueue(path: path)
try dbQueue.write { db in
    try db.create(table: "player") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull()
        t.column("team", .text).notNull()
        t.column("score", .integer).notNull()
    }
    for (name, team, score) in [("Arthur", "Blue", 100), ("Barbara", "Blue", 200), ("Craig", "Red", 300)] {
        let player = Player()
        (player.name, player.team, player.score) = (name, team, score)
        try player.insert(db)
    }
}

func play() throws {
    guard let program = Bundle.main.executableURL, program.lastPathComponent.hasPrefix("Tour") else {
        // In a playground, the program is Xcode's: another queue writes.
        Task.detached { [game, path] in
            let other = try DatabaseQueue(path: path)
            for sql in game { try await other.write { db in try db.execute(sql: sql) } }
        }
        return
    }
    let process = Process()
    (process.executableURL, process.arguments) = (program, [path])
    try process.run()
}

//: The list has a section for each team. It belongs to this function, and so do its records.

func show(_ controller: FetchedRecordsController<Player>) {
    for (number, section) in controller.sections.enumerated() {
        let players = controller.records(inSection: number).map { "\($0.name) \($0.score)" }
        print("  \(section.name): \(players.joined(separator: ", "))")
    }
}

func showList() async throws {
    let controller = FetchedRecordsController(
        dbQueue, request: Player.order(Column("team"), Column("score").desc), sectionNameKey: "team")
    controller.observeExternalChanges(every: .milliseconds(20))
    try controller.performFetch()
    show(controller)
    try play()

    //: The moves: deletions by the place in the old list, insertions by that in the new one, moves
    //: and updates by both.

    for try await changes in controller.changes {
        for change in changes.changes {
            switch change {
            case .insertion(let place): print("+ \(controller.record(at: place).name) at \(place)")
            case .deletion(let place): print("- what was at \(place)")
            case .move(let old, let new, _):
                print("↕ \(controller.record(at: new).name) from \(old) to \(new)")
            case .update(_, let new, let oldValues):
                let score: Int = try oldValues["score"]
                print("= \(controller.record(at: new).name) at \(new) had \(score)")
            }
        }
        show(controller)
        if !controller.fetchedRecords.contains(where: { $0.name == "Barbara" }) { return }
    }
}
try await showList()
try dbQueue.close()
try FileManager.default.removeItem(at: folder)

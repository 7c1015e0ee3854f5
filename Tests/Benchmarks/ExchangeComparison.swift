import Foundation
import Shellac

/// `Benchmarks --exchange`: CSV into and out of a table, beside the `sqlite3` of the system, each
/// in a process of its own.
struct ExchangeComparison {
    let rows: Int

    static let (option, step) = ("--exchange", "--exchange-step")

    /// One of the steps, in the process that was started for it.
    static func perform(_ verb: String, _ database: String, _ file: String) throws {
        let queue = try DatabaseQueue(path: database)
        if verb == "import" {
            try queue.write { db in _ = try db.importRows(into: "t", from: .file(file)) }
        } else {
            try queue.read { db in _ = try db.exportRows(of: "t", to: .file(file)) }
        }
    }

    func run() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "Shellac-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func path(_ name: String) -> String { folder.appending(path: name).path }
        try write(to: path("in.csv"))
        guard let program = Bundle.main.executableURL?.path else {
            throw BenchmarkError("where is this program?")
        }

        print("\(rows) lines of CSV, \(try size(path("in.csv"))), \(Machine.description)\n")
        print("             shellac              sqlite3")
        for round in 1...3 {
            for name in ["shellac.db", "sqlite3.db"] {
                try? FileManager.default.removeItem(atPath: path(name))
                try DatabaseQueue(path: path(name)).write { db in
                    try db.execute(
                        sql:
                            "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, score INTEGER, ratio REAL, note TEXT)"
                    )
                }
            }
            let ours = try measure([program, Self.step, "import", path("shellac.db"), path("in.csv")])
            let theirs = try measure([
                "sqlite3", path("sqlite3.db"), ".mode csv", ".import --skip 1 \(path("in.csv")) t",
            ])
            print("import  \(round)    \(ours)    \(theirs)")
            let out = try measure([program, Self.step, "export", path("shellac.db"), path("shellac.csv")])
            let shell =
                "sqlite3 -csv -header '\(path("sqlite3.db"))' 'SELECT * FROM t ORDER BY id' > '\(path("sqlite3.csv"))'"
            let theirOut = try measure(["sh", "-c", "exec \(shell)"])
            print("export  \(round)    \(out)    \(theirOut)")
        }
        let text = try Data(contentsOf: URL(filePath: path("shellac.csv")))
        guard text == (try Data(contentsOf: URL(filePath: path("in.csv")))) else {
            throw BenchmarkError("what was exported is not what was imported")
        }
    }

    /// Writes the lines piece by piece: the system reports for a started process at least the peak
    /// memory of the process that starts it.
    private func write(to path: String) throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        var text = "id,name,score,ratio,note\n"
        for id in 1...rows {
            let note = id % 10 == 0 ? "\"one, \"\"two\"\"\"" : id % 7 == 0 ? "" : "a note of some words"
            text += "\(id),Player \(id),\(id * 7919 % 100_000),\(Double(id % 1000) + 0.25),\(note)\n"
            guard id % 1000 == 0 || id == rows else { continue }
            try file.write(contentsOf: Data(text.utf8))
            text = ""
        }
    }

    private func size(_ path: String) throws -> String {
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        return "\((size ?? 0) / 1_000_000) MB"
    }

    /// Runs a command to its end, and says how long it took, and how much memory it had at most.
    private func measure(_ words: [String]) throws -> String {
        var child: pid_t = 0
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        let start = ContinuousClock.now
        let failure = posix_spawnp(&child, words[0], nil, nil, &arguments, environ)
        guard failure == 0 else {
            throw BenchmarkError("could not start \(words[0]): \(String(cString: strerror(failure)))")
        }
        var (status, usage): (Int32, rusage) = (0, rusage())
        while wait4(child, &status, 0, &usage) < 0, errno == EINTR {}
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        guard status == 0 else { throw BenchmarkError("\(words) failed") }
        return String(format: "%6.2f s  %6.1f MB", seconds, Double(usage.ru_maxrss) / 1_000)
    }
}

// The `shellac watch` verb: polls a database file and shows the rows that change.

import CSQLite
import Shellac

/// `shellac watch`: the rows of a table as they change, by any program.
///
/// A connection that stays open would keep the log from being emptied, and a live query sees no
/// changes on one that takes no lock. So the command polls the first bytes of the file, of its log
/// and of the log's index: a commit changes them. Then the file is opened, read and closed again.
final class Watching {
    private let path: String
    private let location: String
    private let output: Output
    private let arguments: Arguments
    private let isJSON: Bool
    private var file: LookedAtFile?
    private var state: FileState

    init(_ file: LookedAtFile, _ output: Output, _ arguments: Arguments) throws {
        isJSON = try arguments.choice("--as", TextOrJSONLines.self) == .jsonl
        (path, location) = (file.path, file.location)
        (self.file, self.output, self.arguments) = (file, output, arguments)
        state = FileState(file.location)
    }

    struct Rows {
        let names: [String]
        var keys: [[DatabaseValue]] = []
        var values: [[DatabaseValue]: [DatabaseValue]] = [:]
    }

    /// Whether the rows are drawn on the whole screen, and not written one by one.
    private var usesScreen: Bool {
        isatty(0) == 1 && output.isTerminal && FullScreen.takesCodes
            && arguments["--as"] == nil && arguments["--changes"] == nil
    }

    func run() throws -> ExitCode {
        let pause = useconds_t(try max(0.01, min(arguments.number("--every") ?? 0.1, 3_600)) * 1e6)
        let limit = try arguments.number("--limit").map { Int(min($0, 1e9)) } ?? 10_000
        if usesScreen { return try runOnScreen(pause, limit) }
        let most = try arguments.number("--changes").map { Int(min($0, 1e18)) }
        // The state is taken before the file is read. So a write during the reading is seen next
        // time.
        state = FileState(location)
        var rows = try fetch(limit)
        for key in rows.keys { try write(rows, key, " ", "is", nil) }
        try output.flush()
        var count = 0
        while most.map({ count < $0 }) ?? true {
            usleep(pause)
            guard let next = try fetchIfChanged(limit) else {
                try checkReader()
                continue
            }
            count += try write(rows, next)
            rows = next
            try output.flush()
        }
        return .done
    }

    private func runOnScreen(_ pause: useconds_t, _ limit: Int) throws -> ExitCode {
        state = FileState(location)
        var drawing = WatchDrawing(arguments.words[1], try fetch(limit))
        let screen = FullScreen(hasColours: output.hasColours)
        try screen.enter()
        defer { screen.leave() }
        let nanoseconds = UInt64(pause) * 1_000
        var nextCheck = shellac_time() + nanoseconds
        while true {
            let size = screen.size
            try screen.draw(drawing.lines(size), size)
            let wait = nextCheck > shellac_time() ? (nextCheck - shellac_time()) / 1_000_000 : 0
            switch try screen.key(within: Int32(min(wait + 1, 1_000))) {
            case .interrupt, .escape, .character("q"): return .done
            case .suspend: try screen.suspend()
            case .redraw: screen.redraw()
            case let key?: drawing.scroll(key, size)
            case nil: break
            }
            guard shellac_time() >= nextCheck else { continue }
            if let next = try fetchIfChanged(limit) { drawing.show(next) }
            nextCheck = shellac_time() + nanoseconds
        }
    }

    /// Returns the rows if the file has changed since they were fetched. Nil for a file that is
    /// busy: it is read again, since its state still differs from the known one.
    private func fetchIfChanged(_ limit: Int) throws -> Rows? {
        let new = FileState(location)
        guard new != state else { return nil }
        do {
            let rows = try fetch(limit)
            state = new
            return rows
        } catch let failure as Failure where failure.code == .busy { return nil }
    }

    /// Ends the command if the pipe has no reader any more: it may not write for a long time.
    private func checkReader() throws {
        var descriptor = pollfd(fd: 1, events: 0, revents: 0)
        if poll(&descriptor, 1, 0) > 0, descriptor.revents & Int16(POLLERR | POLLNVAL) != 0 {
            throw OutputClosed()
        }
    }

    private func fetch(_ limit: Int) throws -> Rows {
        let opened = try file ?? LookedAtFile(path)
        // It is opened for each reading: a connection without a lock does not see later writes.
        defer { file = nil }
        let name = arguments.words[1]
        return try opened.read { db in
            let isTable = try db.tableExists(name, in: "main")
            let key = isTable ? try db.primaryKey(name, in: "main") : nil
            let columns =
                key?.isHiddenRowID ?? false ? "\(key?.columns[0].quotedDatabaseIdentifier ?? ""), *" : "*"
            let selection = try Selection(
                db, name, columns: columns, where: arguments["--where"], limit: limit)
            let statement = try db.makeStatement(sql: selection.sql)
            var rows = Rows(names: statement.columnNames)
            let places =
                key.map { key in
                    key.columns.compactMap { name in rows.names.firstIndex { $0.isSameName(as: name) } }
                } ?? []
            let cursor = try Row.fetchCursor(statement)
            while let row = try cursor.next() {
                let values = row.databaseValues
                var rowKey = places.isEmpty ? values : places.map { values[$0] }
                // Rows without a key may be equal.
                while rows.values[rowKey] != nil { rowKey.append(.null) }
                rows.keys.append(rowKey)
                rows.values[rowKey] = values
            }
            return rows
        }
    }

    /// Writes the changes. Returns the number of changed rows.
    private func write(_ old: Rows, _ new: Rows) throws -> Int {
        let changes = new.changes(since: old)
        for (key, change) in changes {
            switch change {
            case .deleted: try write(old, key, "-", "deleted", .bad)
            case .inserted: try write(new, key, "+", "inserted", .good)
            case .updated: try write(new, key, "~", "updated", .changed)
            }
        }
        return changes.count
    }

    private func write(
        _ rows: Rows, _ key: [DatabaseValue], _ sign: String, _ change: String, _ style: Output.Style?
    ) throws {
        let values = rows.values[key] ?? []
        if isJSON {
            return try output.line(
                JSON.object([("change", .text(change)), ("row", .row(rows.names, values))]).line)
        }
        try output.wrapped("\(sign) \(Differences.text(rows.names, values))", style)
    }
}

extension Watching.Rows {
    enum Change { case deleted, inserted, updated }

    /// Returns the keys of the rows that differ from earlier ones: deleted ones first.
    func changes(since old: Self) -> [(key: [DatabaseValue], change: Change)] {
        let deleted = old.keys.filter { values[$0] == nil }.map { (key: $0, change: Change.deleted) }
        return deleted
            + keys.compactMap { key in
                let before = old.values[key]
                return before == values[key] ? nil : (key, before == nil ? .inserted : .updated)
            }
    }
}

// The `shellac watch` verb: polls a database file and prints the rows that change.

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

    private struct Rows {
        let names: [String]
        var keys: [[DatabaseValue]] = []
        var values: [[DatabaseValue]: [DatabaseValue]] = [:]
    }

    func run() throws -> ExitCode {
        let pause = useconds_t(try max(0.01, min(arguments.number("--every") ?? 0.1, 3_600)) * 1e6)
        let most = try arguments.number("--changes").map { Int(min($0, 1e18)) }
        let limit = try arguments.number("--limit").map { Int(min($0, 1e9)) } ?? 10_000
        // The state is taken before the file is read. So a write during the reading is seen next
        // time.
        state = FileState(location)
        var rows = try fetch(limit)
        for key in rows.keys { try write(rows, key, " ", "is", nil) }
        try output.flush()
        var count = 0
        while most.map({ count < $0 }) ?? true {
            usleep(pause)
            let new = FileState(location)
            if new == state {
                try checkReader()
                continue
            }
            do {
                let next = try fetch(limit)
                state = new
                count += try write(rows, next)
                rows = next
                try output.flush()
            } catch let failure as Failure where failure.code == .busy {
                // The file is read again, since its state still differs from the known one.
            }
        }
        return .done
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
        var count = 0
        for key in old.keys where new.values[key] == nil {
            try write(old, key, "-", "deleted", .bad)
            count += 1
        }
        for key in new.keys {
            let before = old.values[key]
            guard before != new.values[key] else { continue }
            if before == nil {
                try write(new, key, "+", "inserted", .good)
            } else {
                try write(new, key, "~", "updated", .changed)
            }
            count += 1
        }
        return count
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

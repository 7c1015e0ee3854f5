// Reads the rows of a damaged table around the pages that cannot be read.

import Shellac

/// The rows of a table with row IDs that can be read, although some of its pages cannot.
///
/// It reads forward from the first row, and backward from the last one, until SQLite finds a page
/// damaged. In the gap between, it tries some row IDs: all of them if there are few. In a larger
/// gap, it tries those at growing distances from both ends, and at equal distances between. From
/// each row that it finds, it goes on in both directions, so a page that is whole is read as a
/// whole. The rows of the table's indexes name further IDs to try.
final class RowRecovery {
    typealias Range = ClosedRange<Int64>

    private let db: Database
    /// The table, as SQL.
    private let table: String
    /// The name of the row ID, and the columns, as SQL.
    private let rowID: String
    private let columns: [String]
    /// Takes a row: its ID, and the values of the columns.
    private let take: (Int64, [DatabaseValue]) throws -> Void

    /// The ranges of row IDs of which nothing is known.
    private(set) var lost: [Range] = []
    /// The first error of SQLite.
    private(set) var error: String?

    init(
        _ db: Database, table: String, rowID: String, columns: [String],
        _ take: @escaping (Int64, [DatabaseValue]) throws -> Void
    ) {
        (self.db, self.table, self.rowID, self.columns, self.take) = (db, table, rowID, columns, take)
    }

    func run() throws {
        guard let stop = try forward(from: .min, to: .max).end else { return }
        let first = stop.next ?? .min
        let (lowest, isDone) = try backward(from: .max, to: first)
        if !isDone, lowest != first { try explore(first, lowest.map { $0 - 1 } ?? .max) }
    }

    /// The end of a reading that an error has stopped: the last row that was read, and the ID after
    /// it.
    struct Stop {
        let row: Int64?
        var next: Int64? { row.flatMap { $0 == .max ? nil : $0 + 1 } }
    }

    /// Reads rows forward, from an ID to another one. The end is nil if there was no error.
    private func forward(from first: Int64, to last: Int64) throws -> (count: Int, end: Stop?) {
        var (count, row): (Int, Int64?) = (0, nil)
        let isDone = try reading("\(rowID) >= ? AND \(rowID) <= ? ORDER BY \(rowID)", first, last) {
            id, values in
            guard (first...last).contains(id), row.map({ $0 < id }) ?? true else { return false }
            try take(id, values)
            (count, row) = (count + 1, id)
            return true
        }
        return (count, isDone ? nil : Stop(row: row))
    }

    /// Reads rows backward, from an ID to a lower one. Returns the lowest row that was read, and
    /// whether there was no error.
    private func backward(from first: Int64, to last: Int64) throws -> (lowest: Int64?, isDone: Bool) {
        var row: Int64?
        let isDone = try reading("\(rowID) <= ? AND \(rowID) >= ? ORDER BY \(rowID) DESC", first, last) {
            id, values in
            guard (last...max(first, last)).contains(id), row.map({ $0 > id }) ?? true else { return false }
            try take(id, values)
            row = id
            return true
        }
        return (row, isDone)
    }

    /// Reads rows until there are no more. Returns false if SQLite throws an error, or if the body
    /// refuses a row.
    private func reading(
        _ condition: String, _ first: Int64, _ last: Int64,
        _ body: (Int64, [DatabaseValue]) throws -> Bool
    ) throws -> Bool {
        var taking: (any Error)?
        do {
            let statement = try db.cachedStatement(
                sql:
                    "SELECT \(([rowID] + columns).joined(separator: ", ")) FROM \(table) NOT INDEXED WHERE \(condition)"
            )
            let rows = try Row.fetchCursor(statement, arguments: [first, last])
            while let row = try rows.next() {
                let values = row.databaseValues
                guard case .int64(let id)? = values.first?.storage else { return false }
                do {
                    guard try body(id, Array(values.dropFirst())) else {
                        error = error ?? "row IDs are out of order"
                        return false
                    }
                } catch {
                    taking = error
                    throw error
                }
            }
            return true
        } catch let error as DatabaseError where taking == nil {
            guard error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_IOERR else {
                throw error
            }
            self.error = self.error ?? error.message
            return false
        }
    }

    /// Tries the IDs of a gap.
    private func explore(_ start: Int64, _ last: Int64) throws {
        var first = start
        while first <= last {
            var found: (from: Int64, read: Int, end: Stop?)?
            for point in Self.points(first, last) {
                let (count, end) = try forward(from: point, to: last)
                if count > 0 || end == nil {
                    found = (point, count, end)
                    break
                }
            }
            guard let found else {
                lost.append(first...last)
                return
            }
            // The rows before it, as far as they can be read.
            if found.from > first {
                let (lowest, isDone) = try backward(from: found.from - 1, to: first)
                let end = lowest ?? found.from
                if !isDone, end > first { lost.append(first...end - 1) }
            }
            // (Without an error, the rest of the gap was read.)
            guard let next = found.end?.next else { return }
            first = next
        }
    }

    /// The IDs to try in a gap, in order.
    private static func points(_ first: Int64, _ last: Int64) -> [Int64] {
        let width = UInt64(bitPattern: last) &- UInt64(bitPattern: first)
        if width <= 1_024 { return Array(first...last) }
        var points: Set<Int64> = [first, last]
        for shift in 0..<63 where UInt64(1) << UInt64(shift) < width {
            let distance = Int64(1) << Int64(shift)
            points.insert(first &+ distance)
            points.insert(last &- distance)
        }
        for number in 1..<512 { points.insert(first &+ Int64(bitPattern: width / 512 &* UInt64(number))) }
        return points.filter { (first...last).contains($0) }.sorted()
    }

    // MARK: - Indexes

    /// Reads the rows that an index names, and that are lost so far.
    ///
    /// - Parameters:
    ///   - index: The index, as SQL, and its first column.
    ///   - isComplete: Whether the index has all columns of the table.
    func useIndex(_ index: String, _ column: String, isComplete: Bool, known: inout Set<Int64>)
        throws
    {
        if lost.isEmpty { return }
        var rows: [(id: Int64, values: [DatabaseValue])] = []
        for order in ["", " DESC"] {
            do {
                let list = ([rowID] + (isComplete ? columns : [])).joined(separator: ", ")
                let cursor = try Row.fetchCursor(
                    db, sql: "SELECT \(list) FROM \(table) INDEXED BY \(index) ORDER BY \(column)\(order)")
                while let row = try cursor.next() {
                    let values = row.databaseValues
                    guard case .int64(let id)? = values.first?.storage,
                        lost.contains(where: { $0.contains(id) }),
                        known.insert(id).inserted || isComplete
                    else { continue }
                    rows.append((id, Array(values.dropFirst())))
                }
                break
            } catch let error as DatabaseError {
                self.error = self.error ?? error.message
            }
        }
        for (id, values) in rows where lost.contains(where: { $0.contains(id) }) {
            if isComplete {
                try take(id, values)
            } else if try forward(from: id, to: id).count == 0 {
                continue
            }
            known.remove(id)
            lost = lost.flatMap { range -> [Range] in
                guard range.contains(id) else { return [range] }
                return (range.lowerBound < id ? [range.lowerBound...id - 1] : [])
                    + (range.upperBound > id ? [id + 1...range.upperBound] : [])
            }
        }
    }
}

/// A row from which a drift check makes a record, to see what the record reads and encodes.
///
/// Each column has a list of values that a record might accept. The record is made again and again.
/// An error that names a column selects its next value, or adds the column if it was missing. So a
/// record of twenty columns is made in a few dozen steps. NULL comes last, as it would hide what
/// the record encodes.
struct InventedRow {
    /// The requested columns that are missing.
    let missed = MissedNames()
    private var columns: [Column] = []
    /// The first row of the table, to try unchanged if nothing else works.
    private var stored: [DatabaseValue]

    private struct Column {
        let name: String
        var candidates: [DatabaseValue]
        /// The error for the first value: it is more informative than that for NULL, the last one.
        var refusal: RowDecodingError?
        var json: InventedJSON?
    }

    init(stored: [DatabaseValue]) { self.stored = stored }

    /// Adds a column.
    ///
    /// - Parameters:
    ///   - likely: The values to try first.
    ///   - column: The column in the schema.
    mutating func append(_ name: String, likely: [DatabaseValue], _ column: ColumnInfo?) {
        var candidates = likely + Self.values(for: column)
        var seen: Set<DatabaseValue> = [.null]
        candidates = candidates.filter { seen.insert($0).inserted }
        columns.append(Column(name: name, candidates: candidates + [.null]))
    }

    // MARK: - Making records

    /// Makes a record.
    ///
    /// - Throws: The error of the record if no value works.
    mutating func makeRecord<Record: FetchableRecord>(_ type: Record.Type) throws -> Record {
        while true {
            do {
                return try type.made(of: row(missed))
            } catch {
                if let error = error as? RowDecodingError, heed(error) { continue }
                guard !stored.isEmpty else {
                    // At most one column has nothing left to try: an attempt ends with the first
                    // refused one.
                    throw columns.first(where: \.candidates.isEmpty)?.refusal ?? error
                }
                for (index, value) in stored.enumerated() {
                    (columns[index].candidates, columns[index].refusal) = ([value], nil)
                }
                stored = []
            }
        }
    }

    /// Makes a record from the same values, except for one that is NULL. Nil if that fails.
    func recordWithNull<Record: FetchableRecord>(in name: String, as type: Record.Type) -> Record? {
        var other = self
        for index in columns.indices where CaseInsensitiveName.matches(columns[index].name, name) {
            other.columns[index].candidates = [.null]
        }
        return try? type.made(of: other.row(nil))
    }

    /// Returns the type as which a record reads a column, by a text that no program stores. Nil if
    /// the record accepts the text, or if the type is unknown.
    func typeRead<Record: FetchableRecord>(from name: String, as type: Record.Type) -> (any Any.Type)? {
        var other = self
        for index in columns.indices where CaseInsensitiveName.matches(columns[index].name, name) {
            other.columns[index].candidates = ["\u{1}shellac\u{1}".databaseValue]
        }
        do {
            _ = try type.made(of: other.row(nil))
        } catch let error as RowDecodingError {
            let place = error.columnIndex.flatMap { columns.indices.contains($0) ? columns[$0].name : nil }
            guard let read = place ?? error.columnName, CaseInsensitiveName.matches(read, name) else {
                return nil
            }
            return error.expectedType
        } catch {}
        return nil
    }

    private func row(_ missed: MissedNames?) -> Row {
        let layout = RowLayout(names: columns.map(\.name), sql: nil, affinities: [], missed: missed)
        return Row(.make(layout, values: columns.map { $0.candidates.first ?? .null }))
    }

    /// Changes the row so that the next attempt may get further. Returns false if nothing is left
    /// to try.
    private mutating func heed(_ error: RowDecodingError) -> Bool {
        let place = columns.firstIndex { column in
            error.columnName.map { CaseInsensitiveName.matches($0, column.name) } ?? false
        }
        guard let index = error.columnIndex ?? place, columns.indices.contains(index) else {
            guard error.reason == .columnNotFound, let name = error.columnName else { return false }
            append(name, likely: [], nil)
            return true
        }
        // A type that decodes a JSON object reports what it needs.
        if columns[index].json == nil, case .string("{}")? = columns[index].candidates.first?.storage {
            columns[index].json = InventedJSON()
        }
        if columns[index].json?.heed(error.underlyingError) == true {
            columns[index].candidates[0] = columns[index].json?.text.databaseValue ?? .null
            return true
        }
        columns[index].json = nil
        columns[index].candidates.removeFirst()
        if columns[index].refusal == nil {
            columns[index].refusal = error
            columns[index].candidates.insert(contentsOf: Self.values(of: error.expectedType), at: 0)
        }
        return !columns[index].candidates.isEmpty
    }

    // MARK: - Values

    private static let date = "2001-01-01 00:00:00.000".databaseValue
    private static let uuidText = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
    private static let numbers: [DatabaseValue] = [1.databaseValue, "1".databaseValue, 1.5.databaseValue]
    private static let uuids: [DatabaseValue] = [
        DatabaseValue(.blob(.init(uuidText.utf8.prefix(16)))), uuidText.databaseValue,
    ]
    private static let json: [DatabaseValue] = ["{}".databaseValue, "[]".databaseValue]
    private static let blob = DatabaseValue(.blob(.init()))

    /// Returns the values to try, those that the type of a column suggests first.
    private static func values(for column: ColumnInfo?) -> [DatabaseValue] {
        var values: [DatabaseValue] = []
        if let column {
            if column.declares("date", "time") { values.append(date) }
            if column.declares("uuid") { values += uuids }
            if column.declares("json") { values += json }
            switch column.affinity {
            case .text: values.append("1".databaseValue)
            case .blob: values.append(blob)
            case .real: values.append(1.5.databaseValue)
            case .integer, .numeric: break
            }
        }
        return values + numbers + [date] + uuids + json + [blob]
    }

    /// Returns a value of a type: an enum's first case, or one of the type that it wraps.
    private static func values(of type: any Any.Type) -> [DatabaseValue] {
        let type = (type as? any OptionalType.Type)?.wrappedType ?? type
        if let value = CaseValues(type)?.first(1).first { return [value] }
        // A type that decodes itself from a single value of its own type would never end.
        guard let decodable = type as? any Decodable.Type,
            let wrapped = SingleValueDecoder.wrappedType(of: decodable), wrapped != type
        else { return [] }
        return values(of: wrapped)
    }
}

/// The keys of the records that a relation is loaded for: each once, with the records that have it.
///
/// SQLite finds the related rows, by its own rules of what is equal. Whose a row is, is looked up here, by the
/// ``ColumnComparison`` of the columns that the keys are looked for in.
struct OwnerKeys {
    /// The number of the key of each record, or -1 where it is NULL.
    private(set) var numbers: [Int32] = []
    /// The first record that has each of the keys.
    private(set) var firstOwners: [Int32] = []
    /// The number of different keys.
    var count: Int { firstOwners.count }
    /// The values of the keys, one key behind the other.
    private var values: [DatabaseValue] = []
    private let columns: [RelationPath.Target]

    private var integers = IntegerNumbers()
    private var others: [[DatabaseValue]: Int32] = [:]
    /// The key that was looked up last: rows often come in the order of their keys.
    private var last: (integer: Int64, number: Int32)?

    /// Whether a key can be looked up. Nobody but SQLite knows what a collation of the program's takes for equal.
    private let areComparable: Bool

    init(_ columns: [RelationPath.Target], capacity: Int) {
        self.columns = columns
        areComparable = columns.allSatisfy(\.comparison.isComparable)
        numbers.reserveCapacity(capacity)
    }

    // MARK: - Adding

    /// Adds the key of the next record, which has one column that is an integer.
    @inline(__always)
    mutating func add(_ integer: Int64) {
        guard columns[0].keepsIntegers else { return add([DatabaseValue(.int64(integer))]) }
        if let last, last.integer == integer { return numbers.append(last.number) }
        let number = integers.number(of: integer) ?? addInteger(integer)
        last = (integer, number)
        numbers.append(number)
    }

    private mutating func addInteger(_ integer: Int64) -> Int32 {
        let key = [DatabaseValue(.int64(integer))]
        return addKey(key, comparable: key)
    }

    /// Adds the key of the next record.
    mutating func add(_ key: [DatabaseValue]) {
        if key.contains(where: \.isNull) { return numbers.append(-1) }
        let comparable = comparable(key)
        numbers.append(number(ofComparable: comparable) ?? addKey(key, comparable: comparable))
    }

    /// Adds a record without a key.
    mutating func addNull() { numbers.append(-1) }

    private mutating func addKey(_ key: [DatabaseValue], comparable: [DatabaseValue]) -> Int32 {
        let number = Int32(count)
        firstOwners.append(Int32(numbers.count))
        values += key
        if comparable.count == 1, case .int64(let integer) = comparable[0].storage {
            integers.add(integer, as: number)
        } else {
            others[comparable] = number
        }
        return number
    }

    /// Adds the keys of records, which they have in some columns.
    mutating func add(
        _ owners: [Record], _ columns: [String], of definition: RelationDefinition, _ areFetched: Bool,
        in db: Database
    ) throws {
        for owner in owners {
            if areFetched, let row = RememberedRow.View(owner) {
                let layout = row.layout.object
                let places = columns.compactMap(layout.column(named:))
                if places.count == columns.count {
                    add(row.bytes, places)
                    continue
                }
            }
            try add(owner.encodedKey(columns, of: definition, in: db))
        }
    }

    /// Adds the key that packed columns have in some places.
    mutating func add(_ bytes: PackedBytes, _ places: [Int]) {
        if places.count == 1 {
            let value = bytes.value(at: places[0])
            if value.isNull { return addNull() }
            if value.isInteger { return add(value.integer) }
        }
        add(places.map { bytes.value(at: $0).view.databaseValue })
    }

    /// Adds the key that a row of a statement has in some columns.
    mutating func add(_ row: LiveRow, _ columns: [Int]) {
        if columns.count == 1, case .integer(let integer) = row.value(at: columns[0]).view {
            return add(integer)
        }
        add(columns.map { row.value(at: $0).view.databaseValue })
    }

    // MARK: - Looking up

    /// Returns the number of the key that a row has in some columns.
    @inline(__always)
    mutating func number(of row: LiveRow, at column: Int) -> Int32? {
        if columns.count == 1, case .integer(let integer) = row.value(at: column).view,
            columns[0].keepsIntegers
        {
            if let last, last.integer == integer { return last.number }
            guard let number = integers.number(of: integer) else { return nil }
            last = (integer, number)
            return number
        }
        return otherNumber(of: row, at: column)
    }

    /// Returns the number of a key.
    func number(of key: [DatabaseValue]) -> Int32? { number(ofComparable: comparable(key)) }

    private func number(ofComparable key: [DatabaseValue]) -> Int32? {
        if key.count == 1, case .int64(let integer) = key[0].storage {
            return integers.number(of: integer)
        }
        return others[key]
    }

    /// A key that is equal to others where its columns take them for equal.
    private func comparable(_ key: [DatabaseValue]) -> [DatabaseValue] {
        zip(key, columns).map { $1.comparison.comparable($0) }
    }

    @inline(never)
    private func otherNumber(of row: LiveRow, at column: Int) -> Int32? {
        number(of: columns.indices.map { row.value(at: column + $0).view.databaseValue })
    }

    // MARK: - Lists

    /// Keys that one statement takes.
    struct List {
        /// What is true of the rows that have one of them.
        let condition: ([SQLExpression]) -> SQLExpression
        /// The number of the key, where it is the only one.
        let only: Int32?
    }

    /// The most keys that are parameters of their own.
    private static var mostParameters: Int { 256 }

    /// The keys in lists that one statement can take: all in one, as a rule.
    func lists() -> [List] {
        if count == 0 { return [] }
        let width = columns.count
        if areComparable, let json = JSONArray(values, width: width)?.databaseValue {
            return [List(condition: { Self.isAmong($0, json) }, only: nil)]
        }
        let length = areComparable ? Self.mostParameters / width : 1
        return stride(from: 0, to: count, by: length).map { start in
            let list = values[start * width..<min(start + length, count) * width].filledUp(width: width)
            return List(
                condition: { Self.isAmong($0, list) }, only: areComparable ? nil : Int32(start))
        }
    }

    private static func isAmong(_ columns: [SQLExpression], _ json: DatabaseValue) -> SQLExpression {
        // Without the +, it would be a column, which the key is not converted for: see "Datatypes In SQLite".
        let elements =
            columns.count == 1
            ? "+value"
            : columns.indices.map { "json_extract(value, '$[\($0)]')" }.joined(separator: ", ")
        let rows = SQL(sql: "SELECT \(elements) FROM json_each(?)", arguments: [json])
        return SQLExpression(.query(row(columns), in: .fragment(rows), isNegated: false))
    }

    private static func isAmong(_ columns: [SQLExpression], _ values: [DatabaseValue]) -> SQLExpression {
        let row = "(\(String.questionMarks(columns.count)))"
        let rows = Array(repeating: row, count: values.count / columns.count).joined(separator: ", ")
        let list = SQL(sql: "VALUES \(rows)", arguments: StatementArguments(values))
        return SQLExpression(.query(Self.row(columns), in: .fragment(list), isNegated: false))
    }

    /// One column, or several as a row value.
    static func row(_ columns: [SQLExpression]) -> SQLExpression {
        columns.count == 1 ? columns[0] : SQLExpression(.row(columns))
    }
}

extension OwnerKeys.List {
    /// The keys that all rows of a request have in a column. SQLite looks for them in the table, where it would make a table of
    /// the values that it is given.
    init(of column: String, in whole: SelectQuery) {
        var keys = SelectQuery(whole.source)
        keys.own = whole.own
        keys.selection = [SQLSelection(.expression(SQLExpression(.column(column)), name: nil))]
        self.init(
            condition: { [keys] in SQLExpression(.query($0[0], in: .select(keys), isNegated: false)) },
            only: nil)
    }
}

extension RelationPath.Target {
    /// Whether an integer is compared as it is.
    fileprivate var keepsIntegers: Bool { comparison.affinity != .text }
}

// MARK: - The key of a record

extension Record {
    /// What the record has in the columns that a relation goes by.
    final func encodedKey(
        _ names: [String], of definition: RelationDefinition, in db: Database
    ) throws -> [DatabaseValue] {
        let key: [DatabaseValue?] = try db.withWriter(for: self) { writer in
            let (columns, row) = (writer.columns, RememberedRow.View(self))
            return names.map { name in
                guard let place = columns.layout.column(named: name) else { return nil }
                return row?.value(ofColumn: name, encodedAs: columns.column(place)) ?? columns[place]
            }
        }
        return try names.indices.map { index in
            let (value, name) = (key[index], names[index])
            if let value, !isUnread(name, value) { return value }
            if let row = snapshot, let column = row.layout.column(named: name) {
                return row.databaseValue(at: column)
            }
            throw RelationError.unsound(
                relation: definition.name(),
                reason:
                    "this \(type(of: self)) was fetched without its column \(name), by which it is related: select it"
                    + (value == nil ? ", and list it in columns(_:)" : ""))
        }
    }

    /// Whether a value is the one that the record has in a column because its fetch lacked that.
    func isUnread(_ name: String, _ value: DatabaseValue) -> Bool {
        guard let unread = RememberedRow.View(self)?.layout.object.unreadColumns?.row,
            let column = unread.layout.column(named: name)
        else { return false }
        return unread.databaseValue(at: column) == value
    }
}

extension RememberedRow.View {
    /// The value of a column as the database holds it, in whatever form that is. Nil where the record has another one.
    fileprivate func value(ofColumn name: String, encodedAs value: PackedValue) -> DatabaseValue? {
        let layout = layout.object
        guard let column = layout.column(named: name) else { return nil }
        let stored = bytes.value(at: column)
        let isStored = value.isStored(as: stored, in: layout.affinity(ofColumn: column))
        return isStored ? stored.view.databaseValue : nil
    }
}

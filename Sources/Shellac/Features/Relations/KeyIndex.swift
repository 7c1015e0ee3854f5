/// The keys of the records that a relation is loaded for: each key once, with its records.
///
/// SQLite finds the related rows by its own rules of equality. This type finds the records of each
/// row, by the ``ColumnComparison`` of the columns that SQLite compares with the keys.
struct KeyIndex {
    /// The number of each record's key, or -1 if the key is NULL.
    private(set) var numbers: [Int32] = []
    /// The first record that has each of the keys.
    private(set) var firstOwners: [Int32] = []
    /// The number of different keys.
    var count: Int { firstOwners.count }
    /// The values of the keys, one key after the other.
    private var values: [DatabaseValue] = []
    private let columns: [RelationPath.Target]

    private var integers = IntegerNumbers()
    private var others: [[DatabaseValue]: Int32] = [:]
    /// The last key that was looked up. Rows often come in the order of their keys.
    private var last: (integer: Int64, number: Int32)?

    /// Whether a key can be looked up here. Only SQLite can compare by a collation of the program.
    private let areComparable: Bool

    init(_ columns: [RelationPath.Target], capacity: Int) {
        self.columns = columns
        areComparable = columns.allSatisfy(\.comparison.isComparable)
        numbers.reserveCapacity(capacity)
    }

    // MARK: - Adding

    /// Adds the next record's key, which is one integer column.
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

    /// Adds the keys that records have in the given columns.
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

    /// Adds the key at the given places of packed columns.
    mutating func add(_ bytes: PackedBytes, _ places: [Int]) {
        if places.count == 1 {
            let value = bytes.value(at: places[0])
            if value.isNull { return addNull() }
            if value.isInteger { return add(value.integer) }
        }
        add(places.map { bytes.value(at: $0).view.databaseValue })
    }

    /// Adds the key that a row of a statement has in the given columns.
    mutating func add(_ row: LiveRow, _ columns: [Int]) {
        if columns.count == 1, case .integer(let integer) = row.value(at: columns[0]).view {
            return add(integer)
        }
        add(columns.map { row.value(at: $0).view.databaseValue })
    }

    // MARK: - Looking up

    /// Returns the number of the key in a row's columns, of which the first is given.
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

    /// Returns a form of the key that is equal for all keys that its columns treat as equal.
    private func comparable(_ key: [DatabaseValue]) -> [DatabaseValue] {
        zip(key, columns).map { $1.comparison.comparable($0) }
    }

    @inline(never)
    private func otherNumber(of row: LiveRow, at column: Int) -> Int32? {
        number(of: columns.indices.map { row.value(at: column + $0).view.databaseValue })
    }

    // MARK: - Lists

    /// Keys for one statement.
    struct List {
        /// The condition for rows that have one of the keys.
        let condition: ([SQLExpression]) -> SQLExpression
        /// The number of the key, if it is the only one.
        let only: Int32?
    }

    /// The most keys that are passed as parameters of their own.
    private static var maximumParameters: Int { 256 }

    /// Returns the keys in lists that each fit in one statement: usually one list of all keys.
    func lists() -> [List] {
        if count == 0 { return [] }
        let width = columns.count
        if areComparable, let json = JSONArray(values, width: width)?.databaseValue {
            return [List(condition: { Self.isAmong($0, json) }, only: nil)]
        }
        let length = areComparable ? Self.maximumParameters / width : 1
        return stride(from: 0, to: count, by: length).map { start in
            let list = values[start * width..<min(start + length, count) * width].filledUp(width: width)
            return List(
                condition: { Self.isAmong($0, list) }, only: areComparable ? nil : Int32(start))
        }
    }

    private static func isAmong(_ columns: [SQLExpression], _ json: DatabaseValue) -> SQLExpression {
        // Without the +, it would be a column, and SQLite would not convert the key for it. See
        // "Datatypes In SQLite".
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

    /// Returns a single column, or several as a row value.
    static func row(_ columns: [SQLExpression]) -> SQLExpression {
        columns.count == 1 ? columns[0] : SQLExpression(.row(columns))
    }
}

extension KeyIndex.List {
    /// Creates a list of the keys that all rows of a request have in a column. SQLite looks them up
    /// in the table. From a list of values, it would build a table first.
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
    /// Whether integers are compared without conversion.
    fileprivate var keepsIntegers: Bool { comparison.affinity != .text }
}

// MARK: - The key of a record

extension Record {
    /// Returns the record's values of the columns that a relation goes by.
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
                    "this \(type(of: self)) was fetched without its column \(name), which the relation "
                    + "needs: select it"
                    + (value == nil ? ", and list it in columns(_:)" : ""))
        }
    }

    /// Returns whether the record has a value only because its fetch lacked the column.
    func isUnread(_ name: String, _ value: DatabaseValue) -> Bool {
        guard let unread = RememberedRow.View(self)?.layout.object.unreadColumns?.row,
            let column = unread.layout.column(named: name)
        else { return false }
        return unread.databaseValue(at: column) == value
    }
}

extension RememberedRow.View {
    /// Returns the value of a column in the form in which the database stores it. Nil if the record
    /// has another value.
    fileprivate func value(ofColumn name: String, encodedAs value: PackedValue) -> DatabaseValue? {
        let layout = layout.object
        guard let column = layout.column(named: name) else { return nil }
        let stored = bytes.value(at: column)
        let isStored = value.isStored(as: stored, in: layout.affinity(ofColumn: column))
        return isStored ? stored.view.databaseValue : nil
    }
}

/// The comparison of a type of records with its table.
///
/// The columns that a type reads are found by making a record from a row: see ``InventedRow``. The
/// columns that it encodes are found by encoding that record. All else is in the schema.
struct DriftCheck {
    let db: Database
    private let recordType: String
    private let tableName: String
    let table: TableSchema
    /// The classes of the table, if its rows are of several. No record encodes the column that
    /// distinguishes them.
    private let classes: RecordClasses?
    /// The columns of the primary key, declared by the table, or else by the type.
    private let key: [String]
    /// The rules of the type's saves.
    private var rules: [SaveRule] = []
    var faults: [SchemaFault] = []

    /// A value that a record encodes in one column.
    typealias Encoded = (name: String, isDate: Bool, value: DatabaseValue)

    // MARK: - Types and instances

    /// Finds the faults of a type.
    static func faults<T: FetchableRecord & EncodableRecord & TableRecord>(
        of type: T.Type, in db: Database
    ) throws -> [SchemaFault] {
        guard var check = try DriftCheck(type, db) else { return [tableMissing(type)] }
        guard let classes = check.classes else { return try check.faultsOfOne(type) }
        guard try check.checkClasses(classes) else { return check.faults }
        return try check.faultsOfOne(type)
            + classes.subclasses.flatMap { try DriftCheck($0, db)?.faultsOfOne($0) ?? [] }
    }

    /// Finds the faults of one type, without the other kinds of its table.
    private func faultsOfOne<T: FetchableRecord & EncodableRecord & TableRecord>(
        _ type: T.Type
    ) throws -> [SchemaFault] {
        var check = self
        try check.checkDeclarations(of: type)
        if let type = type as? Record.Type {
            check.checkProperties(of: type)
            if let faults = try check.listedFaults(of: type) { return faults }
        }
        var row = try check.inventedRow(type)
        let record: T
        do {
            record = try row.makeRecord(type)
        } catch {
            check.checkReading(row.missed.names, encoding: [], type)
            check.add(.recordNotMade(reason: "\(error)"))
            try check.checkForeignKeys()
            return check.faults
        }
        do {
            let encoded = try Self.columns(of: record)
            check.checkReading(row.missed.names, encoding: encoded, type)
            try check.checkEncoding(encoded) { column in
                // A record that is made without the value shows what it stores in that case.
                guard let other = row.recordWithNull(in: column.name, as: type) else { return false }
                return (try? Self.columns(of: other))?.contains {
                    CaseInsensitiveName.matches($0.name, column.name) && $0.value.isNull
                } ?? false
            }
        } catch {
            check.checkReading(row.missed.names, encoding: [], type)
            check.add(.recordNotEncoded(reason: "\(error)"))
        }
        for column in check.table.columns {
            try check.checkCases(of: row.typeRead(from: column.name, as: type), in: column)
        }
        try check.checkForeignKeys()
        return check.faults
    }

    /// Finds the faults in the encoding of one record.
    static func faults<T: EncodableRecord & TableRecord>(of record: T, in db: Database) throws
        -> [SchemaFault]
    {
        let type = Swift.type(of: record)
        guard var check = try DriftCheck(type, db) else { return [tableMissing(type)] }
        if let classes = check.classes, try !check.checkClasses(classes) { return check.faults }
        try check.checkDeclarations(of: type)
        try check.checkEncoding(columns(of: record)) { $0.value.isNull }
        try check.checkForeignKeys()
        return check.faults
    }

    private static func tableMissing(_ type: any TableRecord.Type) -> SchemaFault {
        SchemaFault(
            kind: .tableMissing, recordType: "\(type)", tableName: type.databaseTableName, columns: [])
    }

    /// - Returns: Nil if there is no such table.
    private init?(_ type: any TableRecord.Type, _ db: Database) throws {
        tableName = type.databaseTableName
        guard let table = try db.schema.table(tableName) else { return nil }
        self.db = db
        self.table = table
        recordType = "\(type)"
        classes = (type as? Record.Type)?.rowClasses
        key = type.databasePrimaryKey ?? (table.primaryKey.columnInfos ?? []).map(\.name)
    }

    /// Compares an enum with a column, without the properties of a record.
    init(_ table: TableSchema, for type: any Any.Type, _ db: Database) {
        (self.db, self.table, tableName, recordType) = (db, table, table.name, "\(type)")
        (classes, key) = (nil, [])
    }

    /// Checks the rules and the default filter of a type.
    private mutating func checkDeclarations<T: TableRecord>(of type: T.Type) throws {
        rules = try Array(SaveRules(of: type, in: table))
        try (db as Any as? any CheckedIndexes)?.checkIndexes(&self)
        var areValid = true
        for case let rule as any CheckedRule in rules {
            if try !rule.check(&self, of: type) { areValid = false }
        }
        guard areValid, type._ownConditions != nil else { return }
        do {
            _ = try type.all().makePreparedRequest(db, forSingleResult: true)
        } catch {
            add(.filterInvalid(message: Self.sentence(of: error)))
        }
    }

    /// The sentence of an error, for a fault.
    static func sentence(of error: any Error) -> String {
        guard let error = error as? DatabaseError else { return "\(error)" }
        return error.message ?? "\(error.resultCode)"
    }

    mutating func add(_ kind: SchemaFault.Kind, _ columns: String...) { add(kind, columns) }

    mutating func add(
        _ kind: SchemaFault.Kind, _ columns: [String], of type: (any TableRecord.Type)? = nil
    ) {
        let recordType = type.map { "\($0)" } ?? recordType
        faults.append(
            SchemaFault(kind: kind, recordType: recordType, tableName: tableName, columns: columns))
    }

    // MARK: - Reading

    /// Returns the columns that the type selects, and the first row of the table if there is one.
    mutating func selectedColumns(_ type: any TableRecord.Type) throws -> (names: [String], row: Row?) {
        do {
            let filter = rules.rowCondition.map { " WHERE \($0)" } ?? ""
            let statement = try db.makeStatement(
                sql: "SELECT \(type.selectionSQL) FROM \(tableName.quotedDatabaseIdentifier)\(filter) LIMIT 1"
            )
            return (statement.columnNames, try Row.fetchOne(statement))
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            add(.selectionInvalid(message: error.message ?? "\(error.resultCode)"))
            return (table.columns.map(\.name), nil)
        }
    }

    /// Invents the row that a record is made from.
    private mutating func inventedRow(_ type: any TableRecord.Type) throws -> InventedRow {
        let (names, stored) = try selectedColumns(type)
        let values = stored?.databaseValues ?? []
        var row = InventedRow(stored: values)
        for (index, name) in names.enumerated() {
            // Without it, a record has the requested class.
            if isClass(name) { continue }
            let column = table.column(named: name)
            var likely = values.indices.contains(index) ? [values[index]] : []
            if let sql = column?.defaultValueSQL,
                let value = try? DatabaseValue.fetchOne(db, sql: "SELECT \(sql)")
            {
                likely.append(value)
            }
            row.append(name, likely: likely, column)
        }
        return row
    }

    /// Compares the columns that were read with those that are selected.
    private mutating func checkReading(
        _ missed: [String], encoding: [Encoded], _ type: any FetchableRecord.Type
    ) {
        for name in missed where !isReadElsewhere(name, type) {
            if hasColumn(name) {
                add(.columnNotSelected, name)
            } else {
                let isEncoded = encoding.contains { CaseInsensitiveName.matches($0.name, name) }
                add(.columnMissing(isRead: true, isEncoded: isEncoded), name)
            }
        }
    }

    /// Whether a decoding strategy has found the value under another name.
    private func isReadElsewhere(_ name: String, _ type: any FetchableRecord.Type) -> Bool {
        let strategy = type.databaseColumnDecodingStrategy
        guard case .convertFromSnakeCase = strategy else { return false }
        let key = CaseInsensitiveName(strategy.key(ofColumn: name))
        return table.columns.contains { CaseInsensitiveName(strategy.key(ofColumn: $0.name)) == key }
    }

    /// Whether a column holds the class of a row.
    private func isClass(_ name: String) -> Bool {
        classes.map { CaseInsensitiveName.matches($0.column, name) } ?? false
    }

    /// Whether the table has a column with the name, or a row id.
    func hasColumn(_ name: String) -> Bool { table.column(named: name) != nil || isRowID(name) }

    /// Whether a name belongs to the row id, and to no column.
    private func isRowID(_ name: String) -> Bool {
        table.kind != .view && table.primaryKey.tableHasRowID && table.column(named: name) == nil
            && TableSchema.rowIDNames.contains { CaseInsensitiveName.matches($0, name) }
    }

    // MARK: - Encoding

    static func columns(of record: some EncodableRecord) throws -> [Encoded] {
        try record.encoded().columnsWithDates
    }

    /// Compares the encoded columns with the table.
    ///
    /// - Parameter canBeNull: Returns whether a record stores NULL in a column.
    mutating func checkEncoding(_ encoded: [Encoded], canBeNull: (Encoded) -> Bool) throws {
        let names = Set(encoded.map { CaseInsensitiveName($0.name) })
        let filled = rules.flatMap(\.insertedColumns)
        let missingKey = key.filter { !names.contains(CaseInsensitiveName($0)) }
        if !missingKey.isEmpty { add(.primaryKeyNotEncoded, key) }

        for item in encoded {
            guard let column = table.column(named: item.name) else {
                // A column that is read as well was reported already.
                if !isRowID(item.name), !faults.contains(where: { $0.columns == [item.name] }) {
                    add(.columnMissing(isRead: false, isEncoded: true), item.name)
                }
                continue
            }
            if column.isGenerated {
                add(.generatedColumnEncoded, column.name)
                continue
            }
            let isFilled = filled.contains { CaseInsensitiveName.matches($0, column.name) }
            if let sql = column.writtenDefault, column.name != table.primaryKey.rowIDColumn, !isFilled,
                canBeNull(item)
            {
                add(.defaultOverwritten(defaultValueSQL: sql), column.name)
            }
            // Dates are exempt: only a date that no text can represent is a number, and such dates
            // are rare.
            if table.kind == .table, !item.isDate, let value = column.unfitValue(item.value) {
                add(.affinityMismatch(value: value, declaredType: column.type), column.name)
            }
        }

        for case let rule as any CheckedRule in rules { rule.checkColumns(&self) }
        for column in table.columns where column.isNotNull && column.writtenDefault == nil {
            let isKey = key.contains { CaseInsensitiveName.matches($0, column.name) }
            let isFilled = filled.contains { CaseInsensitiveName.matches($0, column.name) }
            if !isKey, !column.isGenerated, !isFilled,
                !names.contains(CaseInsensitiveName(column.name))
            {
                add(.columnNotEncoded, column.name)
            }
        }
    }
}

extension PackedColumns {
    fileprivate var columnsWithDates: [DriftCheck.Encoded] {
        var columns: [DriftCheck.Encoded] = []
        eachColumn { columns.append((layout.names[$0], $1.isDate, $1.view.databaseValue)) }
        return columns
    }
}

extension ColumnInfo {
    /// The default, unless it is NULL.
    fileprivate var writtenDefault: String? {
        defaultValueSQL.flatMap { CaseInsensitiveName.matches($0, "null") ? nil : $0 }
    }

    /// Returns the storage class of an encoded value if it does not fit the column ("Datatypes In
    /// SQLite", section "Type Affinity").
    ///
    /// A column stores the value as another one, or may do so with other values of that storage
    /// class.
    fileprivate func unfitValue(_ value: DatabaseValue) -> StorageClass? {
        switch (value.storage, affinity) {
        case (.null, _), (_, .blob): return nil
        case (.blob, .numeric):
            // A type that SQLite does not know, such as UUID or BINARY(16), may well mean a blob.
            return declares("num", "dec", "bool", "date", "time") ? .blob : nil
        case (.blob, _): return .blob
        case (.string, .text): return nil
        case (.string(var text), _):
            // Such texts do not look like numbers.
            if declares("json", "uuid") { return nil }
            let isDate = text.withUTF8 { StoredDate($0) != nil }
            return isDate && declares("date", "time") && affinity.storing(value) == value ? nil : .text
        case (.int64, .text): return .integer
        case (.double, .text), (.double, .integer): return .real
        case (.int64, _), (.double, _): return nil
        }
    }

    /// Whether the declared type contains a word.
    func declares(_ words: String...) -> Bool {
        let type = type.lowercased()
        return words.contains { type.contains($0) }
    }
}

/// Indexes that SQLite does not maintain by itself. The layer of full-text search makes
/// ``Database`` conform to it.
protocol CheckedIndexes {
    /// Compares the indexes of a table with its rows, and adds the faults.
    func checkIndexes(_ check: inout DriftCheck) throws
}

/// A rule whose declaration may not fit the table.
protocol CheckedRule: SaveRule {
    /// Compares the declaration with the table, and adds the faults.
    ///
    /// - Returns: Whether the conditions of the type can be checked, too.
    func check(_ check: inout DriftCheck, of type: any TableRecord.Type) throws -> Bool

    /// Adds the faults of columns that the rule needs, after the encoded columns were compared.
    func checkColumns(_ check: inout DriftCheck)
}

extension CheckedRule {
    func check(_ check: inout DriftCheck, of type: any TableRecord.Type) throws -> Bool { true }
    func checkColumns(_ check: inout DriftCheck) {}
}

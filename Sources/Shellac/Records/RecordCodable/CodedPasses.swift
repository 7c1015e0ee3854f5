/// The passes over a record of a class that leaves columns to `Codable`: see ``CodedClass``.
final class CodedPasses: ClassCoding, @unchecked Sendable {  // it is immutable
    let coded: CodedClass

    init(_ coded: CodedClass) { self.coded = coded }

    override func read(_ row: Row, into record: Record) throws {
        try coded.prepare(record)
        do { try InPlaceDecoding.read(row, into: record, coded) } catch let refusal as CodingRefusal {
            throw refusal.error
        }
    }

    override func take(_ name: String, of row: Row, into record: Record) throws -> Bool {
        if case .int64(let number)? = row.databaseValue(named: name)?.storage,
            let property = coded.property(of: name, of: record), property.set(number, in: record)
        {
            coded.warnOfObservers(name)
            return true
        }
        do {
            let isTold = try InPlaceDecoding.read(row, into: record, coded).isTold
            if isTold { coded.warnOfObservers(name) }
            return isTold
        } catch let refusal as CodingRefusal {
            throw refusal.error
        }
    }

    /// Encodes all columns of a record. The values that a subclass encodes itself come last, and
    /// override the others.
    override func encode(_ record: Record, in container: inout PersistenceContainer) throws {
        try Unretained(coded).use { coded in
            try coded.prepare(record)
            let encoding = container.encoding
            func encodeOwn() throws {
                try record.columns(RecordColumns(encoding: encoding, type(of: record)))
                try coded.coder.encode(record, in: &container, coded)
            }
            if encoding.pointee.mode == .gathering {
                try record.encodeOnce(
                    into: encoding, encodeOwn,
                    twice: { "has the column \($0) twice, through Codable or in columns(_:)" })
            } else {
                try encodeOwn()
            }
        }
        try record.encode(to: &container)
    }

    override func columns(of record: Record) throws -> [ListedColumn] {
        try coded.codedColumns(of: record).map { column in
            // A `let` already has its value once the record exists.
            ListedColumn(
                name: column.column, type: column.type, isRead: column.property?.isVariable ?? true,
                isWritten: true)
        }
    }

    /// Checks a class below one that leaves its columns to `Codable`. It may have properties that
    /// Swift leaves out. Only a record shows this, so the check makes one.
    override func check(_ type: Record.Type) throws {
        guard coded.isSuspect else { return }
        if let record = try? type.init(row: Row()) { try coded.prepare(record) }
        if let refusal = coded.refusal { throw refusal }
    }

    override func checkRefreshing() throws { try coded.checkRefreshing() }

    // MARK: - Making records

    /// Makes a fetched record by `init(from:)`. Returns nil if `init(row:)` has to make it: if the
    /// class implements that initializer, or the row lacks columns.
    override func make(_ type: Record.Type, of live: LiveRow) throws -> Record? {
        let (storage, identifier) = (live.storage, ObjectIdentifier(type))
        if storage.pointee.elements.pointee.codedElement != identifier {
            let making = coded.construction
            guard making == .codingByHand || making == .coding && coded.hasAllColumns(Row(live)) else {
                storage.pointee.plainElement = identifier
                return nil
            }
            storage.pointee.elements.pointee.codedElement = identifier
        }
        return try decode(Row(live))
    }

    override func makeByHand(_ type: Record.Type, of row: Row) throws -> Record? {
        coded.construction == .codingByHand ? try decode(row) : nil
    }

    private func decode(_ row: Row) throws -> Record {
        let record = try Unretained(coded).use { coded in
            let record = try Unretained(coded.coder).use { try $0.decode(row) }
            try coded.prepare(record)
            return record
        }
        try record.updateFromRow(row)
        try record.readColumns(row)
        try record.remember(fetched: row)
        return record
    }
}

extension StoredProperty {
    /// Sets a property that is an integer, as row ids are. Returns false for any other property.
    fileprivate func set(_ number: Int64, in record: Record) -> Bool {
        if set(Int64?(number), in: record as AnyObject) || set(number, in: record as AnyObject) {
            return true
        }
        let integer = Int(truncatingIfNeeded: number)
        return Int64(integer) == number
            && (set(Int?(integer), in: record as AnyObject) || set(integer, in: record as AnyObject))
    }
}

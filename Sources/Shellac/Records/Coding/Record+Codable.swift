// What a class leaves to `Codable`, in each pass over a record: see ``CodedClass``.

extension Record {
    /// Reads the coded columns of a row.
    @inline(never)
    final func readCoded(_ row: Row, _ coded: Unmanaged<CodedClass>) throws {
        let coded = coded.takeUnretainedValue()
        try coded.prepare(self)
        do { try InPlaceDecoding.read(row, into: self, coded) } catch let refusal as CodingRefusal {
            throw refusal.error
        }
    }

    /// Takes the value of one coded column.
    ///
    /// - Returns: Whether the record decodes the column.
    @inline(never)
    final func takeCoded(_ name: String, of row: Row, _ coded: Unmanaged<CodedClass>) throws -> Bool {
        let coded = coded.takeUnretainedValue()
        if case .int64(let number)? = row.databaseValue(named: name)?.storage,
            let property = coded.property(of: name, of: self), property.set(number, in: self)
        {
            coded.warnOfObservers(name)
            return true
        }
        do {
            let isTold = try InPlaceDecoding.read(row, into: self, coded).isTold
            if isTold { coded.warnOfObservers(name) }
            return isTold
        } catch let refusal as CodingRefusal {
            throw refusal.error
        }
    }

    /// Encodes all columns of a class that leaves some to `Codable`. What a subclass encodes by itself comes last, and counts.
    @inline(never)
    final func encodeCoded(in container: inout PersistenceContainer, _ coded: Unmanaged<CodedClass>) throws {
        try coded._withUnsafeGuaranteedRef { coded in
            try coded.prepare(self)
            let encoding = container.encoding
            func encodeOwn() throws {
                try columns(RecordColumns(encoding: encoding, type(of: self)))
                try coded.coder.encode(self, in: &container, coded)
            }
            if encoding.pointee.mode == .gathering {
                try encodeOnce(
                    into: encoding, encodeOwn,
                    twice: { "has the column \($0) twice, by Codable or in columns(_:)" })
            } else {
                try encodeOwn()
            }
            try encode(to: &container)
        }
    }

    /// The columns that the class leaves to `Codable`.
    final func codedColumns() throws -> [ListedColumn] {
        guard let coded = CodedClass.of(type(of: self))?.takeUnretainedValue() else { return [] }
        return try coded.columns(of: self).map { column in
            // A `let` has its value once the record is there.
            ListedColumn(
                name: column.column, type: column.type, isRead: column.property?.isVariable ?? true,
                isWritten: true)
        }
    }

    /// Sees that the record can take a row while somebody observes it.
    final func checkRefreshing() throws {
        try CodedClass.of(type(of: self))?.takeUnretainedValue().checkRefreshing()
    }
}

// MARK: - Making records

extension Record {
    /// A fetched record that `init(from:)` makes. Nil where `init(row:)` is to make it: where the class leaves nothing to
    /// `Codable`, where somebody has written that initializer, and where the row lacks columns.
    @usableFromInline @inline(never)
    static func makeByCoding(of live: LiveRow) throws -> Self? {
        let (place, identifier) = (live.place, ObjectIdentifier(self))
        guard let coded = CodedClass.of(self) else {
            place.pointee.plainElement = identifier
            return nil
        }
        return try coded._withUnsafeGuaranteedRef { coded in
            if place.pointee.codedElement != identifier {
                let row = Row(live)
                let making = coded.howToMake
                guard making == .codingByHand || making == .coding && coded.hasAllColumns(row) else {
                    place.pointee.plainElement = identifier
                    return nil
                }
                place.pointee.codedElement = identifier
            }
            return try decode(Row(live), coded)
        }
    }

    private static func decode(_ row: Row, _ coded: CodedClass) throws -> Self {
        let record = unsafeDowncast(try coded.coder.decode(row), to: self)
        try coded.prepare(record)
        try record.updateFromRow(row)
        try record.readColumns(row)
        try record.remember(fetched: row)
        return record
    }

    /// A record of a row.
    static func make(of row: Row) throws -> Self {
        if let coded = CodedClass.of(self)?.takeUnretainedValue(), coded.howToMake == .codingByHand {
            return try decode(row, coded)
        }
        return try self.init(row: row)
    }
}

extension FetchableRecord {
    /// A record of a row: of a class, too, whose `init(row:)` has nothing to set it by.
    static func made(of row: Row) throws -> Self {
        guard let type = self as? Record.Type else { return try Self(row: row) }
        return try type.make(of: row) as? Self ?? Self(row: row)
    }
}

extension StoredProperty {
    /// Sets a property that is an integer, as row ids are. Returns false for another one.
    fileprivate func set(_ number: Int64, in record: Record) -> Bool {
        if set(Int64?(number), in: record as AnyObject) || set(number, in: record as AnyObject) {
            return true
        }
        let integer = Int(truncatingIfNeeded: number)
        return Int64(integer) == number
            && (set(Int?(integer), in: record as AnyObject) || set(integer, in: record as AnyObject))
    }
}

// The reading and encoding of class records.
//
// A class defines this by the pair of `updateFromRow(_:)` and `encode(to:)`, or by the columns that
// it lists. Its superclass may use the other way. So all passes use both, the pair first. The
// columns that a class leaves to `Codable` are a part of each pass, too: see ``ClassCoding``.

extension Record {
    /// Reads a row.
    @inline(__always)
    final func read(_ row: Row) throws {
        guard row.isLive, let layout = row.live.storage.pointee.elements.pointee.recordLayoutReference else {
            return try readInAnyStyle(row)
        }
        switch layout.use({ ColumnStyle(of: type(of: self), rememberedBy: $0) }) {
        case .pair: try updateFromRow(row)
        case .list: try columns(RecordColumns(reading: row.live, type(of: self)))
        case .any: try readInAnyStyle(row)
        case nil:
            layout.use { ColumnStyle.remember(of: type(of: self), by: $0) }
            try readInAnyStyle(row)
        }
    }

    @inline(never)
    private func readInAnyStyle(_ row: Row) throws {
        // The coding can throw before anything is set, so it comes first.
        if let coding = ClassCoding.of(type(of: self)) { try coding.use { try $0.read(row, into: self) } }
        try updateFromRow(row)
        try readColumns(row)
    }

    /// Reads the columns that the class lists.
    final func readColumns(_ row: Row) throws {
        if row.isLive {
            try columns(RecordColumns(reading: row.live, type(of: self)))
        } else {
            try pass(reading: row)
        }
    }

    /// Encodes all columns. `encode(to:)` has only the columns of the pair.
    public final func _encodeColumns(to container: inout PersistenceContainer) throws {
        let encoding = container.encoding
        switch encoding.pointee.layout.use({ ColumnStyle(of: type(of: self), rememberedBy: $0) }) {
        case .pair: try encode(to: &container)
        case .list: try columns(RecordColumns(encoding: encoding, type(of: self)))
        case .any: try encodeInAnyStyle(to: &container)
        case nil:
            // While columns are gathered, the layout does not belong to a record.
            if encoding.pointee.mode != .gathering {
                encoding.pointee.layout.use { ColumnStyle.remember(of: type(of: self), by: $0) }
            }
            try encodeInAnyStyle(to: &container)
        }
    }

    @inline(never)
    private func encodeInAnyStyle(to container: inout PersistenceContainer) throws {
        let type = type(of: self)
        let encoding = container.encoding
        if let coding = ClassCoding.of(type) { return try coding.use { try $0.encode(self, in: &container) } }
        try encode(to: &container)
        if encoding.pointee.mode == .gathering { return try gatherColumns(into: encoding) }
        try columns(RecordColumns(encoding: encoding, type))
    }

    /// Encodes the columns that the class lists, and checks that each is listed once.
    @inline(never)
    private func gatherColumns(into encoding: UnsafeMutablePointer<ColumnEncoding>) throws {
        func encodeListed() throws { try columns(RecordColumns(encoding: encoding, type(of: self))) }
        try encodeOnce(
            into: encoding, encodeListed, twice: { "lists the column \($0) twice in columns(_:)" })
    }

    /// Runs a function that encodes columns, and checks that it sets each of them once.
    final func encodeOnce(
        into encoding: UnsafeMutablePointer<ColumnEncoding>, _ encode: () throws -> Void,
        twice: (String) -> String
    ) throws {
        encoding.pointee.beginList()
        try encode()
        guard let name = encoding.pointee.endList() else { return }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "\(type(of: self)) \(twice(name)). One of the two properties would be lost: give each a column of its own."
        )
    }

    /// Returns the columns that the class lists, and the ones that it leaves to `Codable`.
    final func listedColumns() throws -> [ListedColumn] {
        try pass(reading: nil) + (ClassCoding.of(type(of: self))?.use { try $0.columns(of: self) } ?? [])
    }

    /// Reads a row that owns its values, or lists the columns if there is no row.
    @discardableResult @inline(never)
    private func pass(reading row: Row?) throws -> [ListedColumn] {
        var pass = RecordColumns.OtherPass(row: row)
        try withUnsafeMutablePointer(to: &pass) { try columns(RecordColumns($0, type(of: self))) }
        return pass.listed
    }
}

extension Record {
    /// Whether the class has strategies of its own for dates, data or UUIDs.
    @usableFromInline
    final class var hasStrategies: Bool { Overrides.strategies(self) }
}

// MARK: - Setting one column

extension Record {
    /// Sets a listed column of the record to a number.
    ///
    /// - Returns: Whether the record reads the column.
    /// - Throws: any error that ``columns(_:)`` throws.
    @inline(__always)
    final func give(_ number: Int64, to column: Int, of layout: RowLayout) throws -> Bool {
        try PackedValue.with(number) { value in
            try give(value, to: layout.bits[column]) || giveElsewhere(value, to: layout.names[column])
        }
    }

    /// Sets a listed column of the record to a value.
    ///
    /// - Returns: Whether the record reads the column.
    /// - Throws: any error that ``columns(_:)`` throws.
    final func give(_ value: DatabaseValue, to name: String) throws -> Bool {
        if case .int64(let number) = value.storage {
            return try PackedValue.with(number) {
                try give($0, to: NameBits(name)) || giveElsewhere($0, to: name)
            }
        }
        let row = PackedRow.make(RowLayout(names: [name], sql: nil), values: [value])
        defer { withExtendedLifetime(row) {} }
        let packed = row.column(0)
        return try give(packed, to: NameBits(name)) || giveElsewhere(packed, to: name)
    }

    @inline(__always)
    private func give(_ value: PackedValue, to name: NameBits) throws -> Bool {
        var column = GivenColumn(name: name, packed: value)
        try withUnsafeMutablePointer(to: &column) {
            try columns(RecordColumns(giving: $0, type(of: self)))
        }
        return column.isTaken
    }

    /// Sets a column that the fast pass did not find. The record may spell the name differently,
    /// keep a long name in other memory, or leave the column to `Codable`.
    @inline(never)
    private func giveElsewhere(_ value: PackedValue, to name: String) throws -> Bool {
        let row = Row([(name, value.view.databaseValue)])
        let type = type(of: self)
        if Overrides.columns(type, unlike: Record.self) != false {
            let isListed = try pass(reading: nil).contains {
                $0.isRead && CaseInsensitiveName.matches($0.name, name)
            }
            if isListed {
                try pass(reading: row)
                return true
            }
        }
        return try ClassCoding.of(type)?.use { try $0.take(name, of: row, into: self) } ?? false
    }
}

// MARK: - The way a class defines its columns

/// The way a class defines its columns. With it, a pass over a record can skip the other way.
///
/// Usually, one layout serves records of one class. So the layout remembers the style of the last
/// class.
private enum ColumnStyle: UInt {
    /// By coding, or in several ways.
    case any = 1
    /// Only by `updateFromRow(_:)` and `encode(to:)`.
    case pair = 2
    /// Only by `columns(_:)`.
    case list = 3

    private init(of type: Record.Type) {
        let overrides = (
            pair: Overrides.pair(type, unlike: Record.self),
            list: Overrides.columns(type, unlike: Record.self)
        )
        self =
            switch overrides {
            case (true?, false?): ClassCoding.of(type) == nil ? .pair : .any
            case (false?, true?): ClassCoding.of(type) == nil ? .list : .any
            default: .any
            }
    }

    /// Looks up the style that a layout remembers for a class. (Metadata lies at multiples of
    /// eight.)
    init?(of type: Record.Type, rememberedBy layout: RowLayout) {
        let word = layout.columnStyle.load(ordering: .relaxed) ^ UInt(bitPattern: ObjectIdentifier(type))
        self.init(rawValue: word)
    }

    /// Stores the style of a class in a layout.
    static func remember(of type: Record.Type, by layout: RowLayout) {
        let style = ColumnStyle(of: type)
        layout.columnStyle.store(
            UInt(bitPattern: ObjectIdentifier(type)) | style.rawValue, ordering: .relaxed)
    }
}

// The comparison of a class that lists its columns with its table.

extension DriftCheck {
    /// Finds the faults of a class that lists its columns, without an invented row. Returns nil if
    /// the class has columns elsewhere, too.
    ///
    /// The list determines which columns the class reads and stores, and with which types.
    mutating func listedFaults(of type: Record.Type) throws -> [SchemaFault]? {
        guard Overrides.listing(type),
            Overrides.pair(type, unlike: Record.self) == false,
            let record = try? type.init(row: Row()), let listed = try? record.listedColumns()
        else { return nil }
        let selected = try selectedColumns(type)
        for column in listed where column.isRead {
            if selected.names.contains(where: { CaseInsensitiveName.matches($0, column.name) }) { continue }
            if hasColumn(column.name) {
                add(.columnNotSelected, column.name)
            } else if column.isWritten {
                add(.columnMissing(isRead: true, isEncoded: true), column.name)
            }
        }
        var encoded: [Encoded]
        do {
            // The values of the table reveal more than the default values of a record.
            if let row = selected.row { _ = try type.init(row: row) }
        } catch {
            add(.recordNotMade(reason: "\(error)"))
        }
        do {
            encoded = try Self.columns(of: record)
        } catch {
            add(.recordNotEncoded(reason: "\(error)"))
            try checkForeignKeys()
            return faults
        }
        var optionals: Set<CaseInsensitiveName> = []
        for column in listed where column.isWritten {
            let name = CaseInsensitiveName(column.name)
            if column.isOptional { optionals.insert(name) }
            let index = encoded.firstIndex {
                CaseInsensitiveName.matches($0.name, column.name) && $0.value.isNull
            }
            // A property that is nil by default is stored according to its type.
            if let index, let sample = column.sample {
                encoded[index].value = sample
                optionals.insert(name)
            }
        }
        try checkEncoding(encoded) { $0.value.isNull || optionals.contains(CaseInsensitiveName($0.name)) }
        for column in listed {
            if let schema = table.column(named: column.name) { try checkCases(of: column.type, in: schema) }
        }
        try checkForeignKeys()
        return faults
    }
}

extension DriftCheck {
    /// Finds the stored properties of a class that have the name of a column, but no line for it.
    /// It also finds a key that all new records share.
    mutating func checkProperties(of type: Record.Type) {
        guard let record = try? type.init(row: Row()) else { return }
        if let (column, value) = type.sharedKey(in: table) {
            add(.primaryKeyShared(value: value), column)
        }
        for name in record.unlistedProperties(in: table) { add(.propertyNotListed, name) }
    }
}

extension ListedColumn {
    fileprivate var isOptional: Bool { type is any OptionalType.Type }

    /// A value that is stored as those of the column's type are. Nil if the type does not determine
    /// one.
    fileprivate var sample: DatabaseValue? { Self.sample(of: type) }

    private static func sample(of type: any Any.Type) -> DatabaseValue? {
        func rawType<Raw: RawRepresentable>(_ type: Raw.Type) -> any Any.Type { Raw.RawValue.self }
        switch type {
        case let optional as any OptionalType.Type: return sample(of: optional.wrappedType)
        case is Bool.Type, is any FixedWidthInteger.Type: return 1.databaseValue
        case is any BinaryFloatingPoint.Type: return 1.5.databaseValue
        case is String.Type: return "text".databaseValue
        case let raw as any RawRepresentable.Type where type is any DatabaseValueConvertible.Type:
            return sample(of: rawType(raw))
        default: return nil
        }
    }
}

/// One of the tables that a relation connects: that of a type, or one that is known by its name.
enum RelationEnd: Sendable {
    case type(any TableRecord.Type)
    case table(String)

    /// Returns the end at the rows of a request. Nil if they come from a query.
    init?(_ source: QuerySource?) {
        switch source?.form {
        case .type(let type): self = .type(type)
        case .table(let name): self = .table(name)
        case .query, .compound, nil: return nil
        }
    }

    /// The type, if the table has one.
    var type: (any TableRecord.Type)? {
        if case .type(let type) = self { type } else { nil }
    }

    var tableName: String {
        switch self {
        case .type(let type): type.databaseTableName
        case .table(let name): name
        }
    }

    /// All rows of the table, as the source of a query.
    var source: QuerySource {
        switch self {
        case .type(let type): QuerySource(.type(type))
        case .table(let name): QuerySource(.table(name))
        }
    }

    /// The selection of a request that has no other one.
    var selection: [SQLSelection] {
        type.map { $0.databaseSelection.map(\.sqlSelection) } ?? [SQLSelection(.allColumns(of: nil))]
    }

    /// Returns the table.
    ///
    /// - Throws: the error of a missing table.
    func schema(on db: Database) throws -> TableSchema {
        switch self {
        case .type(let type): try type.tableSchema(on: db)
        case .table(let name): try db.tableSchema(name)
        }
    }

    /// Returns the columns of the primary key, as given by the type, or else by the schema.
    func primaryKey(of table: TableSchema) -> [String] {
        type?.primaryKey(of: table) ?? table.primaryKey.columns
    }
}

extension RelationEnd: Hashable {
    static func == (a: RelationEnd, b: RelationEnd) -> Bool {
        switch (a, b) {
        case (.type(let a), .type(let b)): a == b
        case (.table(let a), .table(let b)): CaseInsensitiveName.matches(a, b)
        case (.type, .table), (.table, .type): false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .type(let type): hasher.combine(ObjectIdentifier(type))
        case .table(let name): hasher.combine(CaseInsensitiveName(name))
        }
    }
}

extension RelationEnd: CustomStringConvertible {
    var description: String {
        switch self {
        case .type(let type): "\(type)"
        case .table(let name): "Table(\"\(name)\")"
        }
    }
}

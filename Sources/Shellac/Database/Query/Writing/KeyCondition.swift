// Conditions on primary or unique keys, with the key values as the record type stores them.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Primary keys, or values of a unique key, whose columns come from the schema.
struct KeyCondition: Sendable {
    enum Keys: Sendable {
        /// Values of a primary key of one column.
        case values([DatabaseValue])
        /// Values of several columns.
        case rows([String], [[DatabaseValue]])
    }

    enum Given: Sendable {
        case stored(Keys)
        /// Values of a primary key of one column, or of several columns. The type determines how
        /// they are stored.
        case unstored([String]?, [[KeyValue]], any _KeyStoring.Type)
    }

    let source: QuerySource
    private let given: Given

    init(source: QuerySource, keys: Given) { (self.source, given) = (source, keys) }

    /// The number of keys.
    var count: Int {
        switch given {
        case .stored(.values(let values)): values.count
        case .stored(.rows(_, let rows)): rows.count
        case .unstored(_, let rows, _): rows.count
        }
    }

    /// Whether the keys are values of the primary key, without column names.
    var isOfPrimaryKey: Bool {
        switch given {
        case .stored(.values), .unstored(nil, _, _): true
        case .stored(.rows), .unstored: false
        }
    }

    /// Returns the keys as they are stored.
    ///
    /// - Parameter schema: Returns the table and the columns of its primary key. Called only if
    ///   needed. Nil if there are none.
    func keys(_ schema: () throws -> (table: TableSchema, primaryKey: [String])?) throws -> Keys {
        switch given {
        case .stored(let keys): keys
        case .unstored(let columns, let rows, let type): try stored(columns, rows, type, schema())
        }
    }

    @inline(never)
    private func stored(
        _ columns: [String]?, _ rows: [[KeyValue]], _ type: any _KeyStoring.Type,
        _ schema: (table: TableSchema, primaryKey: [String])?
    ) throws -> Keys {
        guard let names = columns ?? schema?.primaryKey.first.map({ [$0] }) else { return .values([]) }
        // The type must get the table's own spelling of the columns, and a caller may spell them
        // otherwise.
        let spelled = names.map { schema?.table.column(named: $0)?.name ?? $0 }
        let stored = try rows.map { row in
            try zip(row, spelled).map { value, column in try value.stored(by: type, in: column) }
        }
        return columns.map { .rows($0, stored) } ?? .values(stored.compactMap(\.first))
    }
}

/// A value that identifies a row.
///
/// A record type may store dates, data and UUIDs in several ways. The column determines which.
enum KeyValue: Sendable {
    case value(DatabaseValue)
    case date(Date)
    case data(Data)
    case uuid(UUID)

    init(_ value: some DatabaseValueConvertible) {
        guard Self.mayBeStored(otherwise: Swift.type(of: value)) else {
            self = .value(value.databaseValue)
            return
        }
        switch value {
        case let date as Date: self = .date(date)
        case let data as Data: self = .data(data)
        case let uuid as UUID: self = .uuid(uuid)
        default: self = .value(value.databaseValue)
        }
    }

    /// Whether a record type may determine how values of the given type are stored.
    static func mayBeStored(otherwise type: Any.Type) -> Bool {
        type == UUID.self || type == Date.self || type == Data.self || type == UUID?.self
            || type == Date?.self
            || type == Data?.self
    }

    var isValue: Bool { if case .value = self { true } else { false } }

    /// Returns the value as a record type stores it in a column.
    func stored(by type: any _KeyStoring.Type, in column: String) throws -> DatabaseValue {
        switch self {
        case .value(let value): value
        case .date(let date): try type.databaseKeyValue(date, for: column)
        case .data(let data): try type.databaseKeyValue(data, for: column)
        case .uuid(let uuid): try type.databaseKeyValue(uuid, for: column)
        }
    }

    /// The value in its own stored form.
    var databaseValue: DatabaseValue {
        switch self {
        case .value(let value): value
        case .date(let date): date.databaseValue
        case .data(let data): data.databaseValue
        case .uuid(let uuid): uuid.databaseValue
        }
    }
}

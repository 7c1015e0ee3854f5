/// The result of fetching a list.
struct ListFetch: Sendable {
    let rows: PackedRows
    /// The columns that identify rows.
    let keyColumns: [ListKeyColumn]
    let maker: RecordMaker
}

/// The maker of records from fetched rows, outside of the accesses to the database: one after the
/// other.
final class RecordMaker: @unchecked Sendable {  // used by the owner of the fetch, and handed on
    private let row: LiveRow

    /// A placeholder for the connection: the rows are fetched ones.
    private final class Nobody: Sendable {}
    private static let nobody = Nobody()

    /// - Parameter db: The connection of the rows. It provides what class records remember of their
    ///   table.
    init(_ layout: RowLayout, for type: any FetchableRecord.Type, on db: Database) throws {
        row = LiveRow.make(fetchedBy: db, layout: layout)
        defer { row.storage.pointee.connection = Self.nobody }
        if let type = type as? Record.Type { try row.learnTables(of: type) }
    }

    deinit { row.recycle() }

    func makeRecords<Element: FetchableRecord>(
        _ type: Element.Type, of rows: PackedRows, _ numbers: [Int]
    ) throws -> [Element] { try rows.makeElements(type, of: numbers, standing: row) }
}

/// The source of a list: a request, the key of its rows, and the function that names their
/// sections.
struct ListSource: Sendable {
    typealias SectionName = @Sendable (Row) throws -> String

    /// The key that identifies rows.
    enum Key: Sendable {
        case primaryKey(any TableRecord.Type)
        case columns([String])
    }

    let sectionName: SectionName?
    let makeReader: @Sendable (LiveMailbox<ListFetch>) -> RowsReader
    /// The function that fetches the list, in an access that sees one state of the database.
    let fetch: @Sendable (Database) throws -> ListFetch

    init<Request: FetchRequest>(_ request: Request, _ key: Key, _ sectionName: SectionName?)
    where Request.RowDecoder: FetchableRecord {
        self.sectionName = sectionName
        makeReader = { ListReader(request, key, to: $0) }
        fetch = { db in
            let prepared = try request.makePreparedRequest(db, forSingleResult: false)
            guard prepared.supplement == nil else { throw Self.relationsError(prepared) }
            let statement = prepared.statement
            try statement.begin(prepared.arguments)
            defer { statement.abandon() }
            return try ListFetch(PackedRows(statement), key, as: Request.RowDecoder.self, on: db)
        }
    }

    static func relationsError(_ prepared: PreparedRequest) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "the request of a list cannot load relations, since the list would not report their "
                + "changes: let the records load them with db.load(_:_:), or follow the request with "
                + "values(of:)",
            sql: prepared.statement.sql)
    }
}

extension ListFetch {
    fileprivate init(
        _ rows: PackedRows, _ key: ListSource.Key, as type: any FetchableRecord.Type, on db: Database
    ) throws {
        self.rows = rows
        keyColumns = try key.columns(of: rows.layout, on: db)
        maker = try RecordMaker(rows.layout, for: type, on: db)
    }
}

extension ListSource.Key {
    /// Returns the columns of the key.
    fileprivate func columns(of layout: RowLayout, on db: Database) throws -> [ListKeyColumn] {
        let (names, places): ([String], [Int])
        var known: TableSchema?
        let whose: String
        switch self {
        case .primaryKey(let type):
            let table = try db.tableSchema(type.databaseTableName)
            known = table
            names = type.primaryKey(of: table)
            places = table.places(ofKey: names, in: layout.names)
            whose = "primary key of table \(table.name)"
        case .columns(let columns):
            names = columns
            places = columns.compactMap { name in
                layout.names.firstIndex { CaseInsensitiveName.matches($0, name) }
            }
            whose = "given key columns"
        }
        if !names.isEmpty, places.count == names.count {
            return zip(names, places).map { name, place in
                ListKeyColumn(place: place, comparison: known?.comparison(ofColumn: name) ?? .unknown)
            }
        }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "a list identifies its rows by the \(whose): \(names.joined(separator: ", ")). The request "
                + "does not fetch all of these: select them, too, or pass other key columns to the list",
            sql: layout.sql)
    }
}

/// The reader of a list's rows.
private final class ListReader<Request: FetchRequest>: RequestReader<Request, ListFetch>, @unchecked Sendable
where Request.RowDecoder: FetchableRecord {  // as its superclass
    private let key: ListSource.Key

    init(_ request: Request, _ key: ListSource.Key, to mailbox: LiveMailbox<ListFetch>) {
        self.key = key
        super.init(request, to: mailbox)
    }

    override func serve(_ rows: PackedRows, on db: Database) -> LiveDelivery {
        deliver { try ListFetch(rows, key, as: Request.RowDecoder.self, on: db) }
    }

    override func fetch(_ db: Database, noting rows: ReadRows, unlessSameAs known: ReadRows?) throws
        -> LiveDelivery
    {
        let prepared = try prepare(db)
        return deliver { throw ListSource.relationsError(prepared) }
    }
}

/// The update of a list by a new fetch, which is computed outside of the list's actor.
struct ListUpdate<Element: FetchableRecord> {
    let contents: ListContents
    let difference: ListDifference
    /// The records of the rows without an unchanged record, in the order of the new list.
    let records: [Element]

    @concurrent
    static func make(
        _ fetch: ListFetch, from old: ListContents?, _ sectionName: ListSource.SectionName?
    ) async throws -> sending ListUpdate { try makeNow(fetch, from: old, sectionName) }

    /// Makes the update on the calling thread.
    static func makeNow(
        _ fetch: ListFetch, from old: ListContents?, _ sectionName: ListSource.SectionName?
    ) throws -> sending ListUpdate {
        let contents = try ListContents(fetch.rows, keyColumns: fetch.keyColumns, sectionName: sectionName)
        let difference = ListDifference(
            from: old ?? contents.emptied(hasSections: sectionName != nil), to: contents)
        let places = difference.unchanged.indices.filter { difference.unchanged[$0] < 0 }
        return ListUpdate(
            contents: contents, difference: difference,
            records: try fetch.maker.makeRecords(
                Element.self, of: contents.rows, places.map(contents.rowNumber(at:))))
    }

    /// Returns the records of the new list: unchanged rows keep the old ones.
    func records(after old: [Element]) -> [Element] {
        var new = records[...]
        return difference.unchanged.map { place in place < 0 ? new.removeFirst() : old[Int(place)] }
    }
}

/// What an upper layer adds to a request: tables that are joined when the schema is known, and what is fetched after the rows,
/// for the elements that are made of them.
@usableFromInline
class RequestSupplement: @unchecked Sendable {  // its subclasses have constants
    /// Whether tables are joined.
    var joinsTables: Bool { false }

    /// Returns a request with the tables joined. What it fetches is read by its own supplement.
    ///
    /// - Parameters:
    ///   - query: The request.
    ///   - element: What is made of its rows. Nil where it is a part of another statement.
    ///   - names: The names of tables that the statement has already.
    ///   - db: A connection to the database.
    func joined(
        _ query: SelectQuery, for element: Any.Type?, avoiding names: [String], on db: Database
    ) throws -> SelectQuery { query }

    /// Returns the same, with another order of the joined rows.
    func ordered(by change: ([SQLOrdering]) -> [SQLOrdering]) -> RequestSupplement { self }

    /// Returns what is fetched for the elements of two requests together.
    func combined(with other: RequestSupplement?) -> RequestSupplement? { self }

    /// What reads the rows of a statement, as elements of a type. Nil where it gives the rows of these alone.
    func rows<Element>(of statement: Statement, as type: Element.Type, in db: Database) throws
        -> SuppliedRows?
    { nil }

    /// Fetches what belongs to elements.
    func supply<Element>(_ elements: [Element], in db: Database) throws {}

    /// What is read for the elements, besides the rows of the request.
    ///
    /// - Parameter type: The type that has the table of the request.
    func region(of type: (any TableRecord.Type)?, in db: Database) throws -> DatabaseRegion {
        DatabaseRegion()
    }

    /// Fetches elements and what belongs to them, from one state of the database.
    @usableFromInline @inline(never)
    final func supplied<Element>(in db: Database, _ fetch: () throws -> [Element]) throws -> [Element] {
        try db.readingOneState {
            let elements = try fetch()
            try supply(elements, in: db)
            return elements
        }
    }

    /// Refuses a cursor: what belongs to an element would be fetched for each one.
    @usableFromInline @inline(never)
    func refuseCursor() throws {
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "a cursor gives its records one by one, and loads nothing for them: fetch an array, or load what "
                + "belongs to the records that are in hand, by db.load(_:_:)")
    }
}

/// The rows of a statement that gives the columns of several tables, one after the other.
@usableFromInline
class SuppliedRows {
    /// Returns the next row of the request's own table, which is good until the next one. Nil behind the last one.
    @usableFromInline
    func next() throws -> LiveRow? { nil }

    /// Whether something is given to the elements, which are objects.
    @usableFromInline let givesToObjects: Bool

    /// Whether the rows are noted by whoever reads them: see ``ReadRows``.
    var notesRows: Bool { false }

    init(givesToObjects: Bool = false) { self.givesToObjects = givesToObjects }

    /// Gives something to the object that was made of the row.
    @usableFromInline
    func give(to object: AnyObject) throws {}

    /// Fetches what belongs to all that was taken.
    @usableFromInline
    func finish() throws {}
}

extension DatabaseFetchable {
    /// Returns a cursor over the elements of a statement, unless more belongs to them than comes with each row.
    @usableFromInline
    static func fetchCursor(
        _ prepared: PreparedRequest, suppliedBy supplement: RequestSupplement
    ) throws -> DatabaseCursor<Self> {
        if let adapted = supplement as? AdaptedRows {
            return try fetchCursor(
                prepared.statement, arguments: prepared.arguments, adapter: adapted.adapter)
        }
        try supplement.refuseCursor()
        return try fetchCursor(prepared.statement, arguments: prepared.arguments)
    }

    /// Fetches all elements of a statement, or the first one, and what belongs to them.
    @inlinable
    static func fetchAll(
        _ prepared: PreparedRequest, suppliedBy supplement: RequestSupplement, in db: Database,
        first isOne: Bool
    ) throws -> [Self] {
        try supplement.supplied(in: db) {
            try prepared.statement.begin(prepared.arguments)
            defer { prepared.statement.abandon() }
            var elements: [Self] = []
            let rows = try supplement.read(prepared.statement, as: Self.self, in: db)
            let row = prepared.statement.row
            while let row = rows != nil ? try rows?.next() : try prepared.statement.step() ? row : nil {
                guard let element = isOne ? try onlyElement(of: row) : try keptElement(of: row) else { break }
                if let rows, rows.givesToObjects {
                    try rows.give(to: unsafeBitCast(element, to: AnyObject.self))
                }
                elements.append(element)
                if isOne { break }
            }
            try rows?.finish()
            return elements
        }
    }
}

extension SelectQuery {
    /// Changes the order of the rows: that of the table, and that of the tables that are joined.
    mutating func changeOrder(_ change: ([SQLOrdering]) -> [SQLOrdering]) {
        ordering = change(ordering)
        supplement = supplement?.ordered(by: change)
    }

    /// The query, with all tables that it joins, which is about to be written.
    func joined(for writer: inout some QueryWriter) throws -> SelectQuery {
        guard let supplement, supplement.joinsTables else { return self }
        return try supplement.joined(
            self, for: nil, avoiding: writer.tables.flatMap(\.names), on: writer.schema())
    }
}

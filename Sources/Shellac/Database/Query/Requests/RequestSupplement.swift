/// The addition of an upper layer to a request.
///
/// It joins tables when the schema is known, and makes further fetches for the elements made of the
/// rows.
@usableFromInline
class RequestSupplement: @unchecked Sendable {  // subclasses are constant
    /// Whether tables are joined.
    var joinsTables: Bool { false }

    /// Returns a request with the tables joined. Its own supplement reads what it fetches.
    ///
    /// - Parameters:
    ///   - query: The request.
    ///   - element: The type made of its rows. Nil if the request is a part of another statement.
    ///   - names: The names of tables already in the statement.
    ///   - db: A connection to the database.
    func joined(
        _ query: SelectQuery, for element: Any.Type?, avoiding names: [String], on db: Database
    ) throws -> SelectQuery { query }

    /// Returns the same supplement, with another order of the joined rows.
    func ordered(by change: ([SQLOrdering]) -> [SQLOrdering]) -> RequestSupplement { self }

    /// Returns a supplement with the further fetches of both requests.
    func combined(with other: RequestSupplement?) -> RequestSupplement? { self }

    /// Returns a reader of a statement's rows, as elements of a type. Nil if the statement returns
    /// only the elements' own rows.
    func rows<Element>(of statement: Statement, as type: Element.Type, in db: Database) throws
        -> SuppliedRows?
    { nil }

    /// Fetches the data that belongs to the elements.
    func supply<Element>(_ elements: [Element], in db: Database) throws {}

    /// Returns the region read for the elements, besides the rows of the request.
    ///
    /// - Parameter type: The type of the request's table.
    func region(of type: (any TableRecord.Type)?, in db: Database) throws -> DatabaseRegion {
        DatabaseRegion()
    }

    /// Fetches elements and the data that belongs to them, from one state of the database.
    @usableFromInline @inline(never)
    final func supplied<Element>(in db: Database, _ fetch: () throws -> [Element]) throws -> [Element] {
        try db.readingOneState {
            let elements = try fetch()
            try supply(elements, in: db)
            return elements
        }
    }

    /// Refuses a cursor, which would need a further fetch for each element.
    @usableFromInline @inline(never)
    func refuseCursor() throws {
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "a cursor returns its records one by one, and loads nothing else for them: fetch an array, "
                + "or load what belongs to the records that you have with db.load(_:_:)")
    }
}

/// The rows of a statement that returns the columns of several tables side by side.
@usableFromInline
class SuppliedRows {
    /// Returns the next row of the request's own table, which is valid until the next call. Nil
    /// after the last one.
    @usableFromInline
    func next() throws -> LiveRow? { nil }

    /// Whether the elements are objects that receive related data.
    @usableFromInline let givesToObjects: Bool

    /// Whether the reader records the rows itself: see ``ReadRows``.
    var notesRows: Bool { false }

    init(givesToObjects: Bool = false) { self.givesToObjects = givesToObjects }

    /// Passes related data to the object made of the row.
    @usableFromInline
    func give(to object: AnyObject) throws {}

    /// Fetches the data that belongs to all rows read.
    @usableFromInline
    func finish() throws {}
}

extension DatabaseFetchable {
    /// Returns a cursor over the elements of a statement, unless they need more data than each row
    /// contains.
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

    /// Fetches all elements of a statement, or the first one, with the data that belongs to them.
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
    /// Changes the order of the rows, for the table and for joined tables.
    mutating func changeOrder(_ change: ([SQLOrdering]) -> [SQLOrdering]) {
        ordering = change(ordering)
        supplement = supplement?.ordered(by: change)
    }

    /// Returns the query with all tables that it joins, for writing.
    func joined(for writer: inout some QueryWriter) throws -> SelectQuery {
        guard let supplement, supplement.joinsTables else { return self }
        return try supplement.joined(
            self, for: nil, avoiding: writer.tables.flatMap(\.names), on: writer.schema())
    }
}

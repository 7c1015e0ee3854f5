/// What is fetched after the rows of a request, for the elements that were made of them: an upper layer says what it is.
@usableFromInline
class RequestSupplement: @unchecked Sendable {  // its subclasses have constants
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

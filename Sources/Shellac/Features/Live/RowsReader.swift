/// A reader of the rows of a request.
class RowsReader: LiveReader, @unchecked Sendable {  // as its superclass
    /// Whether the reader has had the last rows. It is used on the connection's side.
    @exclusivity(unchecked) final var isServed = false
    /// The number of the last result that was fetched for the reader: see ``LiveMailbox``. It is used on the connection's side.
    @exclusivity(unchecked) final var resultNumber: UInt32 = 0

    // MARK: - What the subclass knows of the request

    /// Prepares the statement of the request.
    func prepare(_ db: Database) throws -> PreparedRequest { Misuse.trap("a reader reads no request") }

    /// What the request reads.
    func region(_ db: Database) throws -> DatabaseRegion { .fullDatabase }

    /// What tells the rows that concern the request, where it can be known.
    func condition(_ prepared: PreparedRequest, _ testers: RowTesters, on db: Database) throws
        -> RowCondition?
    { nil }

    /// Makes objects of rows that are the reader's own. Returns what delivers them.
    func serve(_ rows: PackedRows, on db: Database) -> LiveDelivery { LiveDelivery {} }

    /// Fetches a request whose elements are made of several statements, and notes the rows of these.
    ///
    /// - Parameter known: The rows that the reader has had.
    /// - Returns: what delivers the elements, or frees them where the same rows were read.
    func fetch(_ db: Database, noting rows: ReadRows, unlessSameAs known: ReadRows?) throws -> LiveDelivery {
        LiveDelivery {}
    }

    /// Tells the end.
    func finish(_ failure: (any Error)?) {}
}

/// A reader of a request, whose results go to a mailbox.
class RequestReader<Request: FetchRequest, Value>: RowsReader, @unchecked Sendable {  // as its superclass
    final let request: Request
    private let mailbox: LiveMailbox<Value>

    init(_ request: Request, to mailbox: LiveMailbox<Value>) {
        (self.request, self.mailbox) = (request, mailbox)
    }

    override final func prepare(_ db: Database) throws -> PreparedRequest {
        try request.prepare(db, forSingleResult: false)
    }

    override final func region(_ db: Database) throws -> DatabaseRegion { try request.databaseRegion(db) }

    override final func condition(
        _ prepared: PreparedRequest, _ testers: RowTesters, on db: Database
    ) throws -> RowCondition? { try RowCondition(request, prepared.statement, testers, on: db) }

    /// Hands a result over. An error, of rows that do not convert, is this reader's alone.
    ///
    /// Results are fetched in their order, also by the tasks of other readers, who come to the query; and each task hands over
    /// what it has fetched, outside of the access, where one may overtake another. So they have numbers.
    final func deliver(_ make: () throws -> Value) -> LiveDelivery {
        isServed = true
        resultNumber &+= 1
        // It is made for this reader: nobody else holds it.
        nonisolated(unsafe) let result = Result(catching: make)
        return LiveDelivery { [self, number = resultNumber] in
            switch result {
            case .success(let value):
                nonisolated(unsafe) let sent = value
                mailbox.post(Parcel(sent), number: number)
            case .failure(let error):
                if mailbox.finish(error, number: number) { leave() }
            }
        }
    }

    override final func finish(_ failure: (any Error)?) { mailbox.finish(failure) }
}

/// A reader of the elements of a request.
final class ElementsReader<Request: FetchRequest>: RequestReader<Request, [Request.RowDecoder]>,
    @unchecked Sendable
where Request.RowDecoder: DatabaseFetchable {  // as its superclass
    override func serve(_ rows: PackedRows, on db: Database) -> LiveDelivery {
        deliver { try rows.makeElements(Request.RowDecoder.self, on: db) }
    }

    override func fetch(_ db: Database, noting rows: ReadRows, unlessSameAs known: ReadRows?) -> LiveDelivery
    {
        let result = Result { try db.noting(in: rows) { try request.fetchAll(db) } }
        if case .success = result, let known, known.hasSameRows(as: rows) {
            // The objects are the user's: they are freed where these could use the database.
            return LiveDelivery { withExtendedLifetime(result) {} }
        }
        return deliver { try result.get() }
    }
}

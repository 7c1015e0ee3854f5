/// A reader of the rows of a request.
class RowsReader: LiveReader, @unchecked Sendable {  // as its superclass
    /// Whether the reader has the last rows. It is used in accesses.
    @exclusivity(unchecked) final var isServed = false
    /// The number of the last result that was fetched for the reader: see ``LiveMailbox``. It is
    /// used in accesses.
    @exclusivity(unchecked) final var resultNumber: UInt32 = 0

    // MARK: - Overrides

    /// Prepares the statement of the request.
    func prepare(_ db: Database) throws -> PreparedRequest { Misuse.trap("a reader reads no request") }

    /// Returns the region that the request reads.
    func region(_ db: Database) throws -> DatabaseRegion { .fullDatabase }

    /// Returns the condition of rows that affect the request, if it can be determined.
    func condition(_ prepared: PreparedRequest, _ testers: RowTesters, on db: Database) throws
        -> RowCondition?
    { nil }

    /// Makes the reader's own objects from rows. Returns their delivery.
    func serve(_ rows: PackedRows, on db: Database) -> LiveDelivery { LiveDelivery {} }

    /// Fetches a request whose elements are made from several statements, and notes the rows of
    /// these.
    ///
    /// - Parameter known: The rows that the reader had last.
    /// - Returns: The delivery of the elements. If the same rows were read, it frees them instead.
    func fetch(_ db: Database, noting rows: ReadRows, unlessSameAs known: ReadRows?) throws -> LiveDelivery {
        LiveDelivery {}
    }

    /// Ends the reading.
    func finish(_ failure: (any Error)?) {}
}

/// A reader of a request, whose results go to a mailbox.
class RequestReader<Request: FetchRequest, Value>: RowsReader, @unchecked Sendable {  // as above
    final let request: Request
    private let mailbox: LiveMailbox<Value>

    init(_ request: Request, to mailbox: LiveMailbox<Value>) {
        (self.request, self.mailbox) = (request, mailbox)
    }

    override final func prepare(_ db: Database) throws -> PreparedRequest {
        try request.makePreparedRequest(db, forSingleResult: false)
    }

    override final func region(_ db: Database) throws -> DatabaseRegion { try request.databaseRegion(db) }

    override final func condition(
        _ prepared: PreparedRequest, _ testers: RowTesters, on db: Database
    ) throws -> RowCondition? { try RowCondition(request, prepared.statement, testers, on: db) }

    /// Returns the delivery of a result. An error, from rows that do not convert, ends only this
    /// reader.
    ///
    /// Results are fetched in their order, also by the tasks of other readers that come to the
    /// query. Each task delivers its result outside of the access, where one may overtake another.
    /// So they have numbers.
    final func deliver(_ make: () throws -> Value) -> LiveDelivery {
        isServed = true
        resultNumber &+= 1
        // It is made for this reader alone, which holds the only reference.
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
            // The objects belong to the user: they are freed outside of the access, where they can
            // use the database.
            return LiveDelivery { withExtendedLifetime(result) {} }
        }
        return deliver { try result.get() }
    }
}

/// The query of a ``ValueObservation``: a function of the user fetches for one reader.
final class ObservedFetch<Value>: LiveQuery, @unchecked Sendable {  // as its superclass
    /// What belongs to the user.
    private final class Content {
        let fetch: LiveFetch<Value>
        let interest: LiveInterest
        let mailbox: LiveMailbox<Value>

        init(_ fetch: @escaping LiveFetch<Value>, _ interest: LiveInterest, _ mailbox: LiveMailbox<Value>) {
            (self.fetch, self.interest, self.mailbox) = (fetch, interest, mailbox)
        }
    }
    private let ownContent: Lock<Content?>

    // On the side of who fetches:

    /// What the last fetch has read.
    @exclusivity(unchecked) private var recorded: DatabaseRegion?
    /// Whether the connection that writes has been told of another region.
    @exclusivity(unchecked) private var isAnotherRegion = false

    init(
        _ observation: ValueObservation<Value>, in writer: any DatabaseWriter, to mailbox: LiveMailbox<Value>
    ) {
        ownContent = Lock(Content(observation.makeFetch(), observation.interest, mailbox))
        super.init(writer, observation.settings)
    }

    override var content: AnyObject? { ownContent.withLock { $0 } }

    override func fetch(_ db: Database) throws -> LiveDelivery {
        guard let content = ownContent.withLock({ $0 }) else { return LiveDelivery {} }
        let version = try RowTesters.version(on: db)
        let step: LiveStep<Value>
        switch content.interest {
        case .recordedOnce where recorded != nil && version == seenSchema, .regions:
            step = try content.fetch(db)
        case .recorded, .recordedOnce:
            let recorder = ReadRecorder { try $0.databaseRegion(db) }
            step = try db.recording(with: recorder) { try content.fetch(db) }
            isAnotherRegion = recorder.region != recorded
            recorded = recorder.region
        }
        return LiveDelivery { if let parcel = try step() { content.mailbox.post(parcel) } }
    }

    override var readsSomethingElse: Bool { isAnotherRegion }

    override func concern(_ db: Database) throws -> LiveConcern {
        guard case .regions(let regions)? = ownContent.withLock({ $0 })?.interest else {
            return LiveConcern(recorded ?? DatabaseRegion())
        }
        return LiveConcern(
            try regions.reduce(into: DatabaseRegion()) { try $0.formUnion($1.databaseRegion(db)) })
    }

    override func letGo(_ failure: (any Error)?) {
        let content = ownContent.withLock { content in
            defer { content = nil }
            return content
        }
        content?.mailbox.finish(failure)
    }
}

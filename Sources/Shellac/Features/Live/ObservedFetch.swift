/// The query of a ``ValueObservation``: a function of the user fetches for one reader.
final class ObservedFetch<Value>: LiveQuery, @unchecked Sendable {  // as its superclass
    /// The objects of the user.
    private final class Content {
        let fetch: LiveFetch<Value>
        let interest: LiveInterest
        let mailbox: LiveMailbox<Value>

        init(_ fetch: @escaping LiveFetch<Value>, _ interest: LiveInterest, _ mailbox: LiveMailbox<Value>) {
            (self.fetch, self.interest, self.mailbox) = (fetch, interest, mailbox)
        }
    }
    private struct State {
        var content: Content?
        /// The region that the last fetch has read. `told` is the region that is registered with
        /// the writing connection.
        var recorded: DatabaseRegion?
        var told: DatabaseRegion?
    }
    private let state: Lock<State>

    init(
        _ observation: ValueObservation<Value>, in writer: any DatabaseWriter, to mailbox: LiveMailbox<Value>
    ) {
        state = Lock(
            State(content: Content(observation.makeFetch(), observation.interest, mailbox)))
        super.init(writer, observation.settings)
    }

    override var content: AnyObject? { state.withLock { $0.content } }

    override func fetch(_ db: Database) throws -> LiveDelivery {
        guard let content = state.withLock({ $0.content }) else { return LiveDelivery {} }
        let version = try RowTesters.version(on: db)
        let step: LiveStep<Value>
        switch content.interest {
        case .recordedOnce where state.withLock({ $0.recorded }) != nil && version == seenSchema, .regions:
            step = try content.fetch(db)
        case .recorded, .recordedOnce:
            let recorder = ReadRecorder { try $0.databaseRegion(db) }
            step = try db.recording(with: recorder) { try content.fetch(db) }
            state.withLock { $0.recorded = recorder.region }
        }
        return LiveDelivery { if let parcel = try step() { content.mailbox.post(parcel) } }
    }

    override var readsSomethingElse: Bool { state.withLock { $0.recorded != $0.told } }

    override func concern(_ db: Database) throws -> LiveConcern {
        guard case .regions(let regions)? = state.withLock({ $0.content })?.interest else {
            return LiveConcern(
                state.withLock { state in
                    state.told = state.recorded
                    return state.recorded ?? DatabaseRegion()
                })
        }
        return LiveConcern(
            try regions.reduce(into: DatabaseRegion()) { try $0.formUnion($1.databaseRegion(db)) })
    }

    override func release(_ failure: (any Error)?) {
        let content = state.withLock { state in
            defer { state.content = nil }
            return state.content
        }
        content?.mailbox.finish(failure)
    }
}

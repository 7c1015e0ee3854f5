/// How an observation is followed: what its operators have added.
struct LiveSettings: Sendable {
    /// The time between two fetches, at least.
    var pause: Duration?
    /// How often the database is asked for other connections' commits, or nil for never.
    var pollingInterval: Duration?
    var events: [LiveEvents] = []

    func tell(_ body: (LiveEvents) -> Void) { for event in events { body(event) } }
}

/// Functions that hear what an observation does.
struct LiveEvents: Sendable {
    var willStart: (@Sendable () -> Void)?
    var willFetch: (@Sendable () -> Void)?
    var willTrackRegion: (@Sendable (DatabaseRegion) -> Void)?
    var databaseDidChange: (@Sendable () -> Void)?
    var didFail: (@Sendable (any Error) -> Void)?
    var didCancel: (@Sendable () -> Void)?
}

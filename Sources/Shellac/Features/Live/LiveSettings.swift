/// How an observation is followed: what its operators have added. Most have none, and pay for one reference.
struct LiveSettings: Sendable {
    private struct Additions: Sendable {
        var pause: Duration?
        var pollingInterval: Duration?
        var events: [LiveEvents] = []
    }
    /// An array, so that it is one reference, which is empty or has one element.
    private var additions: [Additions] = []

    private subscript<Value>(_ path: WritableKeyPath<Additions, Value>) -> Value {
        get { (additions.first ?? Additions())[keyPath: path] }
        set {
            if additions.isEmpty { additions = [Additions()] }
            additions[0][keyPath: path] = newValue
        }
    }

    /// The time between two fetches, at least.
    var pause: Duration? {
        get { self[\.pause] }
        set { self[\.pause] = newValue }
    }
    /// How often the database is asked for other connections' commits, or nil for never.
    var pollingInterval: Duration? {
        get { self[\.pollingInterval] }
        set { self[\.pollingInterval] = newValue }
    }
    var events: [LiveEvents] {
        get { self[\.events] }
        set { self[\.events] = newValue }
    }

    /// The same, of which nobody hears.
    var unheard: LiveSettings {
        if additions.isEmpty { return self }
        var settings = self
        settings.events = []
        return settings
    }

    func tell(_ body: (LiveEvents) -> Void) {
        if additions.isEmpty { return }
        for event in events { body(event) }
    }
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

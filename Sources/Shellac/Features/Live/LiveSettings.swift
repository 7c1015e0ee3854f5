/// The settings of an observation, which its operators have added.
///
/// Most observations have none, and pay for one reference.
struct LiveSettings: Sendable {
    private struct Additions: Sendable {
        var pause: Duration?
        var pollingInterval: Duration?
        var events: [LiveEvents] = []
    }
    /// An array with no element or one, so that it takes one reference.
    private var additions: [Additions] = []

    private subscript<Value>(_ path: WritableKeyPath<Additions, Value>) -> Value {
        get { (additions.first ?? Additions())[keyPath: path] }
        set {
            if additions.isEmpty { additions = [Additions()] }
            additions[0][keyPath: path] = newValue
        }
    }

    /// The minimum time between two fetches.
    var pause: Duration? {
        get { self[\.pause] }
        set { self[\.pause] = newValue }
    }
    /// The interval of polling for other connections' commits, or nil for no polling.
    var pollingInterval: Duration? {
        get { self[\.pollingInterval] }
        set { self[\.pollingInterval] = newValue }
    }
    var events: [LiveEvents] {
        get { self[\.events] }
        set { self[\.events] = newValue }
    }

    /// The same settings without handlers.
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

/// The handlers of an observation's events.
struct LiveEvents: Sendable {
    var willStart: (@Sendable () -> Void)?
    var willFetch: (@Sendable () -> Void)?
    var willTrackRegion: (@Sendable (DatabaseRegion) -> Void)?
    var databaseDidChange: (@Sendable () -> Void)?
    var didFail: (@Sendable (any Error) -> Void)?
    var didCancel: (@Sendable () -> Void)?
}

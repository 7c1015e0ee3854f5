// Operators on value observations: map, removeDuplicates, throttle, handleEvents, print.

extension ValueObservation {
    /// Adds a step to the processing of a fetched value, outside of the access.
    private func adding<Other>(
        _ makeStep: @escaping @Sendable () -> (Parcel<Value>) throws -> Parcel<Other>?
    ) -> ValueObservation<Other> {
        var observation = ValueObservation<Other>(interest) { [makeFetch] in
            let (fetch, add) = (makeFetch(), makeStep())
            return { db in
                let step = try fetch(db)
                return { try step().flatMap(add) }
            }
        }
        observation.settings = settings
        return observation
    }

    /// Transforms each value.
    ///
    /// ```swift
    /// let count = ValueObservation.tracking { db in try Player.fetchAll(db) }.map { players in players.count }
    /// ```
    ///
    /// - Parameter transform: The transformation. It runs outside of the access, on no actor, and
    ///   the next fetch waits for it. An error that it throws ends the observation.
    public func map<Other>(
        _ transform: @escaping @Sendable (sending Value) throws -> sending Other
    ) -> ValueObservation<Other> {
        adding { { parcel in Parcel(try transform(parcel.take())) } }
    }

    /// Skips each value that a function considers the same as the previous one.
    ///
    /// The previous value is kept, so it must be Sendable. (A receiver of class records may change
    /// them.)
    ///
    /// - Parameter areEqual: Returns whether two values are the same.
    public func removeDuplicates(
        by areEqual: @escaping @Sendable (Value, Value) -> Bool
    ) -> ValueObservation where Value: Sendable {
        adding {
            var last: Value?
            return { parcel in
                let value = parcel.take()
                if let last, areEqual(last, value) { return nil }
                last = value
                return Parcel(value)
            }
        }
    }

    /// Skips each value that equals the previous one.
    ///
    /// ```swift
    /// let best = ValueObservation.tracking { db in
    ///     try Int.fetchOne(db, sql: "SELECT MAX(score) FROM player")
    /// }.removeDuplicates()
    /// ```
    ///
    /// The previous value is kept, so it must be Sendable.
    /// ``DatabaseWriter/values(of:bufferingPolicy:)`` compares the rows of any request, and keeps
    /// no objects.
    public func removeDuplicates() -> ValueObservation where Value: Sendable & Equatable {
        removeDuplicates(by: ==)
    }

    /// Limits values to one in an interval: the first at once, and then the newest.
    ///
    /// The database is not read meanwhile.
    ///
    /// - Parameter interval: The minimum time between two fetches.
    public func throttle(_ interval: Duration) -> ValueObservation {
        var observation = self
        observation.settings.pause = max(settings.pause ?? .zero, interval)
        return observation
    }

    // MARK: - Handlers

    /// Adds handlers of the observation's events. They are called on no actor, and must not use the
    /// database.
    ///
    /// - Parameters:
    ///   - willStart: Called before the first fetch.
    ///   - willFetch: Called before each fetch, inside of the access.
    ///   - willTrackRegion: Called with the tracked region, when it is known, and when it has
    ///     changed.
    ///   - databaseDidChange: Called when a commit has made another fetch necessary.
    ///   - didReceiveValue: Called with each value, before it is sent. It must not keep a value
    ///     that is not Sendable.
    ///   - didFail: Called with the error that ends the observation.
    ///   - didCancel: Called when the observation is cancelled.
    public func handleEvents(
        willStart: (@Sendable () -> Void)? = nil, willFetch: (@Sendable () -> Void)? = nil,
        willTrackRegion: (@Sendable (DatabaseRegion) -> Void)? = nil,
        databaseDidChange: (@Sendable () -> Void)? = nil, didReceiveValue: (@Sendable (Value) -> Void)? = nil,
        didFail: (@Sendable (any Error) -> Void)? = nil, didCancel: (@Sendable () -> Void)? = nil
    ) -> ValueObservation {
        var observation = self
        if let didReceiveValue {
            observation = adding {
                { parcel in
                    parcel.show(didReceiveValue)
                    return parcel
                }
            }
        }
        observation.settings.events.append(
            LiveEvents(
                willStart: willStart, willFetch: willFetch, willTrackRegion: willTrackRegion,
                databaseDidChange: databaseDidChange, didFail: didFail, didCancel: didCancel))
        return observation
    }

    /// Prints the observation's events.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of each line, before a colon.
    ///   - output: A function that takes a line. By default, it prints.
    public func print(
        _ prefix: String = "", to output: @escaping @Sendable (String) -> Void = { Swift.print($0) }
    ) -> ValueObservation {
        let print: @Sendable (String) -> Void = { output(prefix.isEmpty ? $0 : "\(prefix): \($0)") }
        return handleEvents(
            willStart: { print("start") }, willFetch: { print("fetch") },
            willTrackRegion: { print("tracked region: \($0)") },
            databaseDidChange: { print("database did change") },
            didReceiveValue: { print("value: \($0)") }, didFail: { print("failure: \($0)") },
            didCancel: { print("cancel") })
    }

    /// Writes the observation's events to a stream.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of each line, before a colon.
    ///   - stream: The stream that receives the lines: an object, or a value that writes elsewhere.
    public func print(_ prefix: String = "", to stream: sending any TextOutputStream) -> ValueObservation {
        let output = Lock(AnyOutput(stream))
        return print(prefix) { line in output.withLock { $0.write("\(line)\n") } }
    }
}

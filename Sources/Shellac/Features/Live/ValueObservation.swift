/// A value that is fetched from a database, and fetched again whenever it may have changed.
///
/// ```swift
/// let observation = ValueObservation.tracking { db in
///     try Player.order(Column("score").desc).limit(10).fetchAll(db)
/// }
/// for try await players in observation.values(in: dbQueue) {
///     print("the best: \(players.map(\.name))")
/// }
/// ```
///
/// The first value comes first. Each further one is fetched after a transaction that has changed what the function reads,
/// and each is of one committed state. They come in the order of the states, none is missed, and the last one is the
/// newest: but what several commits have changed before a fetch had its turn is fetched once.
///
/// The observation ends when its reader is cancelled or freed, when the database is closed or freed, and with the first
/// error, which it tells.
///
/// The function is called with an access that only reads: a statement that writes throws `SQLITE_READONLY`, and ends the
/// observation. The elements of arrays may be class records, which are made anew for each value, and belong to whoever
/// receives them: the observation keeps none. For the rows of one request, ``DatabaseWriter/values(of:bufferingPolicy:)`` is shorter, and
/// does less.
public struct ValueObservation<Value>: Sendable {
    /// What tells that the value may have changed.
    let interest: LiveInterest
    /// Makes the function that fetches for one reader: with a memory of its own.
    let makeFetch: @Sendable () -> LiveFetch<Value>
    var settings = LiveSettings()

    init(_ interest: LiveInterest, makeFetch: @escaping @Sendable () -> LiveFetch<Value>) {
        (self.interest, self.makeFetch) = (interest, makeFetch)
    }

    fileprivate init(_ interest: LiveInterest, fetch: @escaping @Sendable (Database) throws -> sending Value)
    {
        self.init(interest) {
            { db in
                let parcel = Parcel(try fetch(db))
                return { parcel }
            }
        }
    }
}

/// What fetches a value, in an access. It returns what is left to do outside of the access.
typealias LiveFetch<Value> = (Database) throws -> LiveStep<Value>

/// What makes the value to deliver of what was fetched. Nil for none.
typealias LiveStep<Value> = () throws -> Parcel<Value>?

/// What tells that a fetched value may have changed.
enum LiveInterest: Sendable {
    /// What the last fetch has read.
    case recorded
    /// What the first fetch has read.
    case recordedOnce
    /// Regions that are known.
    case regions([any DatabaseRegionConvertible & Sendable])
}

/// A value on its way to its reader: put in once, taken out once.
final class Parcel<Value>: @unchecked Sendable {  // taken by one thread, after another has put it in
    private var value: Value?

    init(_ value: sending Value) { self.value = value }

    func take() -> sending Value {
        guard let taken = value else { Misuse.trap("a live value was taken twice") }
        value = nil
        nonisolated(unsafe) let sent = taken
        return sent
    }

    /// Shows the value to a function that must not keep it, before it is sent.
    func show(_ body: (Value) throws -> Void) rethrows { if let value { try body(value) } }
}

// MARK: - What is tracked

extension ValueObservation {
    /// Tracks all that a function reads.
    ///
    /// What it reads may differ from one time to the next:
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking { db -> Int in
    ///     let setting = try String.fetchOne(db, sql: "SELECT shown FROM setting")
    ///     return try setting == "teams" ? Team.all().fetchCount(db) : Player.all().fetchCount(db)
    /// }
    /// ```
    ///
    /// Tables, columns, and rows that requests find by row id are told apart. Functions made in Swift and virtual tables
    /// tell nothing of what they read: see `tracking(region:fetch:)`.
    ///
    /// - Parameter fetch: Fetches the value. Its errors end the observation.
    public static func tracking(
        _ fetch: @escaping @Sendable (Database) throws -> sending Value
    ) -> ValueObservation { ValueObservation(.recorded, fetch: fetch) }

    /// Tracks what a function reads when it is called first: it is sure to read the same each time.
    ///
    /// What it reads later is not looked at, which saves some microseconds for each value. Where it does depend on what was
    /// found, changes are missed: use `tracking(_:)` then.
    ///
    /// - Parameter fetch: Fetches the value. Its errors end the observation.
    public static func trackingConstantRegion(
        _ fetch: @escaping @Sendable (Database) throws -> sending Value
    ) -> ValueObservation { ValueObservation(.recordedOnce, fetch: fetch) }

    /// Tracks regions: requests, queries, tables. What the function reads is not looked at.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking(region: Player.all(), fetch: { db in
    ///     try Player.all().fetchCount(db)
    /// })
    /// ```
    ///
    /// - Parameters:
    ///   - region: What tells that the value may have changed.
    ///   - otherRegions: Further regions.
    ///   - fetch: Fetches the value. Its errors, and those of the regions, end the observation.
    public static func tracking(
        region: any DatabaseRegionConvertible & Sendable,
        _ otherRegions: any DatabaseRegionConvertible & Sendable...,
        fetch: @escaping @Sendable (Database) throws -> sending Value
    ) -> ValueObservation { tracking(regions: [region] + otherRegions, fetch: fetch) }

    /// Tracks regions: requests, queries, tables. What the function reads is not looked at.
    ///
    /// - Parameters:
    ///   - regions: What tells that the value may have changed.
    ///   - fetch: Fetches the value. Its errors, and those of the regions, end the observation.
    public static func tracking(
        regions: [any DatabaseRegionConvertible & Sendable],
        fetch: @escaping @Sendable (Database) throws -> sending Value
    ) -> ValueObservation { ValueObservation(.regions(regions), fetch: fetch) }
}

// Functions whose results are Sendable need not send them: `tracking(Player.fetchAll)`.
extension ValueObservation where Value: Sendable {
    /// Tracks all that a function reads, whose result is Sendable.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking(Player.fetchAll)  // a struct
    /// ```
    ///
    /// - Parameter fetch: Fetches the value. Its errors end the observation.
    public static func tracking(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation { ValueObservation(.recorded, fetch: { db in try fetch(db) }) }

    /// Tracks what a function reads when it is called first, whose result is Sendable.
    ///
    /// - Parameter fetch: Fetches the value. Its errors end the observation.
    public static func trackingConstantRegion(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation { ValueObservation(.recordedOnce, fetch: { db in try fetch(db) }) }

    /// Tracks regions, for a function whose result is Sendable.
    ///
    /// - Parameters:
    ///   - region: What tells that the value may have changed.
    ///   - otherRegions: Further regions.
    ///   - fetch: Fetches the value. Its errors, and those of the regions, end the observation.
    public static func tracking(
        region: any DatabaseRegionConvertible & Sendable,
        _ otherRegions: any DatabaseRegionConvertible & Sendable...,
        fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation { tracking(regions: [region] + otherRegions, fetch: fetch) }

    /// Tracks regions, for a function whose result is Sendable.
    ///
    /// - Parameters:
    ///   - regions: What tells that the value may have changed.
    ///   - fetch: Fetches the value. Its errors, and those of the regions, end the observation.
    public static func tracking(
        regions: [any DatabaseRegionConvertible & Sendable],
        fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation { ValueObservation(.regions(regions), fetch: { db in try fetch(db) }) }
}

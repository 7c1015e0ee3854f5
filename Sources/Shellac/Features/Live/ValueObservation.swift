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
/// The present value comes first. Each further one is fetched after a transaction that has changed
/// what the function reads, and each is of one committed state. They come in the order of the
/// states, none is missed, and the last one is the newest. Changes of several commits before a
/// fetch has its turn are fetched once.
///
/// The observation ends when its reader is cancelled or deallocated, or when the database is closed
/// or deallocated. It also ends with the first error, which the reader gets.
///
/// The function runs in a read-only access: a statement that writes throws `SQLITE_READONLY`, and
/// ends the observation. The elements of arrays may be class records. These are made anew for each
/// value, and belong to the receiver: the observation keeps none. For the rows of one request,
/// ``DatabaseWriter/values(of:bufferingPolicy:)`` is shorter, and does less work.
public struct ValueObservation<Value>: Sendable {
    /// The changes that may change the value.
    let interest: LiveInterest
    /// The maker of the function that fetches for one reader, with its own memory.
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

/// A function that fetches a value in an access, and returns the rest of the work, for outside of
/// the access.
typealias LiveFetch<Value> = (Database) throws -> LiveStep<Value>

/// A function that makes the value to deliver from what was fetched, or nil for none.
typealias LiveStep<Value> = () throws -> Parcel<Value>?

/// The changes that may change a fetched value.
enum LiveInterest: Sendable {
    /// Changes of what the last fetch has read.
    case recorded
    /// Changes of what the first fetch has read.
    case recordedOnce
    /// Changes of known regions.
    case regions([any DatabaseRegionConvertible & Sendable])
}

/// A value on its way to its reader: put in once, taken out once.
final class Parcel<Value>: @unchecked Sendable {  // one thread puts it in, then another takes it
    private var value: Value?

    init(_ value: sending Value) { self.value = value }

    func take() -> sending Value {
        guard let taken = value else { Misuse.trap("a live value was taken twice") }
        value = nil
        nonisolated(unsafe) let sent = taken
        return sent
    }

    /// Passes the value to a function that must not keep it, before it is sent.
    func show(_ body: (Value) throws -> Void) rethrows { if let value { try body(value) } }
}

// MARK: - Tracking

extension ValueObservation {
    /// Tracks everything that a function reads.
    ///
    /// Its reads may differ from one call to the next:
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking { db -> Int in
    ///     let setting = try String.fetchOne(db, sql: "SELECT shown FROM setting")
    ///     return try setting == "teams" ? Team.all().fetchCount(db) : Player.all().fetchCount(db)
    /// }
    /// ```
    ///
    /// Tracking distinguishes tables, columns, and rows that requests find by row id. Functions
    /// made in Swift and virtual tables do not report what they read: see
    /// `tracking(region:fetch:)`.
    ///
    /// - Parameter fetch: Fetches the value. Its errors end the observation.
    public static func tracking(
        _ fetch: @escaping @Sendable (Database) throws -> sending Value
    ) -> ValueObservation { ValueObservation(.recorded, fetch: fetch) }

    /// Tracks what the first call of a function reads. Use it if the function reads the same each
    /// time.
    ///
    /// Later calls are not tracked, which saves some microseconds for each value. If the reads do
    /// depend on fetched values, changes are missed: use `tracking(_:)` then.
    ///
    /// - Parameter fetch: Fetches the value. Its errors end the observation.
    public static func trackingConstantRegion(
        _ fetch: @escaping @Sendable (Database) throws -> sending Value
    ) -> ValueObservation { ValueObservation(.recordedOnce, fetch: fetch) }

    /// Tracks regions: requests, queries, tables. The reads of the function are not tracked.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking(region: Player.all(), fetch: { db in
    ///     try Player.all().fetchCount(db)
    /// })
    /// ```
    ///
    /// - Parameters:
    ///   - region: The region whose changes may change the value.
    ///   - otherRegions: Further regions.
    ///   - fetch: Fetches the value. Its errors, and those of the regions, end the observation.
    public static func tracking(
        region: any DatabaseRegionConvertible & Sendable,
        _ otherRegions: any DatabaseRegionConvertible & Sendable...,
        fetch: @escaping @Sendable (Database) throws -> sending Value
    ) -> ValueObservation { tracking(regions: [region] + otherRegions, fetch: fetch) }

    /// Tracks regions: requests, queries, tables. The reads of the function are not tracked.
    ///
    /// - Parameters:
    ///   - regions: The regions whose changes may change the value.
    ///   - fetch: Fetches the value. Its errors, and those of the regions, end the observation.
    public static func tracking(
        regions: [any DatabaseRegionConvertible & Sendable],
        fetch: @escaping @Sendable (Database) throws -> sending Value
    ) -> ValueObservation { ValueObservation(.regions(regions), fetch: fetch) }
}

// Functions whose results are Sendable need not send them: `tracking(Player.fetchAll)`.
extension ValueObservation where Value: Sendable {
    /// Tracks everything that a function with a Sendable result reads.
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking(Player.fetchAll)  // a struct
    /// ```
    ///
    /// - Parameter fetch: Fetches the value. Its errors end the observation.
    public static func tracking(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation { ValueObservation(.recorded, fetch: { db in try fetch(db) }) }

    /// Tracks what the first call of a function with a Sendable result reads.
    ///
    /// - Parameter fetch: Fetches the value. Its errors end the observation.
    public static func trackingConstantRegion(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation { ValueObservation(.recordedOnce, fetch: { db in try fetch(db) }) }

    /// Tracks regions, for a function whose result is Sendable.
    ///
    /// - Parameters:
    ///   - region: The region whose changes may change the value.
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
    ///   - regions: The regions whose changes may change the value.
    ///   - fetch: Fetches the value. Its errors, and those of the regions, end the observation.
    public static func tracking(
        regions: [any DatabaseRegionConvertible & Sendable],
        fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation { ValueObservation(.regions(regions), fetch: { db in try fetch(db) }) }
}

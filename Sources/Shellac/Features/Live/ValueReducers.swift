/// The family's names for the operators of an observation. Here, its type names only its values.
///
/// ```swift
/// let observation: ValueObservation<ValueReducers.Fetch<Int>> = .tracking { db in try Player.fetchCount(db) }
/// ```
public enum ValueReducers {
    /// Values that are fetched.
    public typealias Fetch<Value> = Value
    /// Values that are made from others.
    public typealias Map<Base, Value> = Value
    /// Values without those that equal the previous one.
    public typealias RemoveDuplicates<Base> = Base
    /// Values that are reported to handlers.
    public typealias Trace<Base> = Base
}

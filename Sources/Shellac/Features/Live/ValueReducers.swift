/// The family's names of what an observation's values have gone through. Here, an observation is named by its values alone.
///
/// ```swift
/// let observation: ValueObservation<ValueReducers.Fetch<Int>> = .tracking { db in try Player.fetchCount(db) }
/// ```
public enum ValueReducers {
    /// Values that are fetched.
    public typealias Fetch<Value> = Value
    /// Values that are made of others.
    public typealias Map<Base, Value> = Value
    /// Values without those that equal the one before.
    public typealias RemoveDuplicates<Base> = Base
    /// Values that are told of.
    public typealias Trace<Base> = Base
}

import Foundation

/// Returns the number in a variable of the environment, or nil if it has none.
///
/// The nightly run sets such variables, to let some tests run for longer.
public func environmentNumber<Number: FixedWidthInteger>(
    _ name: String, as type: Number.Type = Int.self
) -> Number? {
    ProcessInfo.processInfo.environment[name].flatMap { Number($0) }
}

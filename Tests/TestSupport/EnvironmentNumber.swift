import Foundation

/// Returns the number in a variable of the environment, or nil if it has none.
///
/// The nightly run sets such variables, to let some tests run for longer.
public func environmentNumber(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap(Int.init)
}

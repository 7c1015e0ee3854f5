public import Foundation
public import Testing

/// A value that many threads share.
///
/// It is guarded by the system's own mutex, which the thread sanitizer sees.
public final class Shared<Value>: @unchecked Sendable {  // `storage` is touched under `lock` alone
    private let lock = NSLock()
    private var storage: Value

    public init(_ value: sending Value) { storage = value }

    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&storage)
    }
}

extension Shared where Value: Sendable {
    public var value: Value { withLock { $0 } }
}

extension Shared where Value: RangeReplaceableCollection, Value.Element: Sendable {
    public func append(_ element: Value.Element) { withLock { $0.append(element) } }
}

/// A gate that threads and tasks wait at until it is opened.
///
/// A wait that never ends would hide which test it belongs to: after ``longestWait`` it throws. No
/// test may depend on how long it is.
public final class Gate: @unchecked Sendable {  // `isOpen` is touched under `condition` alone
    private let condition = NSCondition()
    private var isOpenNow = false

    public init() {}

    public var isOpen: Bool {
        condition.lock()
        defer { condition.unlock() }
        return isOpenNow
    }

    public func open() {
        condition.lock()
        isOpenNow = true
        condition.broadcast()
        condition.unlock()
    }

    /// Waits on this thread. The limit only ends what hangs: other tests may keep the machine busy
    /// for minutes.
    public func wait(seconds: TimeInterval = longestWait) throws {
        let limit = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while !isOpenNow {
            guard condition.wait(until: limit) || isOpenNow else { throw WaitedTooLong() }
        }
    }
}

/// The number of seconds after which a wait is given up, because something hangs.
///
/// All tests begin at once, and a test that waits goes on after all others that are ready. Under a
/// sanitizer, that can last half an hour.
public let longestWait: TimeInterval = 2_700

/// A test waited for something that never came.
public struct WaitedTooLong: Error {
    public init() {}
}

/// Waits until a condition holds, without blocking a thread. After ``longestWait`` it throws:
/// something hangs.
///
/// A long wait checks less often: hundreds of tests that wait at once would keep each other from
/// what they wait for.
public func waitUntil(_ condition: () throws -> Bool) async throws {
    var pauses = WaitingPauses()
    while try !condition() {
        let pause = try pauses.next()
        // Not `Task.sleep`: a cancelled task must wait as well.
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + pause) { continuation.resume() }
        }
    }
}

/// Waits until a value is the expected one, without blocking a thread. After ``longestWait`` it
/// fails, and says which value there was.
public func waitFor<Value: Equatable>(
    _ expected: Value, sourceLocation: SourceLocation = #_sourceLocation, _ value: () throws -> Value
) async throws {
    var last: Value?
    do {
        try await waitUntil {
            last = try value()
            return last == expected
        }
    } catch let error as WaitedTooLong {
        let found = last.map { "\($0)" } ?? "nothing"
        Issue.record("waited for \(expected), and there was \(found)", sourceLocation: sourceLocation)
        throw error
    }
}

/// Waits on this thread until a condition holds. After ``longestWait`` it throws: something hangs.
public func sleepUntil(_ condition: () throws -> Bool) throws {
    var pauses = WaitingPauses()
    while try !condition() { Thread.sleep(forTimeInterval: try pauses.next()) }
}

/// The pauses, in seconds, between the checks of a condition.
private struct WaitingPauses {
    private let end = ContinuousClock.now + .seconds(longestWait)
    private var pause = 0.001

    mutating func next() throws -> TimeInterval {
        if ContinuousClock.now > end { throw WaitedTooLong() }
        defer { pause = min(pause * 1.3, 0.05) }
        return pause
    }
}

/// Runs a body on a thread of its own, and returns its result.
///
/// A test that keeps other threads or processes busy until it is done with them runs here. As a
/// task, it would only go on when its turn comes among all running tests.
public func onThread<Result>(_ body: @escaping @Sendable () throws -> sending Result) async throws
    -> sending Result
{
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread {
            do { continuation.resume(returning: try body()) } catch { continuation.resume(throwing: error) }
        }
        thread.stackSize = 1 << 20
        thread.start()
    }
}

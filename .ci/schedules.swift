// The lock and the atomic values of .ci/schedules, which stand in for those of the library.

import CSQLite
import Foundation
import Synchronization

/// Random pauses.
enum Schedule {
    private static let seed = number("SEED") ?? 1
    private static let threads = Atomic<UInt64>(0)
    fileprivate static let points = Atomic<UInt64>(0)
    private static let key = {
        var key = pthread_key_t()
        pthread_key_create(&key) { free($0) }
        Watchdog.begin()
        return key
    }()

    static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment["SHELLAC_SCHEDULES_\(name)"].flatMap { UInt64($0) }
    }

    /// The random numbers of the running thread.
    private static var state: UnsafeMutablePointer<UInt64> {
        if let known = pthread_getspecific(key) { return known.assumingMemoryBound(to: UInt64.self) }
        let state = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        let number = threads.wrappingAdd(1, ordering: .relaxed).newValue
        state.initialize(to: (seed &* 0x9E37_79B9_7F4A_7C15 &+ number) | 1)
        pthread_setspecific(key, state)
        return state
    }

    /// Whether an operation that may fail for no reason does so.
    static var failsWeakly: Bool { state.pointee >> 30 & 7 == 0 }

    /// Gives way to other threads, or sleeps for some microseconds, or does nothing.
    static func point() {
        points.wrappingAdd(1, ordering: .relaxed)
        let state = state
        var bits = state.pointee
        bits ^= bits << 13
        bits ^= bits >> 7
        bits ^= bits << 17
        state.pointee = bits
        switch (bits >> 20) % 48 {
        case 0: usleep(UInt32(truncatingIfNeeded: (bits >> 44) & 63))
        case 1...6: sched_yield()
        default: break
        }
    }
}

/// Ends the process if a thread waits for a lock for too long, or if none passes one.
private enum Watchdog {
    private struct Place: Hashable {
        let thread: UInt
        let lock: UInt
    }
    private struct State {
        var holders: [Place: String] = [:]
        var waiters: [Place: (name: String, since: Date)] = [:]
    }
    nonisolated(unsafe) private static var state = State()
    nonisolated(unsafe) private static let mutex = newMutex()

    private static func note(_ lock: AnyObject, _ body: (inout State, Place) -> Void) {
        let address = UInt(bitPattern: Unmanaged.passUnretained(lock).toOpaque())
        pthread_mutex_lock(mutex)
        body(&state, Place(thread: UInt(pthread_self()), lock: address))
        pthread_mutex_unlock(mutex)
    }

    static func wait<Value>(_ lock: Lock<Value>) {
        note(lock) { $0.waiters[$1] = (name(lock, $1), Date()) }
    }

    static func hold<Value>(_ lock: Lock<Value>) {
        note(lock) {
            $0.waiters[$1] = nil
            $0.holders[$1] = name(lock, $1)
        }
    }

    static func leave<Value>(_ lock: Lock<Value>) { note(lock) { $0.holders[$1] = nil } }

    private static func name<Value>(_ lock: Lock<Value>, _ place: Place) -> String {
        let (thread, address) = (String(place.thread, radix: 16), String(place.lock, radix: 16))
        return "thread \(thread): Lock<\(Value.self)> \(address)"
    }

    static func begin() {
        let patience = Schedule.number("PATIENCE") ?? 60
        Thread.detachNewThread {
            if Schedule.number("DEADLOCK") != nil { makeDeadlock() }
            var (last, still) = (UInt64(0), UInt64(0))
            while true {
                sleep(1)
                let points = Schedule.points.load(ordering: .relaxed)
                (last, still) = (points, points == last ? still + 1 : 0)
                pthread_mutex_lock(mutex)
                let isLate = state.waiters.values.contains {
                    -$0.since.timeIntervalSinceNow > Double(patience)
                }
                if isLate || still > patience { end() }
                pthread_mutex_unlock(mutex)
            }
        }
    }

    private static func end() -> Never {
        var text = "✘ deadlock: a thread waits for a lock, or none passes one\n"
        for name in state.holders.values { text += "  held by \(name)\n" }
        for waiter in state.waiters.values { text += "  awaited by \(waiter.name)\n" }
        FileHandle.standardError.write(Data(text.utf8))
        abort()
    }

    /// Makes two threads take two locks in opposite orders.
    private static func makeDeadlock() {
        let (a, b) = (Lock(Int8(1)), Lock(Int16(2)))
        for isFirst in [true, false] {
            Thread.detachNewThread {
                if isFirst {
                    a.withLock { _ in
                        sleep(1)
                        b.withLock { _ in }
                    }
                } else {
                    b.withLock { _ in
                        sleep(1)
                        a.withLock { _ in }
                    }
                }
            }
        }
    }
}

private func newMutex() -> UnsafeMutablePointer<pthread_mutex_t> {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    return mutex
}

/// A lock around a value, with a pause before and after.
final class Lock<Value>: @unchecked Sendable {
    private let mutex = newMutex()
    @exclusivity(unchecked) private var value: Value

    init(_ value: sending Value) { self.value = value }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        Schedule.point()
        Watchdog.wait(self)
        pthread_mutex_lock(mutex)
        Watchdog.hold(self)
        defer {
            Watchdog.leave(self)
            pthread_mutex_unlock(mutex)
            Schedule.point()
        }
        return try body(&value)
    }
}

/// An atomic value, with a pause before each operation. All operations come one after the other.
struct ScheduledAtomic<Value>: ~Copyable, @unchecked Sendable {
    private let cell: UnsafeMutablePointer<Value>

    init(_ value: Value) {
        cell = .allocate(capacity: 1)
        cell.initialize(to: value)
    }

    deinit { cell.deallocate() }

    private func locked<Result>(_ body: (inout Value) -> Result) -> Result {
        Schedule.point()
        pthread_mutex_lock(atomicMutex)
        defer { pthread_mutex_unlock(atomicMutex) }
        return body(&cell.pointee)
    }

    func load(ordering: AtomicLoadOrdering) -> Value { locked { $0 } }

    func store(_ value: Value, ordering: AtomicStoreOrdering) { locked { $0 = value } }

    func exchange(_ value: Value, ordering: AtomicUpdateOrdering) -> Value {
        locked {
            let old = $0
            $0 = value
            return old
        }
    }

    func compareExchange(expected: Value, desired: Value, ordering: AtomicUpdateOrdering) -> (
        exchanged: Bool, original: Value
    ) where Value: Equatable {
        locked {
            let original = $0
            if original == expected { $0 = desired }
            return (original == expected, original)
        }
    }

    func compareExchange(
        expected: Value, desired: Value, successOrdering: AtomicUpdateOrdering,
        failureOrdering: AtomicLoadOrdering
    ) -> (exchanged: Bool, original: Value) where Value: Equatable {
        compareExchange(expected: expected, desired: desired, ordering: successOrdering)
    }
}

extension ScheduledAtomic where Value: Equatable {
    /// Fails now and then, as the processor's may.
    func weakCompareExchange(
        expected: Value, desired: Value, successOrdering: AtomicUpdateOrdering,
        failureOrdering: AtomicLoadOrdering
    ) -> (exchanged: Bool, original: Value) {
        if Schedule.failsWeakly { return (false, load(ordering: failureOrdering)) }
        return compareExchange(expected: expected, desired: desired, ordering: successOrdering)
    }

    func weakCompareExchange(expected: Value, desired: Value, ordering: AtomicUpdateOrdering) -> (
        exchanged: Bool, original: Value
    ) {
        weakCompareExchange(
            expected: expected, desired: desired, successOrdering: ordering, failureOrdering: .relaxed)
    }
}

extension ScheduledAtomic where Value: FixedWidthInteger {
    typealias Change = (oldValue: Value, newValue: Value)

    private func change(_ body: (Value) -> Value) -> Change {
        locked {
            let old = $0
            $0 = body(old)
            return (old, $0)
        }
    }

    @discardableResult
    func add(_ value: Value, ordering: AtomicUpdateOrdering) -> Change { change { $0 + value } }

    @discardableResult
    func subtract(_ value: Value, ordering: AtomicUpdateOrdering) -> Change { change { $0 - value } }

    @discardableResult
    func wrappingAdd(_ value: Value, ordering: AtomicUpdateOrdering) -> Change { change { $0 &+ value } }

    @discardableResult
    func wrappingSubtract(_ value: Value, ordering: AtomicUpdateOrdering) -> Change {
        change { $0 &- value }
    }

    @discardableResult
    func bitwiseOr(_ value: Value, ordering: AtomicUpdateOrdering) -> Change { change { $0 | value } }
}

nonisolated(unsafe) private let atomicMutex = newMutex()

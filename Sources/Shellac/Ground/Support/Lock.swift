// A lock around a value, on pthread_mutex because the thread sanitizer supports it.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A small lock around a value.
///
/// It is the system's own mutex, and not `Synchronization.Mutex`, because the thread sanitizer sees the
/// former: with the latter it would report every correct access as a race.
final class Lock<Value>: @unchecked Sendable {  // `value` is touched under `mutex` alone
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @exclusivity(unchecked) private var value: Value

    init(_ value: sending Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs a short body while no other thread does. The body must not come back to this lock.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}

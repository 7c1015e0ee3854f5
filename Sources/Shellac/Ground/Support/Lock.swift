// A lock around a value, on pthread_mutex because the thread sanitizer supports it.

import CSQLite

/// A small lock around a value.
///
/// It uses the system's own mutex rather than `Synchronization.Mutex`, because the thread sanitizer
/// supports only the former. With the latter, it would report every correct access as a race.
final class Lock<Value>: @unchecked Sendable {  // only accesses `value` under `mutex`
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

    /// Runs a short function while holding the lock. The function must not use this lock itself.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }
}

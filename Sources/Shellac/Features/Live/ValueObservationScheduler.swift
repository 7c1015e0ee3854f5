// Schedulers of value observations: task, main actor, immediate, dispatch queue.

import CSQLite
public import Dispatch

/// Says where the functions of an observation are called.
public protocol ValueObservationScheduler: Sendable {
    /// Whether the first value is fetched, and handed over, before the start returns.
    func immediateInitialValue() -> Bool

    /// Calls a function, now or later.
    ///
    /// - Parameter action: The function, which is to be called once. The observation asks for nothing more before it has returned.
    func schedule(_ action: @escaping @Sendable () -> Void)
}

/// Says that the functions of an observation are called on the main actor.
public protocol ValueObservationMainActorScheduler: ValueObservationScheduler {}

extension ValueObservationScheduler {
    public func immediateInitialValue() -> Bool { false }
}

/// Calls the functions of an observation in a task, on no actor.
public struct TaskValueObservationScheduler: ValueObservationScheduler {
    @_documentation(visibility: internal)
    public func schedule(_ action: @escaping @Sendable () -> Void) { Task { action() } }
}

/// Calls the functions of an observation on the main actor, later.
public struct DelayedMainActorValueObservationScheduler: ValueObservationMainActorScheduler {
    @_documentation(visibility: internal)
    public func schedule(_ action: @escaping @Sendable () -> Void) { Task { @MainActor in action() } }
}

/// Calls the functions of an observation on the main actor, and the first time before the start returns.
public struct ImmediateValueObservationScheduler: ValueObservationMainActorScheduler {
    @_documentation(visibility: internal)
    public func immediateInitialValue() -> Bool {
        guard MainActor.isCurrent else {
            Misuse.trap(
                "an observation was started with .immediate on another thread than the main one, where its first value "
                    + "is to arrive before the start returns. Start it on the main actor, or schedule it by .mainActor, "
                    + ".task or .async(onQueue:).")
        }
        return true
    }

    @_documentation(visibility: internal)
    public func schedule(_ action: @escaping @Sendable () -> Void) { Task { @MainActor in action() } }
}

/// Calls the functions of an observation on a dispatch queue.
public struct AsyncValueObservationScheduler: ValueObservationScheduler {
    let queue: DispatchQueue

    @_documentation(visibility: internal)
    public func schedule(_ action: @escaping @Sendable () -> Void) { queue.async(execute: action) }
}

extension MainActor {
    /// Marks the main queue.
    private static let mark = {
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        return mark
    }()

    /// Whether this is the main thread, or the main queue: on Linux, its functions are run by other threads as soon as the
    /// program has waited for the first time.
    static var isCurrent: Bool {
        shellac_is_main_thread() != 0 || DispatchQueue.getSpecific(key: mark) == true
    }
}

extension ValueObservationScheduler where Self == TaskValueObservationScheduler {
    /// In a task, on no actor.
    public static var task: Self { TaskValueObservationScheduler() }
}

extension ValueObservationScheduler where Self == DelayedMainActorValueObservationScheduler {
    /// On the main actor, later: also the first value.
    public static var mainActor: Self { DelayedMainActorValueObservationScheduler() }
}

extension ValueObservationScheduler where Self == ImmediateValueObservationScheduler {
    /// On the main actor: and the first value before the start returns, which must be called on the main thread, and waits
    /// for the access. Elsewhere it stops the program, with a sentence.
    public static var immediate: Self { ImmediateValueObservationScheduler() }
}

extension ValueObservationScheduler where Self == AsyncValueObservationScheduler {
    /// On a dispatch queue.
    ///
    /// - Parameter queue: The queue. One that is concurrent does not put the values out of order.
    public static func async(onQueue queue: DispatchQueue) -> Self {
        AsyncValueObservationScheduler(queue: queue)
    }
}

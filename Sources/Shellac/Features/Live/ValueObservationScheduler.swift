// Schedulers of value observations: task, main actor, immediate, dispatch queue.

import CSQLite
public import Dispatch

/// A scheduler of an observation's functions.
public protocol ValueObservationScheduler: Sendable {
    /// Returns whether the first value must be fetched and delivered before the start returns.
    func immediateInitialValue() -> Bool

    /// Calls a function, now or later.
    ///
    /// - Parameter action: The function, to call once. The observation schedules the next one only
    ///   after it has returned.
    func schedule(_ action: @escaping @Sendable () -> Void)
}

/// A scheduler that calls the functions of an observation on the main actor.
public protocol ValueObservationMainActorScheduler: ValueObservationScheduler {}

extension ValueObservationScheduler {
    public func immediateInitialValue() -> Bool { false }
}

/// A scheduler that calls the functions of an observation in a task, on no actor.
public struct TaskValueObservationScheduler: ValueObservationScheduler {
    @_documentation(visibility: internal)
    public func schedule(_ action: @escaping @Sendable () -> Void) { Task { action() } }
}

/// A scheduler that calls the functions of an observation on the main actor, later.
public struct DelayedMainActorValueObservationScheduler: ValueObservationMainActorScheduler {
    @_documentation(visibility: internal)
    public func schedule(_ action: @escaping @Sendable () -> Void) { Task { @MainActor in action() } }
}

/// A scheduler that calls the functions of an observation on the main actor, the first time before
/// the start returns.
public struct ImmediateValueObservationScheduler: ValueObservationMainActorScheduler {
    @_documentation(visibility: internal)
    public func immediateInitialValue() -> Bool {
        guard MainActor.isCurrent else {
            Misuse.trap(
                "an observation was started with .immediate outside of the main thread, but its first "
                    + "value must arrive there before the start returns. Start it on the main actor, or "
                    + "schedule it with .mainActor, .task or .async(onQueue:).")
        }
        return true
    }

    @_documentation(visibility: internal)
    public func schedule(_ action: @escaping @Sendable () -> Void) { Task { @MainActor in action() } }
}

/// A scheduler that calls the functions of an observation on a dispatch queue.
public struct AsyncValueObservationScheduler: ValueObservationScheduler {
    let queue: DispatchQueue

    @_documentation(visibility: internal)
    public func schedule(_ action: @escaping @Sendable () -> Void) { queue.async(execute: action) }
}

extension MainActor {
    /// The mark of the main queue.
    private static let mark = {
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        return mark
    }()

    /// Whether this is the main thread or the main queue. On Linux, other threads run the main
    /// queue's functions as soon as the program has waited for the first time.
    static var isCurrent: Bool {
        shellac_is_main_thread() != 0 || DispatchQueue.getSpecific(key: mark) == true
    }
}

extension ValueObservationScheduler where Self == TaskValueObservationScheduler {
    /// Calls in a task, on no actor.
    public static var task: Self { TaskValueObservationScheduler() }
}

extension ValueObservationScheduler where Self == DelayedMainActorValueObservationScheduler {
    /// Calls on the main actor, later, even for the first value.
    public static var mainActor: Self { DelayedMainActorValueObservationScheduler() }
}

extension ValueObservationScheduler where Self == ImmediateValueObservationScheduler {
    /// Calls on the main actor, and delivers the first value before the start returns. The start
    /// must be called on the main thread, and waits for the access. Elsewhere it traps with a
    /// message.
    public static var immediate: Self { ImmediateValueObservationScheduler() }
}

extension ValueObservationScheduler where Self == AsyncValueObservationScheduler {
    /// Returns a scheduler that calls on a dispatch queue.
    ///
    /// - Parameter queue: The queue. Even a concurrent one delivers the values in order.
    public static func async(onQueue queue: DispatchQueue) -> Self {
        AsyncValueObservationScheduler(queue: queue)
    }
}

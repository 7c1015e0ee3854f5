/// A gate that lets a few queries at a time wait for their turn with the accesses.
///
/// A commit may wake thousands of queries. If all of them entered the line at once, the next
/// access, such as a write, would wait until all of them have fetched.
final class FetchGate: Sendable {
    private struct Waiter: LeavingWaiter {
        let continuation: CheckedContinuation<Void, Never>
        /// A cancelled query enters, and leaves at once.
        var hasLeft: Bool { false }
    }
    private struct State {
        var freePlaces: Int
        var waiting = WaitingLine<Waiter>()
    }
    private let state: Lock<State>

    init(placeCount: Int) { state = Lock(State(freePlaces: placeCount)) }

    /// Waits for a place.
    func enter() async {
        await withCheckedContinuation { continuation in
            let isIn = state.withLock { state in
                if state.freePlaces > 0 {
                    state.freePlaces -= 1
                    return true
                }
                state.waiting.append(Waiter(continuation: continuation))
                return false
            }
            if isIn { continuation.resume() }
        }
    }

    /// Gives the place to the first waiter.
    func leave() {
        let next = state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.freePlaces += 1 }
            return next
        }
        next?.continuation.resume()
    }
}

/// A waiter in a line, which may leave before its turn.
protocol LeavingWaiter {
    /// Whether it has left. It never becomes false again.
    var hasLeft: Bool { get }
}

/// The waiters in line, in the order of their arrival.
///
/// A waiter that leaves is only counted, and keeps its place in the array. To find it would take
/// time in proportion to the line, for each of those that leave at the same time. The line skips it
/// when its turn has come. When more than half of the places belong to waiters that have left, the
/// others move up. So the line wastes at most as much memory and time again.
struct WaitingLine<Waiter: LeavingWaiter> {
    /// The places before `head` are empty.
    private var places: [Waiter?] = []
    private var head = 0
    /// The number of waiters in the other places that have left.
    private var leftCount = 0
    #if DEBUG
    /// The number of times that a place was inspected, or has moved: for tests.
    private(set) var moveCount = 0
    #endif

    /// The number of waiters.
    var count: Int { places.count - head - leftCount }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ waiter: Waiter) { places.append(waiter) }

    /// Takes the first waiter that has not left.
    mutating func popFirst() -> Waiter? {
        while head < places.count {
            let first = places[head]
            places[head] = nil
            head += 1
            noteMoves(1)
            if head == places.count || head >= 64 && head * 2 >= places.count {
                noteMoves(places.count - head)
                places.removeFirst(head)
                head = 0
            }
            guard let first, first.hasLeft else { return first }
            leftCount -= 1
        }
        return nil
    }

    /// Notes that one of the waiters has left.
    mutating func noteLeaving() {
        leftCount += 1
        guard isEmpty || leftCount >= 64 && leftCount * 2 >= places.count - head else { return }
        noteMoves(places.count)
        places.removeAll { $0?.hasLeft ?? true }
        (head, leftCount) = (0, 0)
    }

    private mutating func noteMoves(_ count: Int) {
        #if DEBUG
        moveCount += count
        #endif
    }
}

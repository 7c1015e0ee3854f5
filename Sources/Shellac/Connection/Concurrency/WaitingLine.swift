/// Somebody in a line, who may leave it before their turn.
protocol LeavingWaiter {
    /// Whether they have left. It never becomes false again.
    var hasLeft: Bool { get }
}

/// Those in line, in the order of their arrival.
///
/// Who leaves says so, and keeps their place in the memory: to find it would take as long as the line is, for each of
/// those who leave at the same time. It is passed over when its turn has come. When more than half of the places belong
/// to those who have left, the others move up, so that neither memory nor time is lost on more than as many again.
struct WaitingLine<Waiter: LeavingWaiter> {
    /// The places before `head` are empty.
    private var places: [Waiter?] = []
    private var head = 0
    /// How many of the others have left.
    private var leftCount = 0
    #if DEBUG
    /// How often a place was looked at, or has moved: for tests.
    private(set) var moveCount = 0
    #endif

    /// How many wait.
    var count: Int { places.count - head - leftCount }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ waiter: Waiter) { places.append(waiter) }

    /// Takes the first of those who wait.
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

    /// Notes that one of those who waited has left.
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

/// A map from integer keys to numbers. It finds the record of a row by the row's key.
///
/// Most keys lie close together. These are found by their distance from the lowest one. A
/// dictionary would take as long to hash each key as SQLite takes to find its row.
struct IntegerNumbers {
    /// The numbers of integers that lie close together, from `low` on. -1 means that an integer has
    /// no number.
    private var near: [Int32] = []
    private var low: Int64 = 0
    private var nearCount = 0
    /// The numbers of the other integers.
    private var far: [Int64: Int32] = [:]

    /// The capacity for integers that lie close together.
    var room: Int { near.count }

    /// Returns the number of an integer, or nil if it has none.
    @inline(__always)
    func number(of integer: Int64) -> Int32? {
        let distance = UInt64(bitPattern: integer &- low)
        if distance < UInt64(near.count) {
            let number = near[Int(truncatingIfNeeded: distance)]
            if number >= 0 { return number }
        }
        return far.isEmpty ? nil : far[integer]
    }

    /// Assigns a number, which is not negative, to an integer that has none.
    mutating func add(_ integer: Int64, as number: Int32) {
        guard reach(integer) else {
            far[integer] = number
            return
        }
        near[Int(integer &- low)] = number
        nearCount += 1
    }

    /// Makes room for an integer among those that lie close together. Returns false if it is too
    /// far from them. The room may be a small multiple of the numbers in use.
    private mutating func reach(_ integer: Int64) -> Bool {
        if near.isEmpty { (low, near) = (integer, [-1]) }
        let most = UInt64(4 * nearCount + 256)
        if integer >= low {
            let distance = UInt64(bitPattern: integer &- low)
            guard distance < most else { return false }
            near.append(contentsOf: repeatElement(-1, count: max(0, Int(distance) + 1 - near.count)))
            return true
        }
        let distance = UInt64(bitPattern: low &- integer)
        guard distance < most, distance + UInt64(near.count) < most else { return false }
        // Integers in descending order will probably continue, so make room for as many as there
        // are.
        let room = max(Int(distance), near.count)
        let (lower, isOverflow) = low.subtractingReportingOverflow(Int64(room))
        guard !isOverflow else { return false }
        near.insert(contentsOf: repeatElement(-1, count: room), at: 0)
        low = lower
        return true
    }
}

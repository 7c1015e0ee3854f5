import Foundation

/// A number that depends on the values that were read, and on their order (FNV-1a, by words and
/// bytes).
struct Checksum {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    private mutating func add(bits: UInt64) {
        value = (value ^ bits) &* 0x100_0000_01b3
        value ^= value >> 29
    }

    mutating func add(_ number: some FixedWidthInteger) { add(bits: UInt64(truncatingIfNeeded: number)) }

    mutating func add(_ number: Double) { add(bits: number.bitPattern) }

    mutating func add(_ text: String?) {
        guard let text else { return add(bits: 77) }
        for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }

    /// Adds an instant, to the millisecond.
    mutating func add(_ date: Date) { add(Int64((date.timeIntervalSince1970 * 1000).rounded())) }
}

/// A record whose values a checksum can add.
protocol Summable {
    func add(to checksum: inout Checksum)
}

extension Sequence where Element: Summable {
    /// The checksum of all elements.
    var checksum: UInt64 { checksum { $0.add(to: &$1) } }
}

extension Sequence {
    /// The checksum of all elements.
    func checksum(_ add: (Element, inout Checksum) throws -> Void) rethrows -> UInt64 {
        var checksum = Checksum()
        for element in self { try add(element, &checksum) }
        return checksum.value
    }
}

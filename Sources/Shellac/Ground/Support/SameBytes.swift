// Fast equality of byte arrays and byte buffers, by memcmp.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

extension [UInt8] {
    /// Whether these are the same bytes.
    @inline(__always)
    func hasSameBytes(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        withUnsafeBufferPointer { $0.hasSameBytes(as: other) }
    }

    /// Whether two arrays are the same. (`==` compares one byte after the other.)
    func hasSameBytes(as other: [UInt8]) -> Bool {
        other.withUnsafeBufferPointer { hasSameBytes(as: $0) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether two buffers hold the same bytes.
    @inline(__always)
    func hasSameBytes(as other: Self) -> Bool {
        guard count == other.count else { return false }
        guard let first = baseAddress, let second = other.baseAddress else { return true }
        return memcmp(first, second, count) == 0
    }
}

// Fast equality of byte arrays and byte buffers, by memcmp.

import CSQLite

extension [UInt8] {
    /// Whether the array and the buffer hold the same bytes.
    @inline(__always)
    func hasSameBytes(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        withUnsafeBufferPointer { $0.hasSameBytes(as: other) }
    }

    /// Whether two arrays hold the same bytes. (`==` compares byte by byte, which is slower.)
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

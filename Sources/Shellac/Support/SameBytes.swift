#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

extension [UInt8] {
    /// Whether these are the same bytes.
    @inline(__always)
    func hasSameBytes(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { bytes in
            guard let first = bytes.baseAddress, let second = other.baseAddress else { return true }
            return memcmp(first, second, bytes.count) == 0
        }
    }

    /// Whether two arrays are the same. (`==` compares one byte after the other.)
    func hasSameBytes(as other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { bytes in
            other.withUnsafeBytes { others in
                guard let first = bytes.baseAddress, let second = others.baseAddress else { return true }
                return memcmp(first, second, bytes.count) == 0
            }
        }
    }
}

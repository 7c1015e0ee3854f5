// A growable malloc buffer, reused for packing columns.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Memory to pack columns in, which is used again and grows. It is of `malloc`, and whoever made it frees it: it is handed to
/// what fills it, and taken back, perhaps elsewhere.
struct PackedBuffer {
    private(set) var start: UnsafeMutableRawPointer
    private(set) var capacity: Int

    init(capacity: Int) {
        guard let memory = malloc(capacity) else { Misuse.trap("there is no memory left") }
        (start, self.capacity) = (memory, capacity)
    }

    func deallocate() { free(start) }

    /// Columns that were packed.
    func bytes(from offset: Int = 0, count: Int, byteCount: Int) -> PackedBytes {
        PackedBytes(start: start + offset, count: count, byteCount: byteCount)
    }

    /// Copies columns that were packed elsewhere. There must be room.
    func copy(_ bytes: PackedBytes, to offset: Int = 0) {
        (start + offset).copyMemory(from: bytes.start, byteCount: bytes.byteCount)
    }

    /// Takes more memory, for a number of bytes at least, and keeps what was written.
    @inline(never)
    mutating func grow(to needed: Int) {
        capacity = max(capacity * 2, needed)
        guard let larger = realloc(start, capacity) else { Misuse.trap("there is no memory left") }
        start = larger
    }

    /// Takes other memory in the place of this one, whose bytes are not wanted any more.
    @inline(never)
    mutating func replace(capacity: Int) {
        deallocate()
        self = PackedBuffer(capacity: capacity)
    }
}

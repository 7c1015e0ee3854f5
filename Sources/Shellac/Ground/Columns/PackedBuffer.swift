// A growable malloc buffer, reused for packing columns.

import CSQLite

/// A growable buffer for packing columns, which is reused. Its memory comes from `malloc`, and its
/// creator must free it. A packer takes the buffer and gives it back, perhaps at another address.
struct PackedBuffer {
    private(set) var start: UnsafeMutableRawPointer
    private(set) var capacity: Int

    init(capacity: Int) {
        guard let memory = malloc(capacity) else { Misuse.trap("there is no memory left") }
        (start, self.capacity) = (memory, capacity)
    }

    func deallocate() { free(start) }

    /// Returns columns that were packed into this buffer.
    func bytes(from offset: Int = 0, count: Int, byteCount: Int) -> PackedBytes {
        PackedBytes(start: start + offset, count: count, byteCount: byteCount)
    }

    /// Copies columns that were packed elsewhere. The buffer must have room.
    func copy(_ bytes: PackedBytes, to offset: Int = 0) {
        (start + offset).copyMemory(from: bytes.start, byteCount: bytes.byteCount)
    }

    /// Grows the buffer to at least the given number of bytes, and keeps its content.
    @inline(never)
    mutating func grow(to needed: Int) {
        capacity = max(capacity * 2, needed)
        guard let larger = realloc(start, capacity) else { Misuse.trap("there is no memory left") }
        start = larger
    }

    /// Replaces the memory without keeping its content.
    @inline(never)
    mutating func replace(capacity: Int) {
        deallocate()
        self = PackedBuffer(capacity: capacity)
    }
}

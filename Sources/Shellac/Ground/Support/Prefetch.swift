// Prefetches memory into the processor's caches, 64 bytes at a time.

import CSQLite

/// Asks the processor for memory that is to be read or written soon. Among many objects, most are not in its caches: to
/// wait for one piece after the other takes longer than all the work.
func prefetch(_ address: UnsafeRawPointer, byteCount: Int) {
    var offset = 0
    while offset < byteCount {
        shellac_prefetch(address + offset)
        offset &+= 64
    }
}

// Prefetches memory into the processor's caches, 64 bytes at a time.

import CSQLite

/// Asks the processor to load memory that the caller will soon read or write.
///
/// Among many objects, most are not in the processor's caches. Waiting for one piece after the
/// other takes longer than all the work.
func prefetch(_ address: UnsafeRawPointer, byteCount: Int) {
    var offset = 0
    while offset < byteCount {
        shellac_prefetch(address + offset)
        offset &+= 64
    }
}

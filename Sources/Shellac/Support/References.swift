import CSQLite

// Following a reference counts it, and a count is an atomic instruction, which takes longer than most of what is done
// with the object. Where that is done for each row, an object that somebody else keeps alive is followed without.

extension Unmanaged {
    /// Runs a function with the object, which somebody else keeps alive until the function has returned.
    @inline(__always)
    func use<Result>(_ body: (Instance) throws -> Result) rethrows -> Result {
        try _withUnsafeGuaranteedRef(body)
    }
}

/// Asks the processor for memory that is to be read or written soon. Among many objects, most are not in its caches: to
/// wait for one piece after the other takes longer than all the work.
@inline(__always)
func prefetch(_ address: UnsafeRawPointer, byteCount: Int) {
    var offset = 0
    while offset < byteCount {
        shellac_prefetch(address + offset)
        offset &+= 64
    }
}

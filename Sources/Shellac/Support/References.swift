// Following a reference counts it, and a count is an atomic instruction, which takes longer than most of what is done
// with the object. Where records are saved, an object that somebody else keeps alive is followed without.

extension Unmanaged {
    /// Runs a function with the object, which somebody else keeps alive until the function has returned.
    @inline(__always)
    func use<Result>(_ body: (Instance) throws -> Result) rethrows -> Result {
        try _withUnsafeGuaranteedRef(body)
    }
}

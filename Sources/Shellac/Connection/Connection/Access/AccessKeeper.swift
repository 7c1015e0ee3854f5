/// A cache for the duration of one access, in a slot of the connection.
protocol AccessKeeper: AnyObject {
    /// Empties the cache, because the access ends.
    func releaseKept()
}

extension Database {
    /// Empties all caches for the access. Freeing their contents may call this method again.
    @inline(never)
    func releaseKept() {
        isKeptForAccess = false
        for number in Slots.numbers { (slots.object(at: number) as? any AccessKeeper)?.releaseKept() }
    }
}

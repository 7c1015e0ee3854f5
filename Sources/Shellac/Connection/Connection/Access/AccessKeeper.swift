/// A keeper of what is good for one access, in a slot of the connection.
protocol AccessKeeper: AnyObject {
    /// Lets go of what was kept: the access ends.
    func releaseKept()
}

extension Database {
    /// Lets go of all that was kept for the access. What is freed may come back here.
    @inline(never)
    func releaseKept() {
        isKeptForAccess = false
        for number in Slots.numbers { (slots.object(at: number) as? any AccessKeeper)?.releaseKept() }
    }
}

// One statement may give several rows at once: those of a record, and of others that were joined, or what tells whose they
// are. Each is a row of its own over some of the columns, which is read, packed and remembered as any other.

extension LiveRow {
    /// Makes a row of some of the columns of this one, which a statement gives. It ends when this one's run does.
    ///
    /// Tell it each time that the statement stands on another row: see `moveOn()`.
    func makeWindow(_ columns: Range<Int>) -> LiveRow {
        let window = Self.take()
        window.storage.pointee.statement = storage.pointee.statement
        window.storage.pointee.sql = storage.pointee.sql
        window.storage.pointee.connection = storage.pointee.connection
        window.storage.pointee.firstColumn = storage.pointee.firstColumn + columns.lowerBound
        window.storage.pointee.width = columns.count
        storage.pointee.windows.append(window)
        return window
    }

    /// Gives the rows of some of the columns back: nobody reads them any more.
    @inline(never)
    func closeWindows() {
        let windows = storage.pointee.windows
        storage.pointee.windows = []
        for window in windows { window.recycle() }
    }
}

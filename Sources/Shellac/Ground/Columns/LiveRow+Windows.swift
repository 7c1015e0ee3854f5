// Windows on a row, for a statement that returns several rows at once.
//
// These are the row of a record, and those of joined tables or of the columns that identify their
// row. Each window is a row over some of the columns. It is read, packed and remembered as any
// other row.

extension LiveRow {
    /// Creates a row over some of the columns of this row. It ends together with the run of this
    /// one.
    ///
    /// Call `moveOn()` on it each time the statement moves to another row.
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

    /// Recycles the windows, which are no longer read.
    @inline(never)
    func closeWindows() {
        let windows = storage.pointee.windows
        storage.pointee.windows = []
        for window in windows { window.recycle() }
    }
}

// Live requests: an async sequence of a request's elements, with a new array on each change.

extension DatabaseWriter {
    /// Returns the elements of a request, as a sequence of arrays: the first one, and another one whenever they have changed.
    ///
    /// ```swift
    /// for try await players in dbQueue.values(of: Player.order(Column("score").desc).limit(10)) {
    ///     print("the best: \(players.map(\.name))")
    /// }
    /// ```
    ///
    /// This does less than an observation of a function. Rows that are the same as before wake nobody. Requests of equal SQL
    /// and arguments are fetched once for all their readers, each of whom has objects of its own: also if they are class
    /// records, which may be changed freely. And of a request on one table, rows that satisfy its condition neither before
    /// nor after a change are not fetched for.
    ///
    /// A request that loads relations is fetched for each reader. The rows of all its statements are compared: where they are the
    /// same as before, nobody is woken either.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - bufferingPolicy: What happens to arrays that the loop has not taken when newer ones come. By default, the newest
    ///     one waits.
    public func values<Request: FetchRequest>(
        of request: Request, bufferingPolicy: ValueBufferingPolicy = .bufferingNewest(1)
    ) -> DatabaseValues<[Request.RowDecoder]> where Request.RowDecoder: DatabaseFetchable {
        DatabaseValues(policy: bufferingPolicy) { [weak self] mailbox, settings in
            guard let self else {
                mailbox.finish()
                return AnyDatabaseCancellable {}
            }
            let reader = ElementsReader(request, to: mailbox)
            return reader.start(with: LiveRows(reader, in: self, settings), to: mailbox)
        }
    }
}

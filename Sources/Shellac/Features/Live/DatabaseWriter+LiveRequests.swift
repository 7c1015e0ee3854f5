// Live requests: an async sequence of a request's elements, with a new array on each change.

extension DatabaseWriter {
    /// Returns the elements of a request as a sequence of arrays: the present array first, and then
    /// a new one for each change.
    ///
    /// ```swift
    /// for try await players in dbQueue.values(of: Player.order(Column("score").desc).limit(10)) {
    ///     print("the best: \(players.map(\.name))")
    /// }
    /// ```
    ///
    /// This does less work than an observation of a function. Unchanged rows deliver no new array.
    /// Requests with equal SQL and arguments are fetched once for all their readers. Each reader
    /// still gets objects of its own: if they are class records, it may change them freely. For a
    /// request on one table, no fetch happens for rows that satisfy its condition neither before
    /// nor after a change.
    ///
    /// A request that loads relations is fetched for each reader. The rows of all its statements
    /// are compared: if they are unchanged, no new array is delivered either.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - bufferingPolicy: The buffering of arrays that the loop has not taken when newer ones
    ///     come. By default, only the newest one is kept.
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

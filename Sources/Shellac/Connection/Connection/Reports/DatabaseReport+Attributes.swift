// The attributes of a report, named by OpenTelemetry's conventions for databases.

extension DatabaseReport {
    /// A value of an attribute.
    public enum AttributeValue: Sendable, Hashable, CustomStringConvertible {
        /// A text: a name, the SQL of a statement, a result code.
        case string(String)
        /// A number: of rows, of steps, of connections, of a line.
        case int(Int)
        /// A duration, in seconds.
        case double(Double)

        public var description: String {
            switch self {
            case .string(let value): value
            case .int(let value): "\(value)"
            case .double(let value): "\(value)"
            }
        }
    }

    /// The kind of event in one word: `statement`, `access`, `transaction`, `checkpoint` or
    /// `advice`.
    public var name: String {
        switch event {
        case .statement: "statement"
        case .access: "access"
        case .transaction: "transaction"
        case .checkpoint: "checkpoint"
        case .advice: "advice"
        }
    }

    /// All details of the report, with OpenTelemetry's names: see its "Semantic conventions for
    /// database calls and systems". Names without an OpenTelemetry equivalent begin with
    /// `shellac.`. Durations are in seconds.
    ///
    /// ```swift
    /// configuration.reportHandler = { report in
    ///     var metadata: [String: String] = [:]
    ///     for (name, value) in report.attributes { metadata[name] = "\(value)" }
    ///     log(report.name, metadata)
    /// }
    /// ```
    public var attributes: [String: AttributeValue] {
        var attributes: [String: AttributeValue] = [
            "db.system.name": .string("sqlite"), "db.namespace": .string(database),
            "db.client.connection.pool.name": .string(connection),
        ]
        func note(_ code: ResultCode?) {
            guard let code else { return }
            attributes["db.response.status_code"] = .string("\(code.rawValue)")
            attributes["error.type"] = .string("\(code.rawValue)")
        }
        switch event {
        case .statement(let run):
            attributes["db.query.text"] = .string(run.sql)
            if run.isInternal { attributes["shellac.internal"] = .int(1) }
            attributes["db.operation.name"] = .string(run.operation)
            attributes["db.client.operation.duration"] = .double(run.duration.seconds)
            attributes["db.response.returned_rows"] = .int(run.rowCount)
            attributes["shellac.changed_rows"] = .int(run.changedRowCount)
            attributes["shellac.full_scan_steps"] = .int(run.fullScanSteps)
            attributes["shellac.sorts"] = .int(run.sortCount)
            attributes["shellac.automatic_index_rows"] = .int(run.automaticIndexRows)
            note(run.resultCode)
        case .access(let access):
            attributes["db.operation.name"] = .string(access.site.operation.rawValue)
            attributes["code.file.path"] = .string("\(access.site.fileID)")
            attributes["code.line.number"] = .int(Int(access.site.line))
            attributes["db.client.connection.wait_time"] = .double(access.waited.seconds)
            attributes["db.client.connection.use_time"] = .double(access.ran.seconds)
            attributes["db.client.connection.count"] = .int(access.occupancy.used)
            attributes["db.client.connection.max"] = .int(access.occupancy.maximum)
            attributes["db.client.connection.pending_requests"] = .int(access.occupancy.waiting)
            attributes["error.type"] = access.errorType.map { .string($0) }
        case .transaction(let transaction):
            attributes["db.operation.name"] = .string(
                transaction.completion == .commit ? "COMMIT" : "ROLLBACK")
            attributes["db.client.operation.duration"] = .double(transaction.duration.seconds)
            attributes["shellac.transaction.ending"] = .double(transaction.ending.seconds)
            attributes["shellac.changed_rows"] = .int(transaction.changedRowCount)
            note(transaction.resultCode)
        case .checkpoint(let checkpoint):
            attributes["db.operation.name"] = .string("\(checkpoint.mode)")
            attributes["db.client.operation.duration"] = .double(checkpoint.duration.seconds)
            attributes["shellac.wal.frames"] = .int(checkpoint.walFrameCount)
            attributes["shellac.wal.copied_frames"] = .int(checkpoint.checkpointedFrameCount)
            note(checkpoint.resultCode)
        case .advice(let advice):
            attributes["db.query.text"] = .string(advice.sql)
            attributes["shellac.full_scan_steps"] = .int(advice.rowsRead)
            attributes["shellac.advice"] = .string(advice.indexes.joined(separator: "; "))
        }
        return attributes
    }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}

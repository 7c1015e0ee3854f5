// Copies a record that stays with its owner, and applies the outcome of its copy's operation.

extension Record {
    /// Returns a copy of the record, which has encoded the given values.
    func copy(of sent: PackedRow) throws -> sending Self {
        func refusal(_ reason: String) -> RecordError {
            .notCopied(
                recordType: "\(type(of: self))",
                reason:
                    "\(reason). It is saved by a copy: have \(type(of: self)) list its columns in columns(_:), or read all "
                    + "that it encodes in updateFromRow(_:) or init(row:), or override copy()")
        }
        // The copy is sent, and shares only values with the record.
        nonisolated(unsafe) let copy: Self
        do { copy = try self.copy() } catch { throw refusal("copy() threw \(error)") }
        // An overriding method may have made it without `super`.
        copy.becomeCopy(of: self)
        let copied = try copy.encoded()
        let lost = copied.columns(notIn: sent)
        // A column that never encodes the same value twice is not lost.
        let again = lost.isEmpty ? sent : try encoded().row()
        let names = lost.filter { name in
            guard let column = sent.layout.column(named: name), let other = again.layout.column(named: name)
            else { return true }
            return sent.databaseValue(at: column) == again.databaseValue(at: other)
        }
        if !names.isEmpty {
            throw refusal("its copy encodes other values in \(names.joined(separator: ", "))")
        }
        return copy
    }

    /// Whether the record has merged a row, and was not saved, since it remembered another row.
    private func hasMerged(_ row: PackedRow, since remembered: PackedRow?) -> Bool {
        guard case .merge(_, let saved) = row.memory else { return false }
        return saved === remembered.flatMap { Self.lastSave(of: $0)?.after }
    }

    /// Applies the outcome of a copy's save, except for values that were changed in this record
    /// meanwhile.
    ///
    /// - Parameters:
    ///   - sent: The values that it had encoded when the copy was made.
    ///   - remembered: The row that it remembered then.
    /// - Throws: a ``RecordError/rowNotTaken(recordType:reason:)``.
    func takeSaved(_ copy: Record, _ sent: PackedRow, _ remembered: PackedRow?) throws(RecordError) {
        if snapshot === remembered {
            snapshot = copy.snapshot.map { $0.copy($0.layout, previous: takePreviousState(moment: 0)) }
        } else if let newer = snapshot, newer.count > 0, hasMerged(newer, since: remembered) {
            // It has taken a row meanwhile, of this save or of another state. Either the database
            // holds that row, or a newer row is about to come.
            snapshot = newer.copy(newer.layout, previous: copy.previousSave(moment: 0))
        } else {
            snapshot = .nothing(previous: previousSave(moment: 0))
        }
        do {
            let saved = try copy.encoded()
            let given = saved.layout.names.enumerated().compactMap { column, name in
                let new = saved[column]
                let old = sent.layout.column(named: name).map(sent.databaseValue(at:))
                return old.flatMap { $0 == new ? nil : GivenValue(name: name, old: $0, new: new) }
            }
            if !given.isEmpty { try take(given) }
        } catch {
            throw .rowNotTaken(recordType: "\(type(of: self))", reason: "\(coder) threw \(error)")
        }
    }

    /// Forgets the row that its copy has deleted.
    func takeDeletion() { snapshot = .nothing(previous: previousSave(moment: 0)) }

    /// Takes the row that its copy has read, except for columns that were changed meanwhile.
    ///
    /// - Parameter sent: The values that it had encoded before.
    /// - Throws: a ``RecordError/rowNotTaken(recordType:reason:)``.
    func takeReloaded(_ copy: Record, _ sent: PackedRow) throws(RecordError) {
        guard let fetched = copy.snapshot else { return }
        do {
            let now = try encoded().row()
            var values = fetched.databaseValues
            for (column, name) in fetched.layout.names.enumerated() {
                guard let own = now.layout.column(named: name), let old = sent.layout.column(named: name),
                    now.databaseValue(at: own) != sent.databaseValue(at: old)
                else { continue }
                values[column] = now.databaseValue(at: own)
            }
            try read(Row(.make(fetched.layout, values: values)))
            snapshot = fetched.copy(fetched.layout, previous: previousSave(moment: 0))
        } catch {
            throw .rowNotTaken(recordType: "\(type(of: self))", reason: "\(coder) threw \(error)")
        }
    }
}

extension PackedColumns {
    /// Returns the names of columns whose values in a row differ here, or are missing here.
    fileprivate func columns(notIn row: PackedRow) -> [String] {
        row.layout.names.enumerated().compactMap { column, name in
            guard let own = layout.column(named: name) else { return name }
            return GivenValue.isEncoded(self[own], as: row.databaseValue(at: column), nil) ? nil : name
        }
    }
}

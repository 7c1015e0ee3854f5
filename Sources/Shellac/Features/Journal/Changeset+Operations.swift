// Inverts and concatenates changesets, and describes them as text.

extension Changeset {
    /// Returns the changeset that undoes this one.
    ///
    /// Insertions become deletions, deletions become insertions, and updates go back. The changes
    /// come in the reverse order.
    public func inverted() -> Changeset {
        var places: [(heading: ChangesetReader.Heading, place: ChangesetReader.Place)] = []
        forEachPlace { _, heading, place in places.append((heading, place)) }
        return data.withUnsafeBytes { bytes in
            var output = ChangesetBytes()
            var last: ChangesetReader.Heading?
            for (heading, place) in places.reversed() {
                if last?.range != heading.range {
                    output.append(UnsafeRawBufferPointer(rebasing: bytes[heading.range]))
                    last = heading
                }
                let (initial, final) = (
                    UnsafeRawBufferPointer(rebasing: bytes[place.initial]),
                    UnsafeRawBufferPointer(rebasing: bytes[place.final])
                )
                switch place.operation {
                case ChangesetFormat.insert: output.append(ChangesetFormat.delete)
                case ChangesetFormat.delete: output.append(ChangesetFormat.insert)
                default: output.append(ChangesetFormat.update)
                }
                output.append(place.isIndirect ? 1 : 0)
                if place.operation == ChangesetFormat.update {
                    Self.invertUpdate(bytes, heading, place, into: &output)
                } else {
                    output.append(initial)
                    output.append(final)
                }
            }
            return Changeset(unchecked: output.bytes)
        }
    }

    /// Exchanges the values of an update, except for the key, which only the old values have.
    private static func invertUpdate(
        _ bytes: UnsafeRawBufferPointer, _ heading: ChangesetReader.Heading,
        _ place: ChangesetReader.Place, into output: inout ChangesetBytes
    ) {
        var (old, new) = (
            ChangesetValues(bytes, from: place.initial.lowerBound),
            ChangesetValues(bytes, from: place.final.lowerBound)
        )
        for column in heading.columns {
            let values = (old: old.next(), new: new.next())
            output.append(bytes[column] != 0 ? values.old : values.new)
        }
        old = ChangesetValues(bytes, from: place.initial.lowerBound)
        for column in heading.columns {
            let value = old.next()
            if bytes[column] != 0 {
                output.append(ChangesetFormat.undefined)
            } else {
                output.append(value)
            }
        }
    }

    /// Returns the changes of this changeset followed by those of another one, joined so that
    /// each row has one at most.
    ///
    /// A row that was inserted here and deleted there has none. SQLite's change groups join
    /// changes in the same way ("sqlite3changegroup_add()" in the SQLite documentation).
    ///
    /// - Parameter later: The changes that follow.
    /// - Throws: ``ChangesetError/differentColumns(table:)`` if a table has other columns or
    ///   another key in one of them.
    public func concatenated(with later: Changeset) throws -> Changeset {
        var all = ChangesetBytes()
        data.withUnsafeBytes { all.append($0) }
        later.data.withUnsafeBytes { all.append($0) }
        var joined = ChangesetBytes()
        try ChangesetJoiner.join(all.bytes, into: &joined)
        return Changeset(unchecked: joined.bytes)
    }
}

// MARK: - Parts

extension Changeset {
    /// Returns the changeset without some of its changes.
    func leavingOut(_ isLeftOut: (Change) -> Bool) -> Changeset { keeping { isLeftOut($0) ? [] : nil } }

    /// Returns a part of the changeset.
    ///
    /// - Parameter columns: Returns the places of the columns of which an update is kept, nil for a
    ///   whole change, or an empty set for none of it.
    func keeping(_ columns: (Change) -> Set<Int>?) -> Changeset {
        var output = ChangesetBytes()
        var last: ChangesetReader.Heading?
        forEachPlace { bytes, heading, place in
            let table = String(decoding: bytes[heading.nameRange], as: UTF8.self)
            let kept = columns(Change(bytes, heading, place, table: table))
            if kept?.isEmpty == true { return }
            if heading != last {
                output.append(UnsafeRawBufferPointer(rebasing: bytes[heading.range]))
                last = heading
            }
            let start = place.initial.lowerBound
            guard let kept else {
                return output.append(
                    UnsafeRawBufferPointer(rebasing: bytes[start - 2..<place.final.upperBound]))
            }
            output.append(UnsafeRawBufferPointer(rebasing: bytes[start - 2..<start]))
            for range in [place.initial, place.final] {
                var values = ChangesetValues(bytes, from: range.lowerBound)
                for column in 0..<heading.columnCount {
                    let value = values.next()
                    if kept.contains(column) || bytes[heading.columns.lowerBound + column] != 0 {
                        output.append(value)
                    } else {
                        output.append(ChangesetFormat.undefined)
                    }
                }
            }
        }
        return Changeset(unchecked: output.bytes)
    }
}

// MARK: - Text

extension Changeset: CustomStringConvertible {
    /// One line for each change, with the values in the order of the columns.
    public var description: String { map(\.description).joined(separator: "\n") }

    /// Returns a text with one line for each change, with the names of the columns.
    ///
    /// ```swift
    /// print(try changeset.described(db))
    /// // update player 1: score 0 → 10
    /// ```
    ///
    /// - Parameter db: A connection to a database that has the tables. If one is missing, or has
    ///   fewer columns than the changeset, its columns have numbers in place of names.
    /// - Throws: a ``DatabaseError`` if the schema cannot be read.
    public func described(_ db: Database) throws -> String {
        db.checkAccess()
        var names: [String: [String]] = [:]
        for table in tables { names[table] = try db.changesetColumns(of: table) }
        return map { $0.description(names: names[$0.table] ?? []) }.joined(separator: "\n")
    }
}

extension Database {
    /// Returns the names of the columns that changesets have of a table, or none if there is no
    /// such table.
    func changesetColumns(of table: String) throws -> [String] {
        guard try tableExists(table, in: "main") else { return [] }
        return try tableSchema(table, in: "main").allColumns.filter { !$0.isGenerated && !$0.isHidden }
            .map(\.name)
    }
}

extension Changeset.Change: CustomStringConvertible {
    /// The change, with the values in the order of the columns.
    public var description: String { description(names: []) }

    func description(names: [String]) -> String {
        func name(_ column: Int) -> String { column < names.count ? names[column] : "\(column + 1)" }
        func text(_ value: DatabaseValue?) -> String { value?.inWords ?? "?" }
        let key = key.map(text).joined(separator: ", ")
        let changes =
            switch operation {
            case .insert, .delete:
                (operation == .insert ? finalValues : initialValues).enumerated()
                    .filter { !keyColumns.contains($0.offset) }
                    .map { "\(name($0.offset)) \(text($0.element))" }
            case .update:
                changedColumns.map { column in
                    "\(name(column)) \(text(initialValues[column])) → \(text(finalValues[column]))"
                }
            }
        let heading = "\(operation.rawValue) \(table) \(key)"
        return changes.isEmpty ? heading : "\(heading): \(changes.joined(separator: ", "))"
    }
}

// Errors of requests that name a missing table or column.

extension Database {
    /// Returns the error of a request's SQL. If SQLite cannot find a table or column, the error
    /// says which type it belongs to, and suggests the intended column.
    func tellingNames(_ error: any Error, of sources: [QuerySource]) -> any Error {
        guard let refusal = error as? DatabaseError, let message = refusal.message,
            let sentence = sentence(for: message, of: sources)
        else { return error }
        return refusal.with(message: sentence)
    }

    /// Returns a more helpful message than SQLite's, or nil if there is nothing to add.
    private func sentence(for message: String, of sources: [QuerySource]) -> String? {
        if let table = message.removing(prefix: "no such table: ") {
            let type = sources.compactMap(\.type).first { $0.isStored(inTable: table) }
            return type.map { $0.missingTableSentence(on: self) }
        }
        guard let name = message.removing(prefix: "no such column: ") else { return nil }
        let column = name.split(separator: ".").last.map(String.init) ?? name
        let sources = sources.map { (name: $0.tableName, type: $0.type) }
        var tables: [String] = []
        var columns: [String] = []
        for (name, type) in sources {
            guard let name, let table = try? tableSchema(name) else { continue }
            let owner = type.map { table.isNamed(after: $0) ? "" : " of \($0)" } ?? ""
            tables.append("the table \(table.name)\(owner)")
            columns += table.columns.map(\.name)
        }
        if tables.isEmpty { return nil }
        return "\(message), in \(tables.joined(separator: " and "))\(columns.question(for: column))"
    }
}

extension TableRecord {
    fileprivate static func isStored(inTable name: String) -> Bool {
        let table = name.split(separator: ".").last.map(String.init) ?? name
        return CaseInsensitiveName.matches(table, databaseTableName)
    }

    /// Returns a message with remedies for the missing table of a type. A class may have been
    /// intended to share the table of its superclass.
    fileprivate static func missingTableSentence(on db: Database) -> String {
        let table = databaseTableName
        if table.isEmpty { return "\(Self.self) has no table: override databaseTableName" }
        let sentence =
            "no such table: \(table), where \(Self.self) is stored: run the migration that creates it, or override "
            + "databaseTableName"
        var above: AnyClass? = superclass(of: Self.self)
        while let type = above as? any TableRecord.Type {
            let name = type.databaseTableName
            if !isStored(inTable: name), (try? db.schema.table(name)) != nil {
                return sentence + " if \(Self.self) is stored in \(name), as its superclass \(type) is"
            }
            above = superclass(of: type)
        }
        return sentence
    }

    private static func superclass(of type: Any.Type) -> AnyClass? {
        (type as? AnyClass).flatMap { _getSuperclass($0) }
    }

    /// Returns the table of the type.
    ///
    /// - Throws: an error that names the type, if there is no such table.
    static func tableSchema(on db: Database) throws -> TableSchema {
        if let table = try db.schema.table(databaseTableName) { return table }
        throw DatabaseError(
            message: missingTableSentence(on: db),
            sql: "SELECT * FROM \(databaseTableName.quotedDatabaseIdentifier)")
    }
}

extension TableSchema {
    fileprivate func isNamed(after type: any TableRecord.Type) -> Bool {
        CaseInsensitiveName.matches(name, "\(type)")
    }
}

extension DatabaseError {
    func with(message: String) -> DatabaseError {
        DatabaseError(
            resultCode: extendedResultCode, message: message, sql: sql, arguments: arguments,
            publicStatementArguments: publicArguments, offset: offset)
    }
}

extension String {
    fileprivate func removing(prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}

extension [String] {
    /// Returns a question that suggests the intended name, to follow a message. Empty if no name is
    /// similar.
    func question(for name: String) -> String { nearest(to: name).map { ": did you mean \($0)?" } ?? "" }

    /// Returns the name most similar to another one, or nil if none is similar.
    func nearest(to name: String) -> String? {
        let name = [UInt8](name.lowercased().utf8)
        let most = Swift.max(1, name.count / 3)
        return map { (name: $0, distance: name.editDistance(to: [UInt8]($0.lowercased().utf8))) }
            .filter { $0.distance <= most }.min { $0.distance < $1.distance }?.name
    }
}

extension [UInt8] {
    /// Returns the number of bytes to insert, remove, replace or swap to turn this text into
    /// another.
    fileprivate func editDistance(to other: [UInt8]) -> Int {
        var (before, last) = ([Int](), [Int](0...other.count))
        for (row, byte) in enumerated() {
            var next = [row + 1]
            for (column, otherByte) in other.enumerated() {
                var distance = Swift.min(last[column + 1] + 1, next[column] + 1)
                distance = Swift.min(distance, last[column] + (byte == otherByte ? 0 : 1))
                if row > 0, column > 0, byte == other[column - 1], self[row - 1] == otherByte {
                    distance = Swift.min(distance, before[column - 1] + 1)
                }
                next.append(distance)
            }
            (before, last) = (last, next)
        }
        return last[other.count]
    }
}

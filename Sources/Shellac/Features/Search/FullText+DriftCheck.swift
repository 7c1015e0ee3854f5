// The comparison of full-text indexes with the rows of their tables.

extension Database: CheckedIndexes {
    func checkIndexes(_ check: inout DriftCheck) throws {
        let table = check.table
        guard table.kind == .table else { return }
        for name in try FullTextObjects.names(self, in: table.schemaName) {
            guard let objects = try FullTextObjects(existing: name, in: table.schemaName, self),
                CaseInsensitiveName.matches(objects.table.name, table.name)
            else { continue }
            if let reason = try fault(of: objects) {
                check.add(.fullTextNotKept(index: name, reason: reason), objects.columns)
            }
        }
    }
}

// The comparison of stamps with the columns of the table.

extension RecordStamps: CheckedRule {
    func checkColumns(_ check: inout DriftCheck) {
        for name in declared.columns where check.table.column(named: name) == nil {
            if check.faults.contains(where: { $0.columns == [name] }) { continue }
            check.add(.columnMissing(isRead: false, isEncoded: true), name)
        }
    }
}

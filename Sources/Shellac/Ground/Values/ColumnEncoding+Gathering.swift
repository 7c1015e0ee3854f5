// Gathers a record's columns with their values, to pack them once all names are known.

extension ColumnEncoding {
    struct Gathered {
        var name: String
        var value: DatabaseValue
        var isDate: Bool
    }

    final class Gathering {
        fileprivate(set) var columns: [Gathered] = []
        /// The name of the column whose value is encoded next.
        var name = ""
        /// The listed columns, while each column must be listed only once, and one that was listed
        /// again.
        fileprivate var listed: [String]?
        fileprivate var repeated: String?
    }

    /// Gathers a value. A subclass may replace a value that its superclass encoded.
    func gather(_ value: DatabaseValue, isDate: Bool = false) {
        gathering?.use { gathering in
            let column = Gathered(name: gathering.name, value: value, isDate: isDate)
            let known = gathering.columns.firstIndex { CaseInsensitiveName.matches($0.name, column.name) }
            if let known { gathering.columns[known] = column } else { gathering.columns.append(column) }
            if let listed = gathering.listed {
                let isListed = listed.contains { CaseInsensitiveName.matches($0, column.name) }
                if isListed {
                    gathering.repeated = column.name
                } else {
                    gathering.listed?.append(column.name)
                }
            }
        }
    }

    /// Begins a list, in which each column must be given only one value. A column from before the
    /// list may be given another value.
    func beginList() { gathering?.use { $0.listed = [] } }

    /// Ends the list. Returns a column that was listed twice, if there is one.
    func endList() -> String? {
        gathering?.use {
            $0.listed = nil
            return $0.repeated
        }
    }

    /// Stores a column that was gathered.
    mutating func store(_ column: Gathered) {
        if seek(to: column.name) { column.value.withView { store($0, isDate: column.isDate) } }
    }
}

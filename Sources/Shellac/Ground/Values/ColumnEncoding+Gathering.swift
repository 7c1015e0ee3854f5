// The columns of a record whose names nobody knows yet: each is kept with its value, and packed once all are there.

extension ColumnEncoding {
    struct Gathered {
        var name: String
        var value: DatabaseValue
        var isDate: Bool
    }

    final class Gathering {
        fileprivate(set) var columns: [Gathered] = []
        /// The name of the column whose value comes next.
        var name = ""
        /// The columns that were listed, where each is to be listed once, and one that was listed again.
        fileprivate var listed: [String]?
        fileprivate var repeated: String?
    }

    /// Gathers a value. A subclass may change what its superclass encoded.
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

    /// Begins a list: from here on, each column is to be given one value. To a column from before, it may be another
    /// one.
    func beginList() { gathering?.use { $0.listed = [] } }

    /// Ends the list. Returns a column that was listed twice.
    func endList() -> String? {
        gathering?.use {
            $0.listed = nil
            return $0.repeated
        }
    }

    /// Stores a column that was gathered.
    mutating func store(_ column: Gathered) {
        if isAt(column.name) { column.value.withView { store($0, isDate: column.isDate) } }
    }
}

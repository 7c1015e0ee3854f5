/// Fills in columns that the records of a type leave to it, among those that they encode, while they are saved.
///
/// This class fills in nothing. A layer above has a subclass: see ``ColumnFillingSource``.
class ColumnFilling {
    /// Returns what fills in columns of a type's records. Nil where nothing does.
    static func of(_ type: any TableRecord.Type) -> ColumnFilling? {
        let declared: Any? = (type as? any MutablePersistableRecord.Type)?.databaseStamps
        return (declared as? any ColumnFillingSource)?.columnFilling
    }

    /// Runs an insertion with what is to be inserted.
    ///
    /// - Parameter record: The record, if it is of a class.
    func fillInsertion(
        of record: Record?, isUpsert: Bool, by writer: RecordWriter, _ save: (RecordWriter) throws -> Void
    ) throws { try save(writer) }

    /// Runs an update with what is to be written, and where.
    ///
    /// - Parameter isFull: Whether nobody has named the columns.
    func fillUpdate(
        of record: Record?, _ mask: ColumnMask, isFull: Bool, by writer: RecordWriter,
        _ save: (RecordWriter, ColumnMask, _ isFull: Bool) throws -> Void
    ) throws { try save(writer, mask, isFull) }

    /// Gives a record what was filled in.
    func give(_ filled: FilledColumns, to record: Record, from writer: RecordWriter) {}

    /// The columns that are filled in beside those that records encode. Nil for none.
    func computedColumns(beside encoded: RowLayout, in table: TableSchema) -> ComputedColumns? { nil }

    /// The columns that are filled in, and were not written, as a record has them that means another row now: it has never
    /// read that one's.
    func columnsLeftOut(of written: ColumnMask, _ writer: RecordWriter, knowing row: PackedRow) -> ColumnMask
    { ColumnMask() }

    /// Takes over what was learnt by the one that was there before the schema changed.
    func learn(from old: ColumnFilling?) {}
}

/// Columns that records do not encode, and that an SQL function computes where a record is saved.
struct ComputedColumns {
    /// Those that an insertion writes.
    var inserted: [String] = []
    /// Those that an update writes.
    var updated: [String] = []
    /// The name of the function, which takes no arguments.
    let function: String

    var insertedValues: [String] { inserted.map { _ in "\(function)()" } }
    var assignments: [String] { updated.map { "\($0.quotedDatabaseIdentifier) = \(function)()" } }
}

/// What declares that columns are filled in.
protocol ColumnFillingSource {
    /// What does it. Nil where no column is declared.
    var columnFilling: ColumnFilling? { get }
}

/// What was filled in for one save.
final class FilledColumns {
    struct Column {
        /// The number of the column among those that the record encodes.
        let column: Int
        /// What the record had encoded.
        let old: DatabaseValue
        /// What the database holds. Nil until the row was read.
        var stored: DatabaseValue?
    }
    var columns: [Column] = []
    /// Whether it is an upsert: it may write a row, or find one, and tells what that one has.
    var isUpsert = false
    /// The columns that an insertion writes to a row in its way.
    var rowInTheWay = ColumnMask()
    /// A column of a row in the way that an SQL function computes.
    var computedInTheWay: (column: String, function: String)?

    /// Those that a trigger may write.
    var unread: [Int] { columns.indices.filter { columns[$0].stored == nil } }
}

extension RecordWriter {
    /// Runs an insertion with what is filled in.
    ///
    /// - Parameter record: The record, if it is of a class.
    func fillingInsertion<Result>(
        of record: @autoclosure () -> Record?, isUpsert: Bool, _ save: (RecordWriter) throws -> Result?
    ) throws -> Result? {
        guard withPlan({ $0.isFilled }), let filling = plan.filling else { return try save(self) }
        var result: Result?
        try filling.fillInsertion(of: record(), isUpsert: isUpsert, by: self) { result = try save($0) }
        return result
    }

    /// Runs an update with what is filled in.
    func fillingUpdate(
        of record: @autoclosure () -> Record?, _ mask: ColumnMask, isFull: Bool,
        _ save: (RecordWriter, ColumnMask, _ isFull: Bool) throws -> Bool
    ) throws -> Bool {
        guard withPlan({ $0.isFilled }), let filling = plan.filling else {
            return try save(self, mask, isFull)
        }
        var isWritten = false
        try filling.fillUpdate(of: record(), mask, isFull: isFull, by: self) {
            isWritten = try save($0, $1, $2)
        }
        return isWritten
    }

    /// Gives a record what was filled in.
    @inline(never)
    func giveFilledColumns(to record: Record) {
        if let filled { plan.filling?.give(filled, to: record, from: self) }
    }
}

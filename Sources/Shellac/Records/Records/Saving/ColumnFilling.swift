/// An object that fills in columns of a type's records while they are saved.
///
/// The records leave these columns to it, among those that they encode.
///
/// This class fills in nothing. A layer above has a subclass: see ``ColumnFillingSource``.
class ColumnFilling {
    /// Returns the object that fills in columns of a type's records. Nil if nothing does.
    static func of(_ type: any TableRecord.Type) -> ColumnFilling? {
        let declared: Any? = (type as? any MutablePersistableRecord.Type)?.databaseStamps
        return (declared as? any ColumnFillingSource)?.columnFilling
    }

    /// Runs an insertion with the values to insert.
    ///
    /// - Parameter record: The record, if it is of a class.
    func fillInsertion(
        of record: Record?, isUpsert: Bool, by writer: RecordWriter, _ save: (RecordWriter) throws -> Void
    ) throws { try save(writer) }

    /// Runs an update with the values to write, and the columns to write.
    ///
    /// - Parameter isFull: Whether the program has named no columns.
    func fillUpdate(
        of record: Record?, _ mask: ColumnMask, isFull: Bool, by writer: RecordWriter,
        _ save: (RecordWriter, ColumnMask, _ isFull: Bool) throws -> Void
    ) throws { try save(writer, mask, isFull) }

    /// Sets the filled-in values in a record.
    func give(_ filled: FilledColumns, to record: Record, from writer: RecordWriter) {}

    /// Returns the columns that are filled in, in addition to the encoded ones. Nil for none.
    func computedColumns(beside encoded: RowLayout, in table: TableSchema) -> ComputedColumns? { nil }

    /// Returns the columns that are filled in but were not written, for a record that now means
    /// another row. It has never read that row's values.
    func columnsLeftOut(of written: ColumnMask, _ writer: RecordWriter, knowing row: PackedRow) -> ColumnMask
    { ColumnMask() }

    /// Takes over the knowledge of the object that existed before the schema changed.
    func learn(from old: ColumnFilling?) {}
}

/// Columns that records do not encode, and that an SQL function computes when a record is saved.
struct ComputedColumns {
    /// The columns that an insertion writes.
    var inserted: [String] = []
    /// The columns that an update writes.
    var updated: [String] = []
    /// The name of the function, which takes no arguments.
    let function: String

    var insertedValues: [String] { inserted.map { _ in "\(function)()" } }
    var assignments: [String] { updated.map { "\($0.quotedDatabaseIdentifier) = \(function)()" } }
}

/// A declaration that columns are filled in.
protocol ColumnFillingSource {
    /// The object that fills in columns. Nil if no column is declared.
    var columnFilling: ColumnFilling? { get }
}

/// The values that were filled in for one save.
final class FilledColumns {
    struct Column {
        /// The number of the column among those that the record encodes.
        let column: Int
        /// The value that the record had encoded.
        let old: DatabaseValue
        /// The value in the database. Nil until the row was read.
        var stored: DatabaseValue?
    }
    var columns: [Column] = []
    /// Whether the save is an upsert. It may insert a row or find one, and then the values of that
    /// row are read.
    var isUpsert = false
    /// The columns that an upsert writes to a conflicting row.
    var rowInTheWay = ColumnMask()
    /// A column of a conflicting row that an SQL function computes.
    var computedInTheWay: (column: String, function: String)?

    /// The columns that a trigger may write.
    var unread: [Int] { columns.indices.filter { columns[$0].stored == nil } }
}

extension RecordWriter {
    /// Runs an insertion with the filled-in values.
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

    /// Runs an update with the filled-in values.
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

    /// Sets the filled-in values in a record.
    @inline(never)
    func giveFilledColumns(to record: Record) {
        if let filled { plan.filling?.give(filled, to: record, from: self) }
    }
}

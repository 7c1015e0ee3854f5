/// A cursor of rows.
public typealias RowCursor = DatabaseCursor<Row>
/// A cursor of records.
public typealias RecordCursor<Element: DatabaseFetchable> = DatabaseCursor<Element>
/// A cursor of values.
public typealias DatabaseValueCursor<Value: DatabaseValueConvertible> = DatabaseCursor<Value>
/// A cursor of values. (All cursors of Shellac are fast.)
public typealias FastDatabaseValueCursor<Value: DatabaseValueConvertible> = DatabaseCursor<Value>

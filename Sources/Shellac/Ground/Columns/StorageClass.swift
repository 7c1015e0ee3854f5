/// One of the five classes of values that SQLite stores.
///
/// See "Datatypes In SQLite" in the SQLite documentation.
///
/// ```swift
/// static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Celsius? {
///     switch value.storageClass {
///     case .real: Celsius(degrees: value.double)
///     case .integer: Celsius(degrees: Double(value.int64))
///     case .text, .blob, .null: nil
///     }
/// }
/// ```
@frozen
public enum StorageClass: Int32, Hashable, Sendable, CaseIterable {
    // The raw values are SQLite's own: `SQLITE_INTEGER` and so on.
    /// A signed integer of up to 64 bits.
    case integer = 1
    /// A floating-point number of 64 bits.
    case real = 2
    /// A text.
    case text = 3
    /// Bytes, stored unchanged.
    case blob = 4
    /// NULL, the absence of a value.
    case null = 5
}

extension StorageClass: CustomStringConvertible {
    /// A description of the class.
    ///
    /// ```swift
    /// StorageClass.real.description     // "a real number"
    /// ```
    public var description: String {
        switch self {
        case .integer: "an integer"
        case .real: "a real number"
        case .text: "a text"
        case .blob: "a blob"
        case .null: "NULL"
        }
    }
}

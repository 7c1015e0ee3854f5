// Older spellings, which no longer compile: the compiler names the new ones.

@available(*, unavailable, renamed: "DatabaseValueConvertible")
public typealias DatabaseIntRepresentable = DatabaseValueConvertible

@available(*, unavailable, renamed: "DatabaseValueConvertible")
public typealias DatabaseStringRepresentable = DatabaseValueConvertible

@available(
    *, unavailable,
    message: "conform to DatabaseValueConvertible: an argument is a value, which errors and reports can show"
)
public protocol StatementBinding {}

extension DatabaseValue {
    @available(*, unavailable, message: "write `integer.databaseValue`")
    public init(int64 integer: Int64) { self = integer.databaseValue }

    @available(*, unavailable, message: "write `number.databaseValue`")
    public init(double number: Double) { self = number.databaseValue }

    @available(*, unavailable, message: "write `text.databaseValue`")
    public init(string text: String) { self = text.databaseValue }
}

/// The columns that a record stores, filled by `encode(to:)`.
///
/// ```swift
/// func encode(to container: inout PersistenceContainer) throws {
///     container["id"] = id
///     container["name"] = name
///     container["score"] = score
/// }
/// ```
///
/// A record encodes all columns that it stores, including its primary key. Shellac may call
/// `encode(to:)` at any time, and more than once. If a column is set twice, the last value counts.
public struct PersistenceContainer: ~Copyable {
    @usableFromInline let encoding: UnsafeMutablePointer<ColumnEncoding>

    init(_ encoding: UnsafeMutablePointer<ColumnEncoding>) { self.encoding = encoding }

    /// Runs a record's encoding function into an encoding.
    @inline(__always)
    static func fill(
        _ encoding: inout ColumnEncoding, _ encode: (inout PersistenceContainer) throws -> Void
    ) rethrows {
        try withUnsafeMutablePointer(to: &encoding) { pointer in
            var container = PersistenceContainer(pointer)
            try encode(&container)
        }
    }

    /// The value of a column. Setting nil stores NULL. Reading returns the value that was set, or
    /// nil.
    ///
    /// - Parameter column: The name of the column. Letters match in either case.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ column: String) -> Value? {
        get { encoding.pointee.value(of: column).flatMap(Value.fromDatabaseValue) }
        @inline(__always)
        set { store(newValue, in: column) }
    }

    /// The value of a column. Setting nil stores NULL. Reading returns the value that was set, or
    /// nil.
    ///
    /// - Parameter column: The name of the column. Letters match in either case.
    @_disfavoredOverload  // a known type uses the generic one
    public subscript(_ column: String) -> (any DatabaseValueConvertible)? {
        get { encoding.pointee.value(of: column) }
        set {
            if let newValue { storeAny(newValue, in: column) } else { store(DatabaseValue.null, in: column) }
        }
    }

    /// The value of a column. Setting nil stores NULL. Reading returns the value that was set, or
    /// nil.
    ///
    /// - Parameter column: The column. Only its name matters.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ column: Column) -> Value? {
        get { self[column.name] }
        @inline(__always)
        set { store(newValue, in: column.name) }
    }

    /// The value of a column. Setting nil stores NULL. Reading returns the value that was set, or
    /// nil.
    ///
    /// - Parameter column: The column. Only its name matters.
    @_disfavoredOverload  // a known type uses the generic one
    public subscript(_ column: Column) -> (any DatabaseValueConvertible)? {
        get { encoding.pointee.value(of: column.name) }
        set { self[column.name] = newValue }
    }

    private func storeAny(_ value: some DatabaseValueConvertible, in column: String) {
        store(value, in: column)
    }

    @inlinable @inline(__always)
    func store<Value: DatabaseValueConvertible>(_ value: Value?, in column: String) {
        let sink = DatabaseValueSink(encoding, column)
        if let value { value.store(in: sink) } else { sink.storeNull() }
    }
}

@available(*, unavailable, message: "a container is valid only during one encoding")
extension PersistenceContainer: Sendable {}

extension PersistenceContainer {
    /// The value of a column. Setting nil stores NULL. Reading returns the value that was set, or
    /// nil.
    ///
    /// - Parameter column: The column. Only its name matters.
    public subscript<Value: DatabaseValueConvertible>(_ column: some ColumnExpression) -> Value? {
        get { self[column.name] }
        set { store(newValue, in: column.name) }
    }

    /// The value of a column. Setting nil stores NULL. Reading returns the value that was set, or
    /// nil.
    ///
    /// - Parameter column: The column. Only its name matters.
    @_disfavoredOverload  // a known type uses the generic one
    public subscript(_ column: some ColumnExpression) -> (any DatabaseValueConvertible)? {
        get { encoding.pointee.value(of: column.name) }
        set { self[column.name] = newValue }
    }
}

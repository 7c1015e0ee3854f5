// Older spellings, which no longer compile: the compiler names the new ones.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Row {
    @available(*, unavailable, message: "write `try row[\"name\"]`: reading a value may throw")
    public func value<Value: DatabaseValueConvertible>(named name: String) -> Value {
        Misuse.trap("value(named:) no longer exists: write `try row[\"name\"]`.")
    }

    @available(*, unavailable, message: "write `try row[0]`: reading a value may throw")
    public func value<Value: DatabaseValueConvertible>(atIndex index: Int) -> Value {
        Misuse.trap("value(atIndex:) no longer exists: write `try row[0]`.")
    }

    @available(
        *, unavailable, message: "write `try row.withUnsafeData(named: \"data\") { data in … }`"
    )
    public func dataNoCopy(named name: String) -> Data? { nil }
}

extension DatabaseValue {
    @available(
        *, unavailable,
        message: "write `Int.fromDatabaseValue(value)`, which is nil if the value does not convert"
    )
    public func value<Value: DatabaseValueConvertible>() -> Value {
        Misuse.trap("value() no longer exists: write `Int.fromDatabaseValue(value)`.")
    }
}

/// A view of a value, for a switch over its class.
///
/// The value may be in SQLite, in packed bytes, or in a `DatabaseValue`. Code that takes values is
/// written once for this type, and not for each place that holds values. The bytes of texts and
/// blobs are only valid while their owner is unchanged.
enum ValueView {
    case null
    case integer(Int64)
    case real(Double)
    case text(UnsafeBufferPointer<UInt8>)
    case blob(UnsafeRawBufferPointer)
}

/// A value where it stands, to be switched over: in SQLite, in packed bytes, or in a `DatabaseValue`.
///
/// What takes values is written once for this, and not for each place that a value may stand in. The bytes of texts and
/// blobs are good as long as nobody touches what they stand in.
enum ValueView {
    case null
    case integer(Int64)
    case real(Double)
    case text(UnsafeBufferPointer<UInt8>)
    case blob(UnsafeRawBufferPointer)
}

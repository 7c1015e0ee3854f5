import Shellac
import TestSupport

/// A value of any kind, for a property of a Codable class.
struct AnyValue: DatabaseValueConvertible, Codable {
    var databaseValue: DatabaseValue

    init(_ value: DatabaseValue) { databaseValue = value }

    static func fromDatabaseValue(_ value: DatabaseValue) -> AnyValue? { AnyValue(value) }

    // It is stored as the value that it is.
    init(from decoder: any Decoder) throws { throw TestError(1) }
    func encode(to encoder: any Encoder) throws { throw TestError(1) }
}

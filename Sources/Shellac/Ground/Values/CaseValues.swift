/// The values of an enum's cases, in the form that a column stores.
///
/// An enum that is only `Codable` may be stored in its own encoding, or as its raw value. A type
/// that lists only some of its values is not an enum, but is handled in the same way. It accepts
/// every value that it can read.
struct CaseValues {
    let typeName: String
    private let listed: any CaseIterable.Type

    /// - Returns: Nil if the type lists no cases, or none that a column can store.
    init?(_ type: any Any.Type) {
        let type = (type as? any OptionalType.Type)?.wrappedType ?? type
        guard let listed = type as? any CaseIterable.Type, Self.isStorable(listed) else { return nil }
        (typeName, self.listed) = ("\(type)", listed)
    }

    private static func isStorable(_ type: any CaseIterable.Type) -> Bool {
        values(of: type, 1).contains { $0 != nil }
    }

    /// Returns the values of the first cases. NULL is never among them: a column that may hold NULL
    /// does so whatever an enum lists.
    func first(_ count: Int) -> [DatabaseValue] {
        let values = Self.values(of: listed, count)
        var seen: Set<DatabaseValue> = [.null]
        return values.compactMap(\.self).filter { seen.insert($0).inserted }
    }

    /// The values of all cases, without duplicates.
    var all: [DatabaseValue] { first(.max) }

    private static func values<Cases: CaseIterable>(of type: Cases.Type, _ count: Int) -> [DatabaseValue?] {
        type.allCases.prefix(count).map { value in
            if let value = value as? any DatabaseValueConvertible { return value.databaseValue }
            return ((value as? any RawRepresentable)?.rawValue as? any DatabaseValueConvertible)?
                .databaseValue
        }
    }

    /// Whether the type can read a value.
    func accepts(_ value: DatabaseValue) -> Bool {
        if let stored = listed as? any DatabaseValueConvertible.Type { return Self.reads(value, as: stored) }
        return all.contains(value)
    }

    private static func reads<Value: DatabaseValueConvertible>(
        _ value: DatabaseValue, as type: Value.Type
    ) -> Bool { Value.fromDatabaseValue(value) != nil }

    /// The maximum number of values that an error lists.
    private static let mostNamed = 10

    /// A readable list of the values, at most ten.
    var sentence: String {
        let known = first(Self.mostNamed + 1)
        let list = known.prefix(Self.mostNamed).map(\.shortLiteral).joined(separator: ", ")
        return "the values of \(typeName) are \(list)\(known.count > Self.mostNamed ? " and others" : "")"
    }
}

/// The values that an enum lists, as a column holds them.
///
/// An enum may be stored by what it says itself, or as its raw value, where it is `Codable` alone. A type that lists some of its values
/// and has others is no enum, and goes the same way: what it reads is accepted.
struct CaseValues {
    let typeName: String
    private let listed: any CaseIterable.Type

    /// - Returns: Nil where the type lists nothing, or nothing that a column can hold.
    init?(_ type: any Any.Type) {
        let type = (type as? any OptionalType.Type)?.wrappedType ?? type
        guard let listed = type as? any CaseIterable.Type, Self.isStorable(listed) else { return nil }
        (typeName, self.listed) = ("\(type)", listed)
    }

    private static func isStorable(_ type: any CaseIterable.Type) -> Bool {
        values(of: type, 1).contains { $0 != nil }
    }

    /// Returns the values of the first cases. NULL is none: a column that may hold it does so whatever an enum lists.
    func first(_ count: Int) -> [DatabaseValue] {
        let values = Self.values(of: listed, count)
        var seen: Set<DatabaseValue> = [.null]
        return values.compactMap(\.self).filter { seen.insert($0).inserted }
    }

    /// The values of all cases, each once.
    var all: [DatabaseValue] { first(.max) }

    private static func values<Cases: CaseIterable>(of type: Cases.Type, _ count: Int) -> [DatabaseValue?] {
        type.allCases.prefix(count).map { value in
            if let value = value as? any DatabaseValueConvertible { return value.databaseValue }
            return ((value as? any RawRepresentable)?.rawValue as? any DatabaseValueConvertible)?
                .databaseValue
        }
    }

    /// Whether a value is read as one of the type.
    func accepts(_ value: DatabaseValue) -> Bool {
        if let stored = listed as? any DatabaseValueConvertible.Type { return Self.reads(value, as: stored) }
        return all.contains(value)
    }

    private static func reads<Value: DatabaseValueConvertible>(
        _ value: DatabaseValue, as type: Value.Type
    ) -> Bool { Value.fromDatabaseValue(value) != nil }

    /// How many values an error names.
    private static let mostNamed = 10

    /// The values, for people: at most ten.
    var sentence: String {
        let known = first(Self.mostNamed + 1)
        let list = known.prefix(Self.mostNamed).map(\.shortLiteral).joined(separator: ", ")
        return "the values of \(typeName) are \(list)\(known.count > Self.mostNamed ? " and others" : "")"
    }
}

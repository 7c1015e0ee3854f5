/// Finds the stored property that a coding key stands for.
///
/// The keys that Swift synthesizes with are an enum, each case of which is named like a property: the compiler does not
/// take others. The value of a key may be another one, as in `case dueDate = "due_date"`, and so the name of the case has
/// to be known. Printing a key does not tell it: keys describe themselves by their value. The runtime does tell, by the
/// function that prints all other enums.
enum CodingKeyNames {
    /// Returns the name of an enum's case. Nil for a key that is no enum, for one whose cases are imported from C, and
    /// where the keys were compiled without reflection metadata.
    static func caseName<Key: CodingKey>(of key: Key) -> String? {
        // The function reads the metadata of an enum, and must not be given another type: see `isEnum`.
        guard isEnum(key), let name = nameOfCase(key) else { return nil }
        return String(cString: name)
    }

    /// Returns the name of the property, among those of a class, that the synthesized coding of a case reads and
    /// writes.
    ///
    /// A wrapped property is stored under its name with an underscore, and coded under its name. (The keys of an
    /// `@Observable` class are named like its stored properties, with the underscore.)
    static func property(named caseName: String, in properties: StoredProperties) -> StoredProperty? {
        properties[caseName] ?? properties["_" + caseName]
    }

    private static func isEnum<Key: CodingKey>(_ key: Key) -> Bool {
        // A key may say otherwise of itself. Those that are synthesized do not.
        if key is any CustomReflectable { return false }
        return Mirror(reflecting: key).displayStyle == .enum
    }
}

@_silgen_name("swift_EnumCaseName")
private func nameOfCase<Value>(_ value: Value) -> UnsafePointer<CChar>?

/// Finds the stored property that a coding key names.
///
/// Synthesized keys are an enum, and each case is named like a property. The compiler accepts no
/// other names. The value of a key may differ, as in `case dueDate = "due_date"`, so the name of
/// the case is needed.
///
/// Printing a key does not print this name, because keys describe themselves by their value. The
/// runtime function that prints all other enums does print it.
enum CodingKeyNames {
    /// Returns the name of an enum's case. Nil if the key is not an enum, if its cases are imported
    /// from C, or if the keys were compiled without reflection metadata.
    static func caseName<Key: CodingKey>(of key: Key) -> String? {
        // The function reads the metadata of an enum, and must not be given another type: see
        // `isEnum`.
        guard isEnum(key), let name = nameOfCase(key) else { return nil }
        return String(cString: name)
    }

    /// Returns the property of a class that the synthesized coding of a case reads and writes.
    ///
    /// A wrapped property is stored under its name with an underscore, and coded under its name.
    /// (The keys of an `@Observable` class are named like its stored properties, with the
    /// underscore.)
    static func property(named caseName: String, in properties: StoredProperties) -> StoredProperty? {
        properties[caseName] ?? properties["_" + caseName]
    }

    private static func isEnum<Key: CodingKey>(_ key: Key) -> Bool {
        // A key may describe itself differently. Synthesized keys do not.
        if key is any CustomReflectable { return false }
        return Mirror(reflecting: key).displayStyle == .enum
    }
}

@_silgen_name("swift_EnumCaseName")
private func nameOfCase<Value>(_ value: Value) -> UnsafePointer<CChar>?

/// The stored properties that a `Codable` class of records codes.
///
/// They are its own properties, and those of the classes above it up to the one that declares
/// `Codable`.
///
/// This type finds the property of a coding key. It also distinguishes hand-written coding from
/// synthesized coding, which the language does not.
///
/// Each key that Swift synthesizes is a case named like a stored property, and is coded as a value
/// of that property's type. If a class follows this, its keys name its properties, even if its
/// coding is written by hand. Then the properties can be set by copying them. If it does not, an
/// error says so.
///
/// One case goes unnoticed: an `init(from:)` that follows the pattern and also sets a property
/// without a key. That property is not set in place.
final class CodedProperties: Sendable {
    private struct Declared {
        let type: Record.Type
        let properties: StoredProperties
    }

    /// The identity of a key. Two classes of one line of descent may each have keys of the same
    /// value.
    private struct KeyIdentity: Hashable {
        let type: ObjectIdentifier
        let value: String
    }

    private let type: Record.Type
    /// The class that declares `Codable` first, then the classes below it.
    private let declared: [Declared]
    private let found = Lock<[KeyIdentity: StoredProperty]>([:])

    /// - Throws: a ``CodingRefusal`` if the memory layout of a class's objects is not known for
    ///   certain.
    init(_ type: Record.Type, from root: Record.Type) throws {
        var declared: [Declared] = []
        var ancestor: AnyClass? = type
        while let record = ancestor as? Record.Type {
            guard let properties = StoredProperties.of(record) else {
                throw CodingRefusal(
                    type,
                    "has properties that this system does not describe, or \(record) was compiled without "
                        + "reflection metadata")
            }
            declared.insert(Declared(type: record, properties: properties), at: 0)
            ancestor = record == root ? nil : _getSuperclass(record)
        }
        self.type = type
        self.declared = declared
    }

    /// All properties that these classes store, coded or not.
    var all: [StoredProperty] { declared.flatMap(\.properties.properties) }

    /// Returns the property of a key that is decoded.
    ///
    /// - Parameter type: The type coded for the key. It is the property's own type, or the type
    ///   that its optional wraps.
    /// - Throws: a ``CodingRefusal`` if there is no such property, or if it cannot be set.
    ///   Synthesized coding never requests a property that does not exist.
    func assignableProperty<Key: CodingKey, Value>(
        for key: Key, of type: Value.Type
    ) throws -> StoredProperty {
        let property = try property(for: key, of: type)
        if property.isAssignable { return property }
        let kind = property.isVariable ? "a weak or unowned reference" : "a let"
        throw CodingRefusal(self.type, "decodes \(property.name), which is \(kind)")
    }

    /// Returns the property of a key. It may be a property that is only encoded, such as a `let`
    /// with a value.
    func property<Key: CodingKey, Value>(for key: Key, of type: Value.Type) throws -> StoredProperty {
        let identity = KeyIdentity(type: ObjectIdentifier(Key.self), value: key.stringValue)
        let known = found.withLock { $0[identity] }
        let property = try known ?? search(for: key)
        if known == nil { found.withLock { $0[identity] = property } }
        // A weak reference also has an optional type.
        if property.type == type || property.type == Value?.self { return property }
        if let optional = type as? any OptionalType.Type, optional.wrappedType == property.type {
            return property
        }
        throw CodingRefusal(
            self.type,
            "codes \(property.name), a \(property.type), as a \(type), unlike synthesized coding")
    }

    private func search<Key: CodingKey>(for key: Key) throws -> StoredProperty {
        guard let name = CodingKeyNames.caseName(of: key) else {
            throw CodingRefusal(
                type, "codes itself with keys that are not cases of an enum, such as \(key.stringValue)")
        }
        var candidates = declared.compactMap { declared in
            CodingKeyNames.property(named: name, in: declared.properties).map { (declared.type, $0) }
        }
        if candidates.count > 1 {
            // Two classes each have a private property of this name. The keys are declared inside
            // one of them.
            let keys = _typeName(Key.self)
            candidates.removeAll { !keys.hasPrefix(_typeName($0.0) + ".") }
        }
        guard let property = candidates.first?.1, candidates.count == 1 else {
            throw CodingRefusal(
                type, "codes a key named \(name), which is not one of its stored properties")
        }
        return property
    }

    /// Copies properties, which must be of these classes, from one object to another.
    func assign(_ properties: [StoredProperty], from source: Record, to target: Record) {
        precondition(
            Swift.type(of: source) == type && Swift.type(of: target) == type,
            "properties cannot be copied between objects of different classes: this is a bug in Shellac")
        for place in properties.indices { properties[place].copy(from: source, to: target) }
    }
}

/// The reason why no row can be read into an existing record whose class leaves its columns to
/// `Codable`.
struct CodingRefusal: Error {
    private let reason: String

    init(_ type: Record.Type, _ reason: String) { self.reason = "\(type) \(reason)" }

    /// The error that the caller gets in the end.
    var error: DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "\(reason). So no row can be read into an existing record: list its columns in columns(_:)."
        )
    }
}

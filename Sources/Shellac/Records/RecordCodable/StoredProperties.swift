// Locates, copies and sets the stored properties of objects by Swift's runtime metadata.

import CSQLite

/// The stored properties that a class declares itself, as its metadata describes them: not those of its superclasses.
///
/// Swift synthesizes `init(from:)` for a class, which makes an object, and nothing that sets the properties of an object
/// that is there already. A record is read again in place: so a second object is decoded, and what was decoded is copied
/// from one to the other, property by property. This type tells where the properties are, and copies them.
///
/// ## What is relied upon
///
/// Three functions of the runtime, which are those that `Mirror` itself calls. They tell how many stored properties a
/// class and its superclasses have, and of each its name, its type, its offset in the object, whether it is a `var`, and
/// whether it holds its value strongly. The superclasses' come first. They are not public, but the standard library
/// exports them. Nothing here reads metadata by itself, and so generic classes, classes below a class of another module,
/// and those whose layout is found when the program runs need no case of their own: the runtime knows them.
///
/// The other ways were tried. `_forEachField(of:options:body:)` calls the same functions, but does not tell a weak
/// property from a strong one, whose memory differs, nor a `let` from a `var`. `Mirror` tells no offsets. A key path cannot
/// be made from a name. The field descriptors can be read without these functions, but that is the runtime's work done
/// again, and crashes where it is done wrong.
///
/// ## Why it is safe
///
/// An object's memory is only touched as a value of the property's own type, at the property's own offset: so what was
/// there is released, and what comes is retained. Only what `isAssignable` is touched: a `var` (the compiler may keep a
/// `let` in a register), which is strong (a weak or unowned reference is another thing in memory than the optional that
/// it reads as), of a type that takes memory and is `Decodable`, which what Swift decodes is. That leaves out closures,
/// whatever is not copyable (which the runtime reports as `()`), and what the class keeps for itself.
///
/// The properties of each class have to fit: within the object, beyond what the superclass has, at addresses that their
/// types allow, and none over another.
///
/// Before each access the runtime is asked, by the function that compiled code itself calls, whether the property is being
/// accessed already: from within a mutating method of its value, or as an `inout` argument. Then the program stops, as it
/// would if the property was accessed by its name. (The optimizer relies on it: what is written meanwhile is lost.)
///
/// And before the first of all this, `isTrusted` compares what the runtime says of two classes of ours with where their
/// properties are.
///
/// ## When it refuses
///
/// `of(_:)` is nil where the check has failed, where the properties of a class do not fit, and where a class was compiled
/// with `-disable-reflection-metadata`. Then nothing is read or written.
///
/// ## What is not promised
///
/// Property observers do not run, as they do not in an initializer. Nobody who observes an `@Observable` object is told:
/// the registrar is told of a key path, and none can be made. And nothing is locked: an object is used by one thread.
struct StoredProperties: Sendable {
    /// In the order of their declaration, with those that cannot be touched.
    let properties: [StoredProperty]
    private let places: [String: Int]
    private let declaringClass: ObjectIdentifier

    subscript(name: String) -> StoredProperty? { places[name].map { properties[$0] } }

    /// Copies properties from one object to another. Those that cannot be assigned are left alone.
    ///
    /// - Parameter names: the names of properties, or nil for all of them. A name that the class does not know is ignored.
    /// - Precondition: both objects are of this class, or a class below it.
    func assign(_ names: Set<String>?, from source: AnyObject, to target: AnyObject) {
        precondition(
            isClass(of: source) && isClass(of: target),
            "properties are copied to an object of a class that does not have them: this is a bug of Shellac")
        // By their places, so that no property is retained.
        for place in properties.indices where names?.contains(properties[place].name) ?? true {
            properties[place].copy(from: source, to: target)
        }
    }

    /// Whether an object has these properties.
    private func isClass(of object: AnyObject) -> Bool {
        var ancestor: AnyClass? = type(of: object)
        while let candidate = ancestor {
            if ObjectIdentifier(candidate) == declaringClass { return true }
            ancestor = _getSuperclass(candidate)
        }
        return false
    }
}

/// A stored property of a class.
struct StoredProperty: Sendable {
    /// As the class stores it: `_title` for a `title` that is wrapped or observed, `$__lazy_storage_$_title` for a lazy one.
    let name: String
    let type: any Any.Type
    let offset: Int
    let isVariable: Bool
    /// False for a weak or unowned reference.
    let isStrong: Bool
    /// The name in the program.
    var plainName: String {
        let lazy = "$__lazy_storage_$_"
        return name.hasPrefix(lazy) ? String(name.dropFirst(lazy.count)) : name
    }
    /// Whether it can be read and written by what is told here.
    let isAssignable: Bool

    init(name: String, type: any Any.Type, offset: Int, isVariable: Bool = true, isStrong: Bool = true) {
        self.name = name
        self.type = type
        self.offset = offset
        self.isVariable = isVariable
        self.isStrong = isStrong
        isAssignable =
            isVariable && isStrong && !name.isEmpty && Layout(type).size > 0 && type is any Decodable.Type
    }

    /// Asks the runtime for a property of a class, or of its superclasses, whose properties come first.
    fileprivate init(at index: Int, of type: AnyClass) {
        var description = FieldDescription()
        let propertyType = describeField(type, index: index, &description)
        defer { description.free?(description.name) }
        self.init(
            name: description.name.map { String(cString: $0) } ?? "", type: propertyType,
            offset: offsetOfField(type, index: index), isVariable: description.isVariable,
            isStrong: description.isStrong)
    }

    // The object of each of these must be of the class that declares the property, or of a class below it: what calls
    // them has made sure, once for all properties.

    /// Copies the property from one object to another, unless it cannot be assigned.
    func copy(from source: AnyObject, to target: AnyObject) {
        if isAssignable { copy(as: self.type, from: source, to: target) }
    }

    private func copy<Value>(as _: Value.Type, from source: AnyObject, to target: AnyObject) {
        // Both are addresses of a whole value, and may be the same.
        let (from, to) = (address(in: source), address(in: target))
        shellac_stop_if_accessed(to, 1)
        // Not by `update(from:count:)`: it moves elements of an array, with the bytes between them, where the next property
        // of an object may lie.
        if _isPOD(Value.self) {
            to.copyMemory(from: from, byteCount: MemoryLayout<Value>.size)
        } else {
            to.assumingMemoryBound(to: Value.self).pointee = from.assumingMemoryBound(to: Value.self).pointee
        }
        extendLifetime(source)
        extendLifetime(target)
    }

    /// Reads the property of an object as what it is. Nil where it is of another type, or cannot be touched.
    func value<Value>(as type: Value.Type, in object: AnyObject) -> Value? {
        guard isAssignable, self.type == type else { return nil }
        let address = address(in: object)
        shellac_stop_if_accessed(address, 0)
        defer { extendLifetime(object) }
        return address.assumingMemoryBound(to: type).pointee
    }

    /// Sets the property of an object to a value of its very type.
    ///
    /// - Returns: false where it is of another type, or cannot be touched. Then nothing was set.
    func set<Value>(_ value: Value, in object: AnyObject) -> Bool {
        guard isAssignable, type == Value.self else { return false }
        let address = address(in: object)
        shellac_stop_if_accessed(address, 1)
        address.assumingMemoryBound(to: Value.self).pointee = value
        extendLifetime(object)
        return true
    }

    /// Returns the bytes of the property in an object.
    func bytes(in object: AnyObject) -> [UInt8] {
        defer { extendLifetime(object) }
        return Array(UnsafeRawBufferPointer(start: address(in: object), count: Layout(self.type).size))
    }

    private func address(in object: AnyObject) -> UnsafeMutableRawPointer {
        Unretained(object).context + offset
    }
}

// MARK: - The properties of a class

extension StoredProperties {
    private static let known = Lock<[ObjectIdentifier: StoredProperties?]>([:])

    /// Returns the properties of a class, or nil where they are not known for certain.
    static func of(_ type: AnyClass) -> StoredProperties? {
        let identifier = ObjectIdentifier(type)
        if let properties = known.withLock({ $0[identifier] }) { return properties }
        let properties = isTrusted ? StoredProperties(reflecting: type) : nil
        known.withLock { $0[identifier] = .some(properties) }
        return properties
    }

    /// Asks the runtime, unless its answers make no sense. The check of it uses this also, and nothing else does.
    init?(reflecting type: AnyClass) {
        let superclass: AnyClass? = _getSuperclass(type)
        let (first, end) = (superclass.map(countOfFields) ?? 0, countOfFields(type))
        let (start, size) = (superclass.map(Self.instanceSize) ?? 0, Self.instanceSize(of: type))
        guard first <= end, start <= size else { return nil }
        // A class that has more memory than its superclass has properties: they are not told.
        if first == end, start < size { return nil }
        properties = (first..<end).map { StoredProperty(at: $0, of: type) }
        guard Self.fit(properties, in: start..<size) else { return nil }
        places = Dictionary(
            properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        guard places.count == properties.count else { return nil }
        declaringClass = ObjectIdentifier(type)
    }

    /// Whether properties lie within the memory that a class adds to its superclass's, each at an address that its type
    /// allows, and none over another.
    static func fit(_ properties: [StoredProperty], in memory: Range<Int>) -> Bool {
        var end = memory.lowerBound
        for property in properties.sorted(by: { $0.offset < $1.offset }) {
            let layout = Layout(property.type)
            if layout.size == 0 { continue }
            guard property.offset >= end, property.offset % layout.alignment == 0 else { return false }
            end = property.offset + layout.size
        }
        return end <= memory.upperBound
    }

    private static func instanceSize(of type: AnyClass) -> Int {
        Int(extentsOfInstance(type).positive)
    }
}

/// The size of a type that is known only when the program runs.
private struct Layout {
    let size: Int
    let alignment: Int

    init(_ type: any Any.Type) {
        func layout<Value>(_: Value.Type) -> (Int, Int) {
            (MemoryLayout<Value>.size, MemoryLayout<Value>.alignment)
        }
        (size, alignment) = layout(type)
    }
}

// MARK: - The runtime

/// The `_FieldReflectionMetadata` of ReflectionMirror.swift in the standard library, which `Mirror` uses.
private struct FieldDescription {
    var name: UnsafePointer<CChar>?
    var free: (@convention(c) (UnsafePointer<CChar>?) -> Void)?
    var isStrong = false
    var isVariable = false
}

@_silgen_name("swift_reflectionMirror_recursiveCount")
private func countOfFields(_ type: any Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func describeField(
    _ type: any Any.Type, index: Int, _ description: UnsafeMutablePointer<FieldDescription>
) -> any Any.Type

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func offsetOfField(_ type: any Any.Type, index: Int) -> Int

// Called by inlinable code of the standard library, and so a part of what it promises. (The function of Objective-C,
// `class_getInstanceSize`, rounds up, and a property may lie in what is rounded.)
#if canImport(ObjectiveC)
@_silgen_name("_swift_getObjCClassInstanceExtents")
private func extentsOfInstance(_ type: AnyClass) -> (negative: UInt, positive: UInt)
#else
@_silgen_name("_swift_getSwiftClassInstanceExtents")
private func extentsOfInstance(_ type: AnyClass) -> (negative: UInt, positive: UInt)
#endif

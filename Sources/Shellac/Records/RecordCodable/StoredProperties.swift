// Locates, copies and sets the stored properties of objects by Swift's runtime metadata.

import CSQLite

/// The stored properties that a class itself declares, as its metadata describes them, without its
/// superclasses'.
///
/// For a class, Swift synthesizes `init(from:)`, which makes an object. It synthesizes nothing that
/// sets the properties of an existing object. But records are also read again in place. So a second
/// object is decoded, and its properties are copied to the first object, one by one. This type
/// locates the properties, and copies them.
///
/// ## Functions it relies on
///
/// This type calls three functions of the runtime, which `Mirror` calls too. They return the number
/// of stored properties of a class and its superclasses. For each property they return the name,
/// the type, and the offset in the object. They also return whether it is a `var`, and whether it
/// holds its value strongly. The superclasses' properties come first.
///
/// The functions are not public, but the standard library exports them. Nothing here reads metadata
/// directly. So the runtime handles all special cases: generic classes, classes below a class of
/// another module, and classes whose layout is computed at run time.
///
/// The alternatives were tried. `_forEachField(of:options:body:)` calls the same functions. But it
/// does not distinguish a weak property from a strong one, whose memory differs, nor a `let` from a
/// `var`. `Mirror` has no offsets. A key path cannot be made from a name. Field descriptors can
/// be read without these functions, but that repeats the runtime's work, and crashes if done wrong.
///
/// ## Why it is safe
///
/// The code touches an object's memory only as a value of the property's own type, at the
/// property's own offset. So the old value is released, and the new one is retained. It touches
/// only properties that are `isAssignable`:
///
/// - The property is a `var`. (The compiler may keep a `let` in a register.)
/// - It is strong. (In memory, a weak or unowned reference differs from the optional that it reads
///   as.)
/// - Its type takes memory and is `Decodable`, as everything that Swift decodes is.
///
/// This leaves out closures, types that are not copyable (which the runtime reports as `()`), and
/// internal fields of the class.
///
/// The properties of each class have to fit. They lie within the object and beyond the superclass's
/// memory, at addresses that their types allow, and do not overlap.
///
/// Before each access, the code asks the runtime whether the property is already being accessed.
/// That may happen in a mutating method of its value, or as an `inout` argument. It uses the
/// function that compiled code itself calls. If there is a conflicting access, the program stops,
/// as it would if the property were accessed by name. (The optimizer relies on this, and a value
/// written during another access is lost.)
///
/// Before the first access, `isTrusted` compares the runtime's description of two private classes
/// with the real places of their properties.
///
/// ## When it refuses
///
/// `of(_:)` is nil if the check failed, if the properties of a class do not fit, or if a class was
/// compiled with `-disable-reflection-metadata`. Then nothing is read or written.
///
/// ## Limits
///
/// Property observers do not run, as in an initializer. The observers of an `@Observable` object
/// are not notified: the registrar needs a key path, and none can be made. And nothing is locked,
/// because an object is used by one thread.
struct StoredProperties: Sendable {
    /// The properties in the order of their declaration, including the ones that cannot be touched.
    let properties: [StoredProperty]
    private let places: [String: Int]
    private let declaringClass: ObjectIdentifier

    subscript(name: String) -> StoredProperty? { places[name].map { properties[$0] } }

    /// Copies properties from one object to another. Properties that cannot be assigned are
    /// skipped.
    ///
    /// - Parameter names: The names of properties, or nil for all of them. Unknown names are
    ///   ignored.
    /// - Precondition: both objects are of this class, or a class below it.
    func assign(_ names: Set<String>?, from source: AnyObject, to target: AnyObject) {
        precondition(
            isClass(of: source) && isClass(of: target),
            "properties cannot be copied to an object whose class lacks them: this is a bug in Shellac")
        // Iterate over indices, so that no property is retained.
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
    /// The name as the class stores it. It is `_title` if `title` is wrapped or observed, and
    /// `$__lazy_storage_$_title` if it is lazy.
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
    /// Whether this type can read and write the property.
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

    /// Asks the runtime for a property of a class or its superclasses. The superclasses' properties
    /// come first.
    fileprivate init(at index: Int, of type: AnyClass) {
        var description = FieldDescription()
        let propertyType = describeField(type, index: index, &description)
        defer { description.free?(description.name) }
        self.init(
            name: description.name.map { String(cString: $0) } ?? "", type: propertyType,
            offset: offsetOfField(type, index: index), isVariable: description.isVariable,
            isStrong: description.isStrong)
    }

    // For each of these functions, the object must be of the class that declares the property, or
    // of a class below it. The caller has checked this once for all properties.

    /// Copies the property from one object to another, unless it cannot be assigned.
    func copy(from source: AnyObject, to target: AnyObject) {
        if isAssignable { copy(as: self.type, from: source, to: target) }
    }

    private func copy<Value>(as _: Value.Type, from source: AnyObject, to target: AnyObject) {
        // Both are addresses of a whole value, and may be the same.
        let (from, to) = (address(in: source), address(in: target))
        shellac_stop_if_accessed(to, 1)
        // `update(from:count:)` would be wrong. It moves array elements with the bytes between
        // them, and the next property of an object may lie in these bytes.
        if _isPOD(Value.self) {
            to.copyMemory(from: from, byteCount: MemoryLayout<Value>.size)
        } else {
            to.assumingMemoryBound(to: Value.self).pointee = from.assumingMemoryBound(to: Value.self).pointee
        }
        extendLifetime(source)
        extendLifetime(target)
    }

    /// Returns the property of an object as its own type. Nil if it is of another type, or cannot
    /// be touched.
    func value<Value>(as type: Value.Type, in object: AnyObject) -> Value? {
        guard isAssignable, self.type == type else { return nil }
        let address = address(in: object)
        shellac_stop_if_accessed(address, 0)
        defer { extendLifetime(object) }
        return address.assumingMemoryBound(to: type).pointee
    }

    /// Sets the property of an object to a value of exactly its type.
    ///
    /// - Returns: false if it is of another type, or cannot be touched. Then nothing was set.
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

    /// Returns the properties of a class, or nil if they are not known for certain.
    static func of(_ type: AnyClass) -> StoredProperties? {
        let identifier = ObjectIdentifier(type)
        if let properties = known.withLock({ $0[identifier] }) { return properties }
        let properties = isTrusted ? StoredProperties(reflecting: type) : nil
        known.withLock { $0[identifier] = .some(properties) }
        return properties
    }

    /// Asks the runtime, and fails if its answers make no sense. Apart from `of(_:)`, only the
    /// check calls it directly.
    init?(reflecting type: AnyClass) {
        let superclass: AnyClass? = _getSuperclass(type)
        let (first, end) = (superclass.map(countOfFields) ?? 0, countOfFields(type))
        let (start, size) = (superclass.map(Self.instanceSize) ?? 0, Self.instanceSize(of: type))
        guard first <= end, start <= size else { return nil }
        // If a class has more memory than its superclass, it has properties, and the runtime did
        // not report them.
        if first == end, start < size { return nil }
        properties = (first..<end).map { StoredProperty(at: $0, of: type) }
        guard Self.fit(properties, in: start..<size) else { return nil }
        places = Dictionary(
            properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        guard places.count == properties.count else { return nil }
        declaringClass = ObjectIdentifier(type)
    }

    /// Whether properties lie within the memory that a class adds to its superclass's. Each must be
    /// at an address that its type allows, and none may overlap another.
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

/// The size of a type that is known only at run time.
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

/// The `_FieldReflectionMetadata` of ReflectionMirror.swift in the standard library, which `Mirror`
/// uses.
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

// Inlinable code of the standard library calls these functions, so they are part of its stable ABI.
// (The Objective-C function `class_getInstanceSize` rounds up, and the next property may lie in the
// rounding.)
#if canImport(ObjectiveC)
@_silgen_name("_swift_getObjCClassInstanceExtents")
private func extentsOfInstance(_ type: AnyClass) -> (negative: UInt, positive: UInt)
#else
@_silgen_name("_swift_getSwiftClassInstanceExtents")
private func extentsOfInstance(_ type: AnyClass) -> (negative: UInt, positive: UInt)
#endif

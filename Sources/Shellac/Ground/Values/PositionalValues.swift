/// The values that a statement binds by position.
///
/// A single value, the most frequent case, needs no array.
@usableFromInline
enum PositionalValues: Hashable, Sendable {
    case one(DatabaseValue)
    case many([DatabaseValue])

    var array: [DatabaseValue] {
        switch self {
        case .one(let value): [value]
        case .many(let values): values
        }
    }

    var count: Int {
        switch self {
        case .one: 1
        case .many(let values): values.count
        }
    }

    @usableFromInline
    static func == (a: Self, b: Self) -> Bool { a.array == b.array }

    @usableFromInline
    func hash(into hasher: inout Hasher) { hasher.combine(array) }
}

extension PositionalValues {
    private typealias Value = any DatabaseValueConvertible

    /// Creates the values of a literal.
    ///
    /// Copying an optional existential goes through the runtime, and costs more than binding its
    /// value. So the values are read in place.
    init(_ elements: [(any DatabaseValueConvertible)?]) {
        guard Self.areValuesUnchanged else {
            self = .many(elements.map { $0?.databaseValue ?? .null })
            return
        }
        self = elements.withUnsafeBytes { bytes in
            if elements.count == 1 { return .one(Self.databaseValue(in: bytes, at: 0)) }
            var values: [DatabaseValue] = []
            values.reserveCapacity(elements.count)
            for index in elements.indices { values.append(Self.databaseValue(in: bytes, at: index)) }
            return .many(values)
        }
    }

    @inline(__always)
    private static func databaseValue(in bytes: UnsafeRawBufferPointer, at index: Int) -> DatabaseValue {
        let element = bytes.baseAddress.unsafelyUnwrapped + index * MemoryLayout<Value?>.stride
        guard element.load(fromByteOffset: typeOffset, as: UInt.self) != 0 else { return .null }
        return element.assumingMemoryBound(to: Value.self).pointee.databaseValue
    }

    /// The offset of the type in an existential. In an optional one that is nil, the word there is
    /// zero.
    private static var typeOffset: Int { 3 * MemoryLayout<UInt>.size }

    /// Whether an optional existential has the layout that this code relies on. Swift's stable ABI
    /// guarantees it.
    private static let areValuesUnchanged: Bool = {
        func type(of value: Value?) -> UInt {
            withUnsafeBytes(of: value) { $0.load(fromByteOffset: typeOffset, as: UInt.self) }
        }
        return MemoryLayout<Value?>.size == MemoryLayout<Value>.size
            && MemoryLayout<Value?>.stride == 5 * MemoryLayout<UInt>.size
            && type(of: nil) == 0 && type(of: 1) == UInt(bitPattern: ObjectIdentifier(Int.self))
    }()
}

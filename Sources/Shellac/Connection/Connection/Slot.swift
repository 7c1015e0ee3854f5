/// A place on a connection for an object of an upper layer.
///
/// The object belongs to the connection, whose own layer does not know its type. The layer that
/// fills a slot declares it, next to the accessor of the object:
///
/// ```swift
/// extension Slot<SchemaCache> {
///     static var schemaCache: Self { Slot(4, until: .closing) }
/// }
/// ```
///
/// Reading a slot takes one load: its number is a constant, and the object is not
/// reference-counted. See `Unretained.use(_:)`.
struct Slot<Value: AnyObject> {
    /// The number of the slot, which is unique.
    let number: Int
    /// The lifetime of the object in the slot.
    let lifetime: SlotLifetime

    init(_ number: Int, until lifetime: SlotLifetime = .deinitialization) {
        self.number = number
        self.lifetime = lifetime
    }
}

/// The lifetime of an object in its slot.
enum SlotLifetime: Equatable {
    /// Until the connection is about to close, even if SQLite then refuses. For objects that hold
    /// statements, which would keep the connection open, and that can be recreated.
    case closing
    /// Until the connection is closed. For objects that SQLite's hooks notify of changes.
    case closed
    /// Until the `Database` is deinitialized. For objects that SQLite may call as long as the
    /// connection exists.
    case deinitialization
}

/// The objects in the slots of a connection.
struct Slots: ~Copyable {
    private typealias Object = Unmanaged<AnyObject>
    private typealias Objects = (
        Object?, Object?, Object?, Object?, Object?, Object?, Object?, Object?, Object?, Object?
    )

    private var objects: Objects = (nil, nil, nil, nil, nil, nil, nil, nil, nil, nil)
    /// The lifetimes of the objects in the slots.
    private var lifetimes: [SlotLifetime] = Array(repeating: .deinitialization, count: numbers.count)

    deinit { for number in Self.numbers { self[number]?.release() } }

    /// The numbers of all slots.
    static var numbers: Range<Int> { 0..<10 }

    /// The object with a number. (The number is usually a constant, and this a load.)
    private subscript(number: Int) -> Object? {
        get {
            switch number {
            case 0: objects.0
            case 1: objects.1
            case 2: objects.2
            case 3: objects.3
            case 4: objects.4
            case 5: objects.5
            case 6: objects.6
            case 7: objects.7
            case 8: objects.8
            case 9: objects.9
            default: preconditionFailure("there is no slot \(number)")
            }
        }
        set {
            switch number {
            case 0: objects.0 = newValue
            case 1: objects.1 = newValue
            case 2: objects.2 = newValue
            case 3: objects.3 = newValue
            case 4: objects.4 = newValue
            case 5: objects.5 = newValue
            case 6: objects.6 = newValue
            case 7: objects.7 = newValue
            case 8: objects.8 = newValue
            case 9: objects.9 = newValue
            default: preconditionFailure("there is no slot \(number)")
            }
        }
    }

    /// Returns the object in a slot. No other code fills the slot, so the object has its type.
    func object<Value>(in slot: Slot<Value>) -> Unretained<Value>? {
        self[slot.number].map { Unretained(context: $0.toOpaque()) }
    }

    /// Returns the object in the slot with a number.
    func object(at number: Int) -> AnyObject? { self[number]?.takeUnretainedValue() }

    /// Puts an object into a slot. Returns the previous object, for the caller to release: freeing
    /// it may use the slots again.
    mutating func fill<Value>(_ slot: Slot<Value>, with object: Value?) -> AnyObject? {
        assert(
            object.map { SlotOwners.claim(slot.number, for: $0) } ?? true,
            "two layers have a slot of the number \(slot.number)")
        let old = self[slot.number]
        self[slot.number] = object.map { .passRetained($0) }
        lifetimes[slot.number] = slot.lifetime
        return old?.takeRetainedValue()
    }

    /// Removes and returns the objects with the given lifetime.
    mutating func takeObjects(until lifetime: SlotLifetime) -> [AnyObject] {
        var taken: [AnyObject] = []
        for number in Self.numbers where lifetimes[number] == lifetime {
            if let object = self[number] { taken.append(object.takeRetainedValue()) }
            self[number] = nil
        }
        return taken
    }
}

/// The class of the objects in each slot, for a check in debug builds.
private enum SlotOwners {
    private static let classes = Lock<[Int: ObjectIdentifier]>([:])

    /// Returns false if a slot with this number already holds objects of another class.
    static func claim(_ number: Int, for object: AnyObject) -> Bool {
        let new = ObjectIdentifier(type(of: object))
        return classes.withLock { classes in
            let owner = classes[number] ?? new
            classes[number] = owner
            return owner == new
        }
    }
}

extension Database {
    /// Returns the object in a slot, without reference counting: see `Unretained.use(_:)`.
    func object<Value>(in slot: Slot<Value>) -> Unretained<Value>? { slots.object(in: slot) }

    /// Puts an object into a slot, or clears the slot.
    func fill<Value>(_ slot: Slot<Value>, with object: Value?) {
        let old = slots.fill(slot, with: object)
        // Freeing the old object may use the slot.
        withExtendedLifetime(old) {}
    }
}

/// A place on a connection for an object of an upper layer: what it keeps there belongs to the connection, whose own layer
/// does not know what it is.
///
/// The layer that fills a place declares it, beside the accessor of what it keeps there:
///
/// ```swift
/// extension Slot<SchemaCache> {
///     static var schemaCache: Self { Slot(4, until: .closing) }
/// }
/// ```
///
/// To look into one is one load: its number is a constant, and the object is followed without counting a reference. See
/// `Unretained.use(_:)`.
struct Slot<Value: AnyObject> {
    /// The number of the place, which no other slot has.
    let number: Int
    /// The time for which the object is there.
    let lifetime: SlotLifetime

    init(_ number: Int, until lifetime: SlotLifetime = .deinitialization) {
        self.number = number
        self.lifetime = lifetime
    }
}

/// The time for which an object stays in its slot.
enum SlotLifetime: Equatable {
    /// It holds statements, which would keep the connection open, and can be made again: it goes when the connection is to
    /// be closed, also if SQLite then refuses.
    case closing
    /// It hears of changes by SQLite's hooks: it goes when the connection is closed.
    case closed
    /// SQLite may call it as long as the connection is there: it goes with the `Database`.
    case deinitialization
}

/// The objects in the slots of a connection.
struct Slots: ~Copyable {
    private typealias Object = Unmanaged<AnyObject>
    private typealias Objects = (
        Object?, Object?, Object?, Object?, Object?, Object?, Object?, Object?, Object?, Object?
    )

    private var objects: Objects = (nil, nil, nil, nil, nil, nil, nil, nil, nil, nil)
    /// How long those in use stay.
    private var lifetimes: [SlotLifetime] = Array(repeating: .deinitialization, count: numbers.count)

    deinit { for number in Self.numbers { self[number]?.release() } }

    /// The numbers of all places.
    static var numbers: Range<Int> { 0..<10 }

    /// The object in a place. (The number is a constant, mostly, and this a load.)
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

    /// Looks into a slot. Nobody else fills it: what is there is of its type.
    func object<Value>(in slot: Slot<Value>) -> Unretained<Value>? {
        self[slot.number].map { Unretained(context: $0.toOpaque()) }
    }

    /// Looks into the place with a number.
    func object(at number: Int) -> AnyObject? { self[number]?.takeUnretainedValue() }

    /// Puts an object into a slot. Returns the one that was there, to be let go of where it may come back here.
    mutating func fill<Value>(_ slot: Slot<Value>, with object: Value?) -> AnyObject? {
        assert(
            object.map { SlotOwners.claim(slot.number, for: $0) } ?? true,
            "two layers have a slot of the number \(slot.number)")
        let old = self[slot.number]
        self[slot.number] = object.map { .passRetained($0) }
        lifetimes[slot.number] = slot.lifetime
        return old?.takeRetainedValue()
    }

    /// Takes the objects whose time is over.
    mutating func takeObjects(until lifetime: SlotLifetime) -> [AnyObject] {
        var taken: [AnyObject] = []
        for number in Self.numbers where lifetimes[number] == lifetime {
            if let object = self[number] { taken.append(object.takeRetainedValue()) }
            self[number] = nil
        }
        return taken
    }
}

/// The class of the objects in each slot, in debug builds.
private enum SlotOwners {
    private static let classes = Lock<[Int: ObjectIdentifier]>([:])

    /// Returns false if objects of another class are put into the slots of this number.
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
    /// The object in a slot, to be followed without counting: see `Unretained.use(_:)`.
    func object<Value>(in slot: Slot<Value>) -> Unretained<Value>? { slots.object(in: slot) }

    /// Puts an object into a slot, or none.
    func fill<Value>(_ slot: Slot<Value>, with object: Value?) {
        let old = slots.fill(slot, with: object)
        // The object that is freed may look into the slot.
        withExtendedLifetime(old) {}
    }
}

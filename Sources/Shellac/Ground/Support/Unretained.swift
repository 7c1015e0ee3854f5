/// An object that somebody else keeps alive, followed without counting.
///
/// Following a reference counts it, and a count is an atomic instruction, which takes longer than most of what is done
/// with the object. On the ways that are taken most, an object that is sure to live on is followed by one of these.
///
/// The property that keeps the object alive needs no second one beside it: made of the first one where it is asked for,
/// by a property that is inlined, this is the loaded address and nothing else.
///
/// ```swift
/// @exclusivity(unchecked) private var layout: RowLayout
/// var layoutReference: Unretained<RowLayout> { Unretained(layout) }
/// ```
struct Unretained<Object: AnyObject>: Equatable {
    private let reference: Unmanaged<Object>

    init(_ object: Object) { reference = .passUnretained(object) }

    /// Follows a reference that was given to C as a ``context``.
    init(context: UnsafeRawPointer) { reference = .fromOpaque(context) }

    /// Runs a function with the object, which somebody else keeps alive until the function has returned.
    @inline(__always)
    func use<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
        try reference._withUnsafeGuaranteedRef(body)
    }

    /// The object, which is counted from here on: for those that keep it.
    var object: Object { reference.takeUnretainedValue() }

    /// The address, as C hands it to a callback.
    var context: UnsafeMutableRawPointer { reference.toOpaque() }

    /// Whether this is an object, and not one that is equal to it.
    func isSame(as object: Object) -> Bool { self == Unretained(object) }

    static func == (a: Self, b: Self) -> Bool { a.reference.toOpaque() == b.reference.toOpaque() }
}

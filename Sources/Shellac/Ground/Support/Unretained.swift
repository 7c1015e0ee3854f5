/// An uncounted reference to an object that something else keeps alive.
///
/// Following a counted reference takes an atomic instruction, which is slower than most of the work
/// done with the object. On hot paths, use this type for an object that is sure to live on.
///
/// The property that keeps the object alive needs no second stored property beside it. Let an
/// inlined property create the uncounted reference from the first one. It compiles to a load of the
/// address and nothing else.
///
/// ```swift
/// @exclusivity(unchecked) private var layout: RowLayout
/// var layoutReference: Unretained<RowLayout> { Unretained(layout) }
/// ```
struct Unretained<Object: AnyObject>: Equatable {
    private let reference: Unmanaged<Object>

    init(_ object: Object) { reference = .passUnretained(object) }

    /// Wraps a reference that was given to C as a ``context``.
    init(context: UnsafeRawPointer) { reference = .fromOpaque(context) }

    /// Calls a function with the object. Something else must keep the object alive until the
    /// function returns.
    @inline(__always)
    func use<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
        try reference._withUnsafeGuaranteedRef(body)
    }

    /// The object as a counted reference, for callers that keep it.
    var object: Object { reference.takeUnretainedValue() }

    /// The address, in the form that C passes to a callback.
    var context: UnsafeMutableRawPointer { reference.toOpaque() }

    /// Whether this is the very same object, and not merely an equal one.
    func isSame(as object: Object) -> Bool { self == Unretained(object) }

    static func == (a: Self, b: Self) -> Bool { a.reference.toOpaque() == b.reference.toOpaque() }
}

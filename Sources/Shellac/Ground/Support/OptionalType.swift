/// An optional, which a cast finds.
protocol OptionalType {
    static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalType {
    static var wrappedType: any Any.Type { Wrapped.self }
}

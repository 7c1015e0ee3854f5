/// A value on its way from one region to another: put in once, taken out once.
final class Handover<Value>: @unchecked Sendable {  // `value` is written once, then read once
    private var value: Value?

    init(_ value: sending Value) { self.value = value }

    func take() -> sending Value {
        guard let value else { Misuse.trap("a value was handed over twice") }
        self.value = nil
        nonisolated(unsafe) let taken = value
        return taken
    }
}

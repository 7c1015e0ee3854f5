import TestSupport
import Testing

@testable import Shellac

@Suite("Slots of a connection")
struct SlotTests {
    private final class First {}
    private final class Second {}

    @Test("a slot holds its object, gives back the one before, and is emptied when its time is over")
    func filling() async {
        // In a process of its own: this one has other objects in its slots.
        await #expect(processExitsWith: .success) {
            var slots = Slots()
            let slot = Slot<First>(8, until: .closing)
            let (one, other) = (First(), First())
            let before = slots.fill(slot, with: one)
            #expect(before == nil)
            #expect(slots.object(at: 8) === one)
            let replaced = slots.fill(slot, with: other)
            #expect(replaced === one)
            #expect(slots.takeObjects(until: .closed).isEmpty)
            let taken = slots.takeObjects(until: .closing)
            #expect(taken.count == 1 && taken.first === other)
            #expect(slots.object(at: 8) == nil)
        }
    }

    #if DEBUG
    @Test("two layers that use the same number stop a debug build")
    func collision() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            crashWithoutBacktrace()
            var slots = Slots()
            _ = slots.fill(Slot<First>(9), with: First())
            _ = slots.fill(Slot<Second>(9), with: Second())
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("two layers have a slot of the number 9"), "\(text)")
    }
    #endif
}

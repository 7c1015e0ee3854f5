#if os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("Allocations of records")
struct AllocationTests {
    #if DEBUG
    private static let isOptimized = false
    #else
    private static let isOptimized = true
    #endif

    /// The records that are compared without a search, and without a date's other format. If the
    /// compiler does not optimize, these need the heap.
    private static let fastest = ["inserted", "updated", "set to false", "Int in REAL", "Double in INTEGER"]

    @Test("hasDatabaseChanges allocates nothing when nothing changed", .behaviour(16))
    func nothing() async throws {
        let counted = try await AllocationCount.run()
        #expect(counted.succeeded, "\(counted.output)")
        let lines = counted.output.split(separator: "\n")
        #expect(lines.count == 17)
        for line in lines {
            #expect(line.hasSuffix(", 0 changes"))
            if Self.isOptimized || Self.fastest.contains(where: line.hasPrefix) {
                #expect(line.hasSuffix(": 0 allocations, 0 changes"))
            }
        }
    }
}
#endif

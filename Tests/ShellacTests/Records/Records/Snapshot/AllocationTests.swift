#if os(Linux)
import Foundation
import TestSupport
import Testing

@Suite("Allocations of records")
struct AllocationTests {
    /// An allocator that counts, and leaves the work to the C library's.
    private static let allocator = """
        #include <stddef.h>
        extern void *__libc_malloc(size_t);
        extern void *__libc_calloc(size_t, size_t);
        extern void *__libc_realloc(void *, size_t);
        extern void *__libc_memalign(size_t, size_t);
        static unsigned long count;
        unsigned long shellac_test_allocation_count(void) { return count; }
        void *malloc(size_t size) { count++; return __libc_malloc(size); }
        void *calloc(size_t n, size_t size) { count++; return __libc_calloc(n, size); }
        void *realloc(void *old, size_t size) { count++; return __libc_realloc(old, size); }
        void *memalign(size_t alignment, size_t size) { count++; return __libc_memalign(alignment, size); }
        void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
        int posix_memalign(void **result, size_t alignment, size_t size) {
            *result = memalign(alignment, size);
            return *result ? 0 : 12;
        }
        """

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
        let folder = try TemporaryFolder()
        let source = try folder.write(Self.allocator.utf8, to: "allocator.c")
        let library = folder.path("allocator.so")
        let compiled = try await Command.run([
            "clang", "-shared", "-fPIC", "-fno-builtin", "-o", library, source,
        ])
        try #require(compiled.succeeded, "\(compiled.output)")
        let program = try Repository.modules().deletingLastPathComponent().appending(path: "AllocationCount")
        let counted = try await Command.run(["LD_PRELOAD=\(library)", program.path])
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

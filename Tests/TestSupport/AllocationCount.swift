#if os(Linux)
/// The program that counts allocations.
public enum AllocationCount {
    /// An allocator that counts, and leaves the work to the C library's.
    private static let allocator = """
        #include <stdatomic.h>
        #include <stddef.h>
        extern void *__libc_malloc(size_t);
        extern void *__libc_calloc(size_t, size_t);
        extern void *__libc_realloc(void *, size_t);
        extern void *__libc_memalign(size_t, size_t);
        extern void __libc_free(void *);
        static atomic_ulong count;
        static atomic_long live;
        unsigned long shellac_test_allocation_count(void) { return count; }
        long shellac_test_live_blocks(void) { return live; }
        static void *counted(void *block) { count++; if (block) live++; return block; }
        void *malloc(size_t size) { return counted(__libc_malloc(size)); }
        void *calloc(size_t n, size_t size) { return counted(__libc_calloc(n, size)); }
        void *realloc(void *old, size_t size) {
            if (!old) return counted(__libc_realloc(old, size));
            if (!size) live--;
            count++;
            return __libc_realloc(old, size);
        }
        void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }
        void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
        int posix_memalign(void **result, size_t alignment, size_t size) {
            *result = memalign(alignment, size);
            return *result ? 0 : 12;
        }
        void free(void *block) { if (block) live--; __libc_free(block); }
        """

    /// Runs the program with the allocator.
    ///
    /// - Parameter arguments: The arguments of the program.
    /// - Throws: an error if the allocator cannot be compiled.
    public static func run(_ arguments: String...) async throws -> Command {
        let folder = try TemporaryFolder()
        let source = try folder.write(allocator.utf8, to: "allocator.c")
        let library = folder.path("allocator.so")
        let compiled = try await Command.run([
            "clang", "-shared", "-fPIC", "-fno-builtin", "-o", library, source,
        ])
        guard compiled.succeeded else { throw Failure(output: compiled.output) }
        let program = try Repository.modules().deletingLastPathComponent().appending(path: "AllocationCount")
        return try await Command.run(["LD_PRELOAD=\(library)", program.path] + arguments)
    }

    private struct Failure: Error { let output: String }
}
#endif

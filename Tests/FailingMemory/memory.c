// An allocator of SQLite that forwards to the one of the system, and fails on request.

#include "FailingMemory.h"

#include <sqlite3.h>
#include <stddef.h>

static sqlite3_mem_methods system_memory;
/// The number of allocations until the failure, or -1 if none will fail.
static _Thread_local long remaining = -1;
static _Thread_local int failure_lasts = 0;
static _Thread_local long failures = 0;
static _Thread_local int refuses_reserves = 0;

static int fails(void) {
    if (remaining < 0) { return 0; }
    if (remaining > 0) {
        remaining -= 1;
        return 0;
    }
    failures += 1;
    if (!failure_lasts) { remaining = -1; }
    return 1;
}

static void *allocate(int size) {
    if (refuses_reserves && size >= 1 << 15) { return NULL; }
    return fails() ? NULL : system_memory.xMalloc(size);
}

static void *resize(void *memory, int size) { return fails() ? NULL : system_memory.xRealloc(memory, size); }

/// SQLite takes an allocator only before it is set up.
__attribute__((constructor)) static void install(void) {
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory) != SQLITE_OK) { return; }
    sqlite3_mem_methods methods = system_memory;
    methods.xMalloc = allocate;
    methods.xRealloc = resize;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

void shellac_test_fail_memory(long count, int lasts) {
    remaining = count;
    failure_lasts = lasts;
    failures = 0;
}

long shellac_test_restore_memory(void) {
    remaining = -1;
    return failures;
}

void shellac_test_refuse_reserves(int refuses) { refuses_reserves = refuses; }

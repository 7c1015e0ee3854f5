// An allocator of SQLite that fails on request.

#ifndef FAILING_MEMORY_H
#define FAILING_MEMORY_H

/// Lets an allocation that SQLite makes on the calling thread fail.
///
/// @param count The number of allocations that succeed before.
/// @param lasts Whether all later ones fail, too.
void shellac_test_fail_memory(long count, int lasts);

/// Lets all allocations of the calling thread succeed from now on. Returns how many have failed.
long shellac_test_restore_memory(void);

/// Refuses allocations of 32 kilobytes or more on the calling thread, or stops to do so. A connection
/// that opens meanwhile has no reserve for small allocations, and asks the allocator for each.
void shellac_test_refuse_reserves(int refuses);

#endif

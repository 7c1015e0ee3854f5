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

/// Lets a connection ask the allocator for each piece of memory. Otherwise it has a reserve for the
/// small ones. Returns a result code.
int shellac_test_leave_no_reserve(void *connection);

#endif

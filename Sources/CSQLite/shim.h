// SQLite's C interface as far as Swift cannot import it: macros with casts, variadic functions.
//
// It also includes the headers of the C library that the package needs. So no Swift file imports
// Darwin, Glibc or another C library by its name.

#ifndef SHELLAC_SHIM_H
#define SHELLAC_SHIM_H

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

/// The number of the last error of the C library on this thread.
static inline int shellac_errno(void) { return errno; }

/// The description of the last error of the C library on this thread.
static inline const char *shellac_error_text(void) { return strerror(errno); }

/// Whether the mode of a file's status is that of a folder.
static inline bool shellac_is_folder(mode_t mode) { return S_ISDIR(mode); }

/// Whether the mode of a file's status is that of a regular file.
static inline bool shellac_is_regular(mode_t mode) { return S_ISREG(mode); }

/// The time when a file was changed last.
static inline struct timespec shellac_modified(const struct stat *status) {
#if defined(__APPLE__)
    return status->st_mtimespec;
#else
    return status->st_mtim;
#endif
}

/// write(), by a name that no method has.
static inline long shellac_write(int descriptor, const void *bytes, size_t count) {
    return write(descriptor, bytes, count);
}

/// Whether the process can open so many more files, 16 at the most.
static inline bool shellac_can_open_files(int count) {
    int descriptors[16], opened = 0;
    while (opened < count && opened < 16 && (descriptors[opened] = dup(STDERR_FILENO)) >= 0) opened++;
    bool has_all = opened == count || (errno != EMFILE && errno != ENFILE);
    while (opened > 0) close(descriptors[--opened]);
    return has_all;
}

/// Lets a write to a closed pipe fail, instead of ending the process.
static inline void shellac_ignore_closed_pipes(void) { signal(SIGPIPE, SIG_IGN); }

/// A function of this process, or NULL if there is none of that name.
static inline void *shellac_symbol(const char *name) {
#if defined(__APPLE__)
    return dlsym((void *)-2, name);  // RTLD_DEFAULT
#else
    return dlsym((void *)0, name);  // RTLD_DEFAULT, which the headers may hide
#endif
}

/// open(), with the permissions of a file that it creates.
static inline int shellac_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }

/// SQLITE_TRANSIENT: SQLite copies the bytes before the call returns.
static inline sqlite3_destructor_type shellac_transient(void) { return SQLITE_TRANSIENT; }

/// SQLITE_STATIC: the bytes outlive the statement's execution.
static inline sqlite3_destructor_type shellac_static(void) { return SQLITE_STATIC; }

/// sqlite3_db_config() for the switches that take an on/off argument.
static inline int shellac_db_config(sqlite3 *db, int verb, int on) {
    int current = 0;
    return sqlite3_db_config(db, verb, on, &current);
}

/// Whether a switch of sqlite3_db_config() is on.
static inline int shellac_db_config_value(sqlite3 *db, int verb) {
    int current = 0;
    return sqlite3_db_config(db, verb, -1, &current) == SQLITE_OK ? current : 0;
}

/// sqlite3_config(SQLITE_CONFIG_LOG). It must be called before SQLite is initialized.
static inline int shellac_config_log(void (*log)(void *, int, const char *)) {
    return sqlite3_config(SQLITE_CONFIG_LOG, log, (void *)0);
}

/// Whether the calling thread is the first thread of the process.
static inline int shellac_is_main_thread(void) {
#if defined(__linux__)
    return syscall(SYS_gettid) == getpid();
#else
    return pthread_main_np() != 0;
#endif
}

/// The calling thread as a number, for comparisons.
static inline uintptr_t shellac_thread(void) {
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    // This is a single instruction, because it runs for each row.
    return (uintptr_t)__builtin_thread_pointer();
#else
    return (uintptr_t)pthread_self();
#endif
}

/// The number of columns of a terminal, or 0 if unknown. (ioctl() is variadic.)
static inline int shellac_terminal_width(int descriptor) {
    struct winsize size = {0};
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/// Reads the number of columns and of lines of a terminal: zeros if they are unknown.
static inline void shellac_terminal_size(int descriptor, int *columns, int *lines) {
    struct winsize size = {0};
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) size.ws_col = size.ws_row = 0;
    *columns = size.ws_col;
    *lines = size.ws_row;
}

/// Changes the settings of a terminal for a program that fills the screen: each key is read at
/// once, and not echoed. Control-C still sends a signal. Control-Z and Control-\ are read as keys.
static inline void shellac_read_keys(struct termios *settings) {
    settings->c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON);
    settings->c_oflag &= ~(tcflag_t)OPOST;
    settings->c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN);
    settings->c_lflag |= ISIG;
    settings->c_cc[VMIN] = 1;
    settings->c_cc[VTIME] = 0;
    settings->c_cc[VSUSP] = settings->c_cc[VQUIT] = _POSIX_VDISABLE;
}

/// Nanoseconds of a monotonic clock that advances every few milliseconds. Reading it takes a few
/// nanoseconds.
static inline uint64_t shellac_coarse_time(void) {
#if defined(__linux__)
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#else
    return clock_gettime_nsec_np(CLOCK_UPTIME_RAW_APPROX);
#endif
}

/// Nanoseconds of a monotonic clock.
static inline uint64_t shellac_time(void) {
#if defined(__linux__)
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#else
    return clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
#endif
}

/// The number of names of a file, and the time when its entry was last changed.
struct shellac_file_entry { uint64_t names; int64_t seconds, nanoseconds; };

/// Reads the entry of an open file. Returns 0 if that fails, or is not supported.
static inline int shellac_read_file_entry(int descriptor, struct shellac_file_entry *entry) {
#if defined(__linux__)
    struct stat status;
#if defined(__x86_64__) || defined(__aarch64__)
    // The C library looks up an empty name instead, which takes longer. This runs at each commit.
    if (syscall(SYS_fstat, descriptor, &status) != 0) return 0;
#else
    if (fstat(descriptor, &status) != 0) return 0;
#endif
    entry->names = status.st_nlink;
    entry->seconds = status.st_ctim.tv_sec;
    entry->nanoseconds = status.st_ctim.tv_nsec;
    return 1;
#else
    (void)descriptor, (void)entry;
    return 0;
#endif
}

/// The time that a file's entry gets if it is changed now.
static inline void shellac_file_time(struct timespec *now) {
#if defined(__linux__)
    clock_gettime(CLOCK_REALTIME_COARSE, now);
#else
    clock_gettime(CLOCK_REALTIME, now);
#endif
}

/// Opens a file only for queries about it. The file is not read, and closing the descriptor does
/// not release the process's locks on the file. Returns -1 if such descriptors are not supported.
static inline int shellac_open_name(const char *path) {
#if defined(__linux__)
    // glibc only defines its name if all GNU extensions are enabled.
    const int name_alone = 010000000;
    return open(path, name_alone | O_CLOEXEC);
#else
    (void)path;
    return -1;
#endif
}

/// Maps the index of a write-ahead log: see "The WAL-Index File Format" in the SQLite
/// documentation. The file's connection must have read from the database in WAL mode. Returns an
/// SQLite code.
static inline int shellac_wal_map(
    sqlite3_file *file, const sqlite3_io_methods *methods, volatile const uint32_t **words) {
    volatile void *region = 0;
    int code = methods->xShmMap(file, 0, 32768, 0, &region);
    if (code != SQLITE_OK && code != SQLITE_READONLY) return code;
    if (!region) return SQLITE_ERROR;
    *words = (volatile const uint32_t *)region;
    return SQLITE_OK;
}

/// Maps the index for the main database of a connection.
static inline int shellac_wal_words(sqlite3 *db, volatile const uint32_t **words) {
    sqlite3_file *file = 0;
    int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK) return code;
    if (!file || !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return SQLITE_ERROR;
    return shellac_wal_map(file, file->pMethods, words);
}

/// Reads the salts of a log from its index. Each reset of the log changes them. Returns an SQLite
/// code.
static inline int shellac_wal_salts(sqlite3_file *file, const sqlite3_io_methods *methods, uint64_t *salts) {
    volatile const uint32_t *words = 0;
    int code = shellac_wal_map(file, methods, &words);
    if (code != SQLITE_OK) return code;
    __sync_synchronize();
    *salts = (uint64_t)words[8] << 32 | words[9];
    __sync_synchronize();
    return SQLITE_OK;
}

/// Reads the number of frames in a log, and the number of those that were copied to the file.
static inline int shellac_wal_index(sqlite3 *db, uint32_t *frames, uint32_t *copied) {
    volatile const uint32_t *words = 0;
    int code = shellac_wal_words(db, &words);
    if (code != SQLITE_OK) return code;
    // There are two copies of the header. A writer changes the second one first.
    for (int attempt = 0; attempt < 1000; attempt++) {
        uint32_t first = words[4];
        __sync_synchronize();
        uint32_t second = words[4 + 12];
        *frames = first;
        *copied = words[24];
        if (first == second) break;
    }
    return SQLITE_OK;
}

/// Reads the header of the index of a log. Each commit, and each restart of the log, changes its
/// bytes.
static inline int shellac_wal_header(sqlite3 *db, uint32_t header[12]) {
    volatile const uint32_t *words = 0;
    int code = shellac_wal_words(db, &words);
    if (code != SQLITE_OK) return code;
    // Both copies are equal unless a writer is changing them.
    for (int attempt = 0; attempt < 100000; attempt++) {
        int differs = 0;
        for (int word = 0; word < 12; word++) header[word] = words[word];
        __sync_synchronize();
        for (int word = 0; word < 12; word++) differs |= header[word] != words[word + 12];
        if (!differs) return SQLITE_OK;
    }
    return SQLITE_BUSY;
}

/// Makes the log and its index persist after the last connection is closed.
static inline int shellac_persist_wal(sqlite3 *db, int on) {
    return sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
}

/// The encodings that the calling thread is running: the innermost one, and the number of encodings
/// begun. See RunningEncoding.swift.
struct shellac_running_encodings { void *innermost; unsigned long long begun; };
__attribute__((weak, visibility("hidden"))) _Thread_local struct shellac_running_encodings
    shellac_running_encodings_place = { 0, 0 };
static inline struct shellac_running_encodings *shellac_encodings(void) {
    return &shellac_running_encodings_place;
}

/// The function that compiled Swift code calls before it accesses a property of a class, unless the
/// access is known to be exclusive. Swift reserves the name, so Swift code may not declare it, and
/// it is declared here. See StoredProperties.swift.
extern void swift_beginAccess(void *address, void *noted, uintptr_t flags, void *caller);

/// Stops the program if the calling thread is modifying the memory at an address. With `to_modify`,
/// it also stops the program if the thread is reading that memory.
static inline void shellac_stop_if_accessed(const void *address, int to_modify) {
    void *noted[3];
    // Without the tracking flag, which is 0x20, the access is checked but not recorded, so nothing
    // has to end it.
    swift_beginAccess((void *)address, noted, to_modify ? 1 : 0, 0);
}

/// Asks the processor to load memory that will soon be read or written. The address may be invalid.
static inline void shellac_prefetch(const void *address) {
    __builtin_prefetch(address);
}

/// The interface of FTS5, by which tokenizers are added and found. NULL if the running SQLite has
/// no FTS5. See "Extending FTS5" in the SQLite documentation.
static inline fts5_api *shellac_fts5_api(sqlite3 *db) {
    fts5_api *api = 0;
    sqlite3_stmt *statement = 0;
    if (sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &statement, 0) == SQLITE_OK) {
        // SQLite keeps the address of the name, which therefore is a literal of C.
        sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", 0);
        sqlite3_step(statement);
    }
    sqlite3_finalize(statement);
    return api;
}

/// sqlite3_error_offset() exists since SQLite 3.38. It is looked up at run time.
typedef int (*shellac_error_offset_function)(sqlite3 *);

/// The pre-update hook exists if SQLite was compiled with SQLITE_ENABLE_PREUPDATE_HOOK. It is
/// looked up at run time.
typedef void *(*shellac_preupdate_hook_function)(
    sqlite3 *,
    void (*)(void *, sqlite3 *, int, const char *, const char *, sqlite3_int64, sqlite3_int64), void *);
typedef int (*shellac_preupdate_value_function)(sqlite3 *, int, sqlite3_value **);

#endif

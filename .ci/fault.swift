// Wakes the faults that .ci/mutants and .ci/faults put into a copy of the library.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

private let awakeFault = getenv("SHELLAC_FAULT").flatMap { Int(String(cString: $0)) } ?? 0

/// Whether a fault of .ci/mutants or .ci/faults is awake.
@usableFromInline @inline(never)
func isAwake(_ fault: Int) -> Bool { awakeFault == fault }

// The function that libFuzzer calls.

import Foundation

/// The input that `SHELLAC_FUZZ` names.
private let fuzzed: FuzzedInput = {
    let name = ProcessInfo.processInfo.environment["SHELLAC_FUZZ"] ?? "none"
    guard let fuzzed = FuzzedInput(rawValue: name) else {
        fatalError("SHELLAC_FUZZ is \(name), and not one of \(FuzzedInput.allCases.map(\.rawValue))")
    }
    return fuzzed
}()

/// Checks the bytes that libFuzzer has made, and stops the process on a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func checkFuzzedInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try fuzzed.check(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        fatalError("\(fuzzed.rawValue): \(error)")
    }
    return 0
}

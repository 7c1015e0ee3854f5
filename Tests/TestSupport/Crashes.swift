import Foundation
public import Testing

/// Lets the process of an exit test crash at once. Otherwise each crash takes seconds to write a
/// backtrace that no test reads.
public func crashWithoutBacktrace() {
    for number in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS] { signal(number, SIG_DFL) }
}

extension ExitTest.Result? {
    /// Expects the sentence of a misuse in what the process wrote to its standard error, which the
    /// test observes.
    public func expectSentence(_ sentence: String, location: SourceLocation = #_sourceLocation) {
        let text = String(decoding: self?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Shellac was misused: "), "\(text)", sourceLocation: location)
        #expect(text.contains(sentence), "\(text)", sourceLocation: location)
    }
}

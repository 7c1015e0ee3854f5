// A checked pointer to an encoding on the stack, which traps when used after its end.

import CSQLite

/// An encoder, or a container of one, that points to an encoding on the stack.
///
/// Swift's protocols require the encoder to be copyable, so a program may keep it. Reference
/// counting would cost each record as much as a column. So each thread notes its running encodings,
/// the innermost first, each with a number of its own. A pointer to an encoding checks that the
/// encoding is among them. If it was kept, or passed to another thread, it finds no such note.
struct RunningEncoding<Encoding: ~Copyable> {
    private let encoding: UnsafeMutablePointer<Encoding>
    private let number: UInt64

    private init(_ encoding: UnsafeMutablePointer<Encoding>, _ number: UInt64) {
        (self.encoding, self.number) = (encoding, number)
    }

    /// Runs a function that may use an encoding until it returns.
    static func run(
        _ encoding: UnsafeMutablePointer<Encoding>, _ body: (RunningEncoding) throws -> Void
    ) rethrows {
        let running = shellac_encodings().unsafelyUnwrapped
        running.pointee.begun &+= 1
        var note = EncodingNote(
            encoding: UnsafeRawPointer(encoding), number: running.pointee.begun,
            outer: running.pointee.innermost.map { $0.assumingMemoryBound(to: EncodingNote.self) })
        try withUnsafeMutablePointer(to: &note) { note in
            running.pointee.innermost = UnsafeMutableRawPointer(note)
            defer { running.pointee.innermost = note.pointee.outer.map { UnsafeMutableRawPointer($0) } }
            try body(RunningEncoding(encoding, note.pointee.number))
        }
    }

    /// The address of the encoding. Traps if it has ended.
    var pointer: UnsafeMutablePointer<Encoding> {
        if let innermost = shellac_encodings().pointee.innermost {
            let note = innermost.assumingMemoryBound(to: EncodingNote.self)
            if note.pointee.isOf(encoding, number) { return encoding }
        }
        return outerPointer
    }

    @inline(never)
    private var outerPointer: UnsafeMutablePointer<Encoding> {
        var next = shellac_encodings().pointee.innermost?.assumingMemoryBound(to: EncodingNote.self)
        while let note = next {
            if note.pointee.isOf(encoding, number) { return encoding }
            next = note.pointee.outer
        }
        Misuse.trap(
            "the encoder of a record, or one of its containers, was used after the record was encoded, or on "
                + "another thread. Encode all values in encode(to:).")
    }
}

private struct EncodingNote {
    let encoding: UnsafeRawPointer
    let number: UInt64
    let outer: UnsafeMutablePointer<EncodingNote>?

    func isOf<Encoding: ~Copyable>(_ encoding: UnsafeMutablePointer<Encoding>, _ number: UInt64) -> Bool {
        self.encoding == UnsafeRawPointer(encoding) && self.number == number
    }
}

import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("A cursor over packed columns")
struct PackedCursorTests {
    /// Runs a function with packed columns that end where the memory does: a byte behind them
    /// cannot be read.
    private static func atEndOfMemory(
        tags: [PackedTag], payloads: [UInt8], _ body: (PackedCursor) -> Void
    ) throws {
        let size = Int(getpagesize())
        let memory = mmap(nil, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let memory, memory != MAP_FAILED else { throw POSIXError(.ENOMEM) }
        defer { munmap(memory, 2 * size) }
        guard mprotect(memory + size, size, PROT_NONE) == 0 else { throw POSIXError(.EACCES) }
        let bytes = tags.map(\.rawValue) + payloads
        let start = memory + size - bytes.count
        start.copyMemory(from: bytes, byteCount: bytes.count)
        body(PackedCursor(reading: start, count: tags.count))
    }

    @Test(
        "comparing a value of another kind reads nothing behind the columns",
        arguments: ["", "text", "real", "blob", "text of a date"])
    func otherKind(kind: String) async {
        await #expect(processExitsWith: .success) { [kind] in
            crashWithoutBacktrace()
            let (tag, payload): (PackedTag, [UInt8]) =
                switch kind {
                case "text": (.shortText, [1, UInt8(ascii: "5")])
                case "real": (.real, Array(repeating: 0, count: 8))
                case "blob": (.longBlob, [1, 0, 0, 0, 5])
                case "text of a date": (.dateText, [1, UInt8(ascii: "5")])
                default: (.null, [])
                }
            try PackedCursorTests.atEndOfMemory(tags: [tag], payloads: payload) { cursor in
                #expect(cursor.passing(Int64(5)) == nil)
                if !tag.isReal { #expect(cursor.passing(5.0) == nil) }
                if !tag.isText {
                    Array("5".utf8).withUnsafeBufferPointer { #expect(cursor.passing(shortText: $0) == nil) }
                }
            }
        }
    }

    @Test(
        "integers of all sizes are passed, and others are not", arguments: [1, -1, 300, -70_000, .max, .min])
    func integers(integer: Int64) throws {
        let tag = PackedTag(of: integer)
        let bytes = withUnsafeBytes(of: integer.littleEndian) { Array($0.prefix(Int(tag.rawValue))) }
        try Self.atEndOfMemory(tags: [.null, tag], payloads: bytes) { first in
            var cursor = first
            cursor.advance()
            let end = cursor.passing(integer)
            #expect(end.map { first.distance(to: $0).columns } == 2)
            #expect(end.map { first.distance(to: $0).payloads } == bytes.count)
            #expect(cursor.passing(integer ^ 1) == nil)
            #expect(cursor.passing(Int64(0)) == nil)
        }
    }
}

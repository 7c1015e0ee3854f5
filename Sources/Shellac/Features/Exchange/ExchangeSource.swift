// Sources of an import (file, descriptor, bytes, function), and their buffered byte reader.

import CSQLite

/// A source of imported data.
public struct ExchangeSource {
    enum Kind {
        case file(String)
        case descriptor(Int32)
        case chunks(() throws -> [UInt8]?)
    }

    let kind: Kind

    /// Returns a file as the source, which is read in pieces.
    ///
    /// - Parameter path: The path of the file. A named pipe is read, too; a folder throws when the
    ///   import begins.
    public static func file(_ path: String) -> ExchangeSource { ExchangeSource(kind: .file(path)) }

    /// Returns an open file or a pipe as the source.
    ///
    /// - Parameter descriptor: Its number: 0 is the standard input. It is read from its present
    ///   position to its end, and is not closed.
    public static func descriptor(_ descriptor: Int32) -> ExchangeSource {
        ExchangeSource(kind: .descriptor(descriptor))
    }

    /// Returns bytes as the source, for example those of a text: `.bytes(text.utf8)`.
    ///
    /// - Parameter bytes: The bytes, for one import: a second one finds none.
    public static func bytes(_ bytes: some Sequence<UInt8>) -> ExchangeSource {
        var rest: [UInt8]? = Array(bytes)
        return .chunks {
            defer { rest = nil }
            return rest
        }
    }

    /// Returns a function as the source, which provides the bytes in pieces.
    ///
    /// - Parameter next: Returns the next piece, which may be empty, or nil after the last one. It
    ///   is not called again after that, nor after an error. The import rethrows its errors.
    public static func chunks(_ next: @escaping () throws -> [UInt8]?) -> ExchangeSource {
        ExchangeSource(kind: .chunks(next))
    }
}

/// A buffered reader of a source's bytes.
final class ByteReader {
    private let source: ExchangeSource
    /// The file that this reader has opened.
    private var opened: Int32?
    private var piece: [UInt8] = []
    private var position = 0
    /// Whether the source has ended or failed.
    private var isAtEnd = false
    private(set) var readCount = 0
    /// The size, for a file.
    private(set) var totalCount: Int?

    private static var pieceSize: Int { 1 << 16 }

    init(_ source: ExchangeSource) throws {
        self.source = source
        guard case .file(let path) = source.kind else { return }
        let descriptor = try Self.open(path)
        opened = descriptor
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        if shellac_is_folder(status.st_mode) {
            throw ExchangeError("\(path) is a folder")
        }
        if shellac_is_regular(status.st_mode) { totalCount = Int(status.st_size) }
    }

    private static func open(_ path: String) throws -> Int32 {
        guard !path.utf8.contains(0) else { throw ExchangeError("there is a NUL character in the path") }
        let descriptor = shellac_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else {
            throw ExchangeError("could not open \(path): \(String(cString: shellac_error_text()))")
        }
        return descriptor
    }

    deinit { if let opened { close(opened) } }

    /// Returns the next byte, or nil at the end.
    @inline(__always)
    func next() throws -> UInt8? {
        if position == piece.count, try !readPiece() { return nil }
        defer { position &+= 1 }
        return piece[position]
    }

    /// Returns the next byte without consuming it.
    @inline(__always)
    func peek() throws -> UInt8? {
        if position == piece.count, try !readPiece() { return nil }
        return piece[position]
    }

    /// Appends the bytes up to one that a test finds, which is not consumed, or to the end of the
    /// buffer. Returns whether it was found.
    @inline(__always)
    func appendBytes(to text: inout [UInt8], until isFound: (UInt8) -> Bool) throws -> Bool {
        if position == piece.count, try !readPiece() { return true }
        let start = position
        let found = piece.withUnsafeBufferPointer { bytes in
            var index = start
            while index < bytes.count, !isFound(bytes[index]) { index &+= 1 }
            text.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<index]))
            position = index
            return index < bytes.count
        }
        return found
    }

    @inline(never)
    private func readPiece() throws -> Bool {
        if isAtEnd { return false }
        isAtEnd = true
        repeat {
            switch source.kind {
            case .file: piece = try read(opened ?? -1)
            case .descriptor(let descriptor): piece = try read(descriptor)
            case .chunks(let next):
                guard let next = try next() else {
                    piece = []
                    position = 0
                    return false
                }
                piece = next
            }
            position = 0
            readCount += piece.count
            if !piece.isEmpty {
                isAtEnd = false
                return true
            }
        } while isPieceless
        return false
    }

    /// Whether a piece may be empty before the end.
    private var isPieceless: Bool {
        if case .chunks = source.kind { true } else { false }
    }

    private func read(_ descriptor: Int32) throws -> [UInt8] {
        while true {
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, count in
                let result = systemRead(descriptor, buffer.baseAddress, buffer.count)
                if result < 0 { failure = shellac_errno() }
                count = max(0, result)
            }
            if failure == 0 { return bytes }
            guard failure == EINTR else {
                throw ExchangeError("could not read: \(String(cString: strerror(failure)))")
            }
        }
    }
}

// The system's function, by a name that differs from the method's.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

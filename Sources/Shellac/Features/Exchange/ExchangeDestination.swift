// Destinations of an export (file, descriptor, function), and their buffered byte writer.

import CSQLite

/// A destination for exported data.
public struct ExchangeDestination {
    enum Kind {
        case file(String)
        case descriptor(Int32)
        case function(([UInt8]) throws -> Void)
    }

    let kind: Kind

    /// Returns a file as the destination.
    ///
    /// - Parameter path: The path of the file, which is created if it does not exist. An existing
    ///   file is replaced once everything is written and synced to the disk: an error, or a loss of
    ///   power, leaves it unchanged. A device or a pipe is written directly.
    public static func file(_ path: String) -> ExchangeDestination { ExchangeDestination(kind: .file(path)) }

    /// Returns an open file or a pipe as the destination.
    ///
    /// - Parameter descriptor: Its number: 1 is the standard output. It is written from its present
    ///   position, and is not closed.
    public static func descriptor(_ descriptor: Int32) -> ExchangeDestination {
        ExchangeDestination(kind: .descriptor(descriptor))
    }

    /// Returns a function as the destination, which gets the bytes in pieces.
    ///
    /// - Parameter take: Called with each piece, in order, during the export. No piece is empty.
    ///   The export rethrows its errors.
    public static func chunks(_ take: @escaping ([UInt8]) throws -> Void) -> ExchangeDestination {
        ExchangeDestination(kind: .function(take))
    }
}

/// A buffered writer of bytes to a destination.
final class ByteWriter {
    /// The bytes that are not written yet.
    var bytes: [UInt8] = []
    private let destination: ExchangeDestination
    private var descriptor: Int32 = -1
    /// The temporary file that is written, and the final one that it becomes.
    private var file: (written: String, final: String)?
    private var isOpened = false

    private static var most: Int { 1 << 16 }

    init(_ destination: ExchangeDestination) throws {
        self.destination = destination
        bytes.reserveCapacity(Self.most + 4096)
        switch destination.kind {
        case .function: break
        case .descriptor(let descriptor): self.descriptor = descriptor
        case .file(let path): try open(path)
        }
    }

    private func open(_ path: String) throws {
        guard !path.utf8.contains(0) else { throw ExchangeError("there is a NUL character in the path") }
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists, shellac_is_folder(status.st_mode) { throw ExchangeError("\(path) is a folder") }
        // A device or a pipe is written, and not replaced.
        let isReplaced = !exists || shellac_is_regular(status.st_mode)
        // For a symbolic link, its target is replaced, and not the link.
        let target = exists ? Self.resolved(path) : path
        let written = isReplaced ? "\(target).\(UInt64.random(in: .min ... .max)).part" : path
        descriptor = shellac_open(
            written, isReplaced ? O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC : O_WRONLY | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw ExchangeError("could not write \(path): \(String(cString: shellac_error_text()))")
        }
        isOpened = true
        if isReplaced {
            file = (written, target)
            if exists { fchmod(descriptor, status.st_mode & 0o7777) }
        }
    }

    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    deinit {
        if isOpened { close(descriptor) }
        if let file { unlink(file.written) }
    }

    /// Writes the buffer if it is large.
    @inline(__always)
    func flushIfFull() throws { if bytes.count >= Self.most { try flush() } }

    /// Writes the rest, and gives the file its final name.
    func finish() throws {
        try flush()
        guard let file else { return }
        // Otherwise the name may reach the disk before the bytes do, and a loss of power leave an
        // empty file.
        guard fsync(descriptor) == 0, rename(file.written, file.final) == 0 else {
            throw ExchangeError("could not write \(file.final): \(String(cString: shellac_error_text()))")
        }
        self.file = nil
        Self.syncFolder(of: file.final)
    }

    /// Syncs the names in a folder to the disk. If the file system cannot do that, the file still
    /// exists.
    private static func syncFolder(of path: String) {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "."
        let descriptor = shellac_open(String(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private func flush() throws {
        defer { bytes.removeAll(keepingCapacity: true) }
        if case .function(let take) = destination.kind {
            if !bytes.isEmpty { try take(bytes) }
            return
        }
        try bytes.withUnsafeBytes { buffer in
            var rest = UnsafeRawBufferPointer(rebasing: buffer[...])
            while !rest.isEmpty {
                let count = systemWrite(descriptor, rest)
                if count >= 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                } else if shellac_errno() != EINTR {
                    throw ExchangeError("could not write: \(String(cString: shellac_error_text()))")
                }
            }
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

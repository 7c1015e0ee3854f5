// Records writes to a storage, and builds the files that a crash leaves.

import Foundation

/// A record of the writes to the files of a ``FaultyStorage``, in order.
///
/// It builds the files that a machine may find after a power loss: all synced bytes are there, and
/// any part of the later ones.
package final class WriteLog: @unchecked Sendable {  // `events` is touched under `lock`
    enum Event {
        case write(String, Int, [UInt8])
        case truncate(String, Int)
        case sync(String)
        case delete(String)
        case mark(Int)
    }

    private let lock = NSLock()
    private var events: [Event] = []

    package init() {}

    func append(_ event: Event) {
        lock.lock()
        defer { lock.unlock() }
        events.append(event)
    }

    /// Notes that everything up to a number has been acknowledged.
    package func mark(_ number: Int) { append(.mark(number)) }

    /// The number of events.
    package var count: Int {
        lock.lock()
        defer { lock.unlock() }
        return events.count
    }

    /// The files after a power loss.
    ///
    /// - Parameters:
    ///   - count: The number of events before it.
    ///   - original: The files before all events.
    ///   - isKept: Whether 512 bytes have reached the disk without a sync, or a new size.
    /// - Returns: The files by their names, and the last number that was acknowledged.
    package func files(
        after count: Int, from original: [String: [UInt8]] = [:], isKept: () -> Bool
    ) -> (files: [String: [UInt8]], acknowledged: Int?) {
        lock.lock()
        let events = self.events.prefix(count)
        lock.unlock()
        var files = original
        var waiting: [String: [Event]] = [:]
        var acknowledged: Int?
        for event in events {
            switch event {
            case .write(let name, _, _), .truncate(let name, _): waiting[name, default: []].append(event)
            case .sync(let name):
                for event in waiting.removeValue(forKey: name) ?? [] {
                    Self.apply(event, to: &files[name, default: []], isKept: { true })
                }
            case .delete(let name): (files[name], waiting[name]) = (nil, nil)
            case .mark(let number): acknowledged = number
            }
        }
        for (name, events) in waiting.sorted(by: { $0.key < $1.key }) {
            for event in events { Self.apply(event, to: &files[name, default: []], isKept: isKept) }
        }
        return (files, acknowledged)
    }

    private static func apply(_ event: Event, to file: inout [UInt8], isKept: () -> Bool) {
        switch event {
        case .write(_, let offset, let bytes):
            for start in stride(from: 0, to: bytes.count, by: 512) where isKept() {
                let piece = bytes[start..<min(start + 512, bytes.count)]
                let place = offset + start
                if file.count < place + piece.count {
                    file += [UInt8](repeating: 0, count: place + piece.count - file.count)
                }
                file.replaceSubrange(place..<place + piece.count, with: piece)
            }
        case .truncate(_, let size):
            if isKept(), size < file.count { file.removeLast(file.count - size) }
        case .sync, .delete, .mark: break
        }
    }
}

// The JSON form of a blob in exchanged data: an object with a $base64 key.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A blob in JSON: `{"$base64":"wP/u"}`.
enum JSONBlob {
    static let (start, end) = (Array(#"{"$base64":""#.utf8), Array(#""}"#.utf8))

    /// Returns the Base64 text of a blob, from JSON without blanks. Nil for other JSON.
    static func text(_ json: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard json.starts(with: start), json.suffix(2).elementsEqual(end),
            json.count >= start.count + end.count
        else { return nil }
        return json.dropFirst(start.count).dropLast(end.count)
    }

    /// Returns the bytes of a Base64 text. Nil for another text.
    static func bytes(_ text: ArraySlice<UInt8>) -> Data? {
        text.isEmpty ? Data() : Data(base64Encoded: String(decoding: text, as: UTF8.self))
    }
}

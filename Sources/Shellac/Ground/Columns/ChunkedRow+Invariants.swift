// Debug checks that packed bytes, row layouts and chunked rows are well formed.

#if DEBUG
extension PackedBytes: CheckedInvariants {
    /// A sentence for each flaw of the packed bytes. Flaws are unknown tags, and payloads of a
    /// wrong length. An encoding other than the only valid one for the value is a flaw, too: equal
    /// rows must be equal memory.
    var _violations: [String] {
        guard byteCount >= count else { return ["\(count) columns are packed in \(byteCount) bytes"] }
        var violations: [String] = []
        var place = count
        for column in 0..<count {
            let value = PackedValue(tag(at: column), start + place)
            let (tag, left) = (value.tag, byteCount - place)
            guard
                tag == .null || tag.isInteger && tag.rawValue.nonzeroBitCount == 1 || tag.isReal
                    || tag.isText || tag.isBlob
            else {
                return violations + ["column \(column) has the tag \(tag.rawValue), which does not exist"]
            }
            guard left >= tag.lengthSize, left >= value.byteCount
            else { return violations + ["the payload of column \(column) ends behind the row"] }
            let length = value.byteCount
            if value.isInteger {
                violations.expect(
                    PackedTag(of: value.integer) == tag,
                    "column \(column) holds \(value.integer) in \(tag.rawValue) bytes")
            } else if tag.lengthSize == 4 {
                violations.expect(
                    length >= 260, "column \(column) holds \(length - 4) bytes behind a long length")
            }
            place += length
        }
        violations.expect(
            place == byteCount, "the payloads end \(byteCount - place) bytes in front of the row's end")
        return violations
    }
}

extension RowLayout: CheckedInvariants {
    var _violations: [String] {
        var violations: [String] = []
        violations.expect(count == names.count, "a layout of \(names.count) names counts \(count) columns")
        violations.expect(
            affinities.isEmpty || affinities.count == count,
            "a layout of \(count) columns has \(affinities.count) affinities")
        return violations
    }
}

extension ChunkedRow: CheckedInvariants {
    var _violations: [String] {
        var violations: [String] = []
        let (start, offset) = placeInChunk
        violations.expect(
            offset >= start && offset % 8 == 0 && UInt(bitPattern: address) % 8 == 0,
            "a row begins at the byte \(offset) of its chunk")
        violations.expect(
            references > 0 && references <= Self.manyReferences,
            "a chunk with a row has \(references) references")
        let layout = layoutReference.object
        return violations + layout._violations + bytes._violations
    }
}
#endif

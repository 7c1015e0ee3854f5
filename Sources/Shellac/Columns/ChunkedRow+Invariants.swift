#if DEBUG
extension PackedTag {
    /// What is wrong with packed bytes: tags that there are not, and payloads that are too long or too short, or stand in
    /// another way than the only one for their value, by which equal rows are equal memory.
    static func violations(of bytes: UnsafeRawBufferPointer, count: Int) -> [String] {
        guard bytes.count >= count else { return ["\(count) columns are packed in \(bytes.count) bytes"] }
        var violations: [String] = []
        var place = count
        for column in 0..<count {
            let tag = bytes[column]
            let left = bytes.count - place
            guard tag == null || isInteger(tag) && tag.nonzeroBitCount == 1 || tag >= real && tag <= longBlob
            else { return violations + ["column \(column) has the tag \(tag), which there is not"] }
            let lengthSize =
                tag < shortText || tag > longBlob ? 0 : tag == longText || tag == longBlob ? 4 : 1
            guard left >= lengthSize, left == 0 && tag == null || bytes.baseAddress != nil,
                left >= (tag == null ? 0 : length(tag, bytes.baseAddress.unsafelyUnwrapped + place))
            else { return violations + ["the payload of column \(column) ends behind the row"] }
            guard tag != null, let payload = bytes.baseAddress.map({ $0 + place }) else { continue }
            let length = length(tag, payload)
            if isInteger(tag) {
                let value = readInteger(tag, payload)
                violations.expect(integer(value) == tag, "column \(column) holds \(value) in \(tag) bytes")
            } else if lengthSize == 4 {
                violations.expect(
                    length >= 260, "column \(column) holds \(length - 4) bytes behind a long length")
            }
            place += length
        }
        violations.expect(
            place == bytes.count, "the payloads end \(bytes.count - place) bytes in front of the row's end")
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
            "a row stands at the byte \(offset) of its chunk")
        violations.expect(
            references > 0 && references <= Self.manyReferences,
            "a chunk with a row has \(references) references")
        let layout = layoutReference.takeUnretainedValue()
        return violations + layout._violations + PackedTag.violations(of: bytes, count: layout.count)
    }
}
#endif

// Checks that the runtime metadata of this system describes stored properties as expected.
//
// Two private classes have properties of many kinds. The check compares the runtime's description
// of them with the language's: names, types and addresses. The address of a property is where an
// `inout` access finds it. So no memory is read at an unconfirmed place. Only then does the check
// copy values, and read them back from the objects by name.

extension StoredProperties {
    /// Whether properties may be read and written as the runtime describes them. It is computed
    /// once, on first use.
    static let isTrusted = describesProbes && copiesProbes

    /// The properties that `of(_:)` finds in a private class. A test compares them with the
    /// expected ones.
    static var ofProbe: StoredProperties? { of(Probe.self) }

    // MARK: - Checking the descriptions

    private static var describesProbes: Bool {
        guard let upper = StoredProperties(reflecting: UpperProbe<String>.self),
            let lower = StoredProperties(reflecting: Probe.self),
            let none = StoredProperties(reflecting: EmptyProbe.self)
        else { return false }
        return upper.properties.map(Description.init) == UpperProbe<String>.descriptions
            && lower.properties.map(Description.init) == Probe.descriptions
            && none.properties.isEmpty
            && (upper.properties + lower.properties).filter(\.isAssignable).allSatisfy {
                $0.offset == Probe("", nil).offset(of: $0.name)
            }
    }

    /// The description of a property, without its offset.
    private struct Description: Equatable {
        let name: String
        let type: ObjectIdentifier
        let isVariable: Bool
        let isStrong: Bool

        init(_ name: String, _ type: any Any.Type, isVariable: Bool = true, isStrong: Bool = true) {
            self.name = name
            self.type = ObjectIdentifier(type)
            self.isVariable = isVariable
            self.isStrong = isStrong
        }

        init(_ property: StoredProperty) {
            self.init(
                property.name, property.type, isVariable: property.isVariable, isStrong: property.isStrong)
        }
    }

    // MARK: - Checking the copies

    private static var copiesProbes: Bool {
        weak var replaced: ProbeValue?
        weak var copied: ProbeValue?
        let target = Probe("target", ProbeValue())
        replaced = target.object
        do {
            let source = Probe("source", ProbeValue())
            copied = source.object
            guard let upper = StoredProperties(reflecting: UpperProbe<String>.self),
                let lower = StoredProperties(reflecting: Probe.self)
            else { return false }
            upper.assign(nil, from: source, to: target)
            lower.assign(nil, from: source, to: target)
        }
        // The old value is freed, and the new one survives the object that it came from.
        guard replaced == nil, let copied, target.object === copied else { return false }
        return target.hasValues(named: "source") && target.hasKept(named: "target")
    }

    private final class ProbeValue: Decodable, Sendable {
        init() {}
    }

    private class UpperProbe<Element: Codable> {
        var byte: UInt8 = 1
        var element: Element
        var elements: [Element]

        init(_ element: Element) {
            self.element = element
            elements = [element, element]
        }

        class var descriptions: [Description] {
            [
                Description("byte", UInt8.self), Description("element", Element.self),
                Description("elements", [Element].self),
            ]
        }
    }

    private final class Probe: UpperProbe<String> {
        var flag = false
        var text: String
        let constant: String
        var number: Int64?
        weak var weakObject: ProbeValue?
        unowned var owner: ProbeValue
        var object: ProbeValue?
        var closure: () -> String
        var any: Any
        var pair: (Int8, String)
        var dictionary: [String: [Int]]
        var last: UInt16

        private static let owner = ProbeValue()

        init(_ text: String, _ object: ProbeValue?) {
            // A long text has memory of its own, with a reference count.
            self.text = text + ", of more than fifteen bytes"
            constant = text
            number = Int64(text.utf8.count)
            weakObject = object
            owner = Self.owner
            self.object = object
            closure = { text }
            any = text
            pair = (1, text)
            dictionary = [text: [text.utf8.count]]
            last = text.utf8.first.map(UInt16.init) ?? 0
            super.init(text)
            flag = text == "source"
            byte = flag ? 2 : 3
        }

        override class var descriptions: [Description] {
            [
                Description("flag", Bool.self), Description("text", String.self),
                Description("constant", String.self, isVariable: false), Description("number", Int64?.self),
                Description("weakObject", ProbeValue?.self, isStrong: false),
                Description("owner", ProbeValue.self, isStrong: false),
                Description("object", ProbeValue?.self), Description("closure", (() -> String).self),
                Description("any", Any.self), Description("pair", (Int8, String).self),
                Description("dictionary", [String: [Int]].self), Description("last", UInt16.self),
            ]
        }

        /// Returns the offset of an assignable property, from its address.
        func offset(of name: String) -> Int? {
            let start = UnsafeRawPointer(Unretained(self).context)
            func distance<Value>(_ property: inout Value) -> Int {
                withUnsafePointer(to: &property) { UnsafeRawPointer($0) - start }
            }
            switch name {
            case "byte": return distance(&byte)
            case "element": return distance(&element)
            case "elements": return distance(&elements)
            case "flag": return distance(&flag)
            case "text": return distance(&text)
            case "number": return distance(&number)
            case "object": return distance(&object)
            case "dictionary": return distance(&dictionary)
            case "last": return distance(&last)
            default: return nil
            }
        }

        /// Whether the assignable properties are as in a probe of that name.
        func hasValues(named name: String) -> Bool {
            let other = Probe(name, nil)
            return byte == other.byte && element == other.element && elements == other.elements
                && flag == other.flag && text == other.text && number == other.number
                && dictionary == other.dictionary && last == other.last
        }

        /// Whether the other properties are as in a probe of that name whose object is gone.
        func hasKept(named name: String) -> Bool {
            constant == name && weakObject == nil && owner === Self.owner && closure() == name
                && any as? String == name && pair == (1, name)
        }
    }

    private final class EmptyProbe: UpperProbe<Int> {}
}

/// A nested container that a record encodes into, as a node of future JSON.
///
/// A nested container is filled after it is given out. So its contents are kept, and become JSON at
/// the end.
final class JSONNode: Encodable {
    private enum Content {
        case nothing
        case value(any Encodable)
        case null
        case array([JSONNode])
        case object([(key: ColumnKey, node: JSONNode)])
    }

    private var content = Content.nothing
    /// Whether the node refuses values, because they are encoded elsewhere.
    private let isRefusing: Bool

    convenience init() { self.init(isRefusing: false) }

    private init(isRefusing: Bool) { self.isRefusing = isRefusing }

    /// A node that refuses values.
    static var refusing: JSONNode { JSONNode(isRefusing: true) }

    private struct Refusal: Error {}

    // MARK: - Filling

    fileprivate func store(_ value: (any Encodable)?) throws {
        if isRefusing { throw Refusal() }
        content = value.map(Content.value) ?? .null
    }

    fileprivate var count: Int {
        if case .array(let nodes) = content { nodes.count } else { 0 }
    }

    /// Appends a node to this array.
    fileprivate func append() -> JSONNode {
        let node = JSONNode(isRefusing: isRefusing)
        guard !isRefusing else { return node }
        var nodes: [JSONNode] = []
        if case .array(let known) = content { nodes = known }
        content = .nothing
        nodes.append(node)
        content = .array(nodes)
        return node
    }

    /// Returns the node of a key of this object.
    fileprivate func node(of key: some CodingKey) -> JSONNode {
        var nodes: [(key: ColumnKey, node: JSONNode)] = []
        if case .object(let known) = content { nodes = known }
        if let known = nodes.first(where: { $0.key.stringValue == key.stringValue }) { return known.node }
        let node = JSONNode(isRefusing: isRefusing)
        guard !isRefusing else { return node }
        nodes.append((ColumnKey(key.stringValue), node))
        content = .object(nodes)
        return node
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .nothing = content { content = .object([]) }
        return KeyedEncodingContainer(JSONNodeObject(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .nothing = content { content = .array([]) }
        return JSONNodeArray(node: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { JSONNodeValue(node: self) }

    // MARK: - Encoding

    func encode(to encoder: any Encoder) throws {
        switch content {
        case .value(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .nothing, .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .array(let nodes):
            var container = encoder.unkeyedContainer()
            for node in nodes { try node.encode { try container.encode($0) } }
        case .object(let nodes):
            var container = encoder.container(keyedBy: ColumnKey.self)
            for (key, node) in nodes { try node.encode { try container.encode($0, forKey: key) } }
        }
    }

    /// Passes values to the encoder, which may treat their type specially, such as dates.
    private func encode(_ encode: (any Encodable) throws -> Void) throws {
        if case .value(let value) = content { try encode(value) } else { try encode(self) }
    }
}

// MARK: - Containers

struct JSONNodeEncoder: Encoder {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.container(keyedBy: type)
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { node.unkeyedContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { node.singleValueContainer() }
}

private struct JSONNodeValue: SingleValueEncodingContainer {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }

    func encodeNil() throws { try node.store(nil) }
    func encode(_ value: some Encodable) throws { try node.store(value) }
}

private struct JSONNodeArray: UnkeyedEncodingContainer {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }
    var count: Int { node.count }

    func encodeNil() throws { try node.append().store(nil) }
    func encode(_ value: some Encodable) throws { try node.append().store(value) }
    func nestedContainer<Key: CodingKey>(keyedBy keyType: Key.Type) -> KeyedEncodingContainer<Key> {
        node.append().container(keyedBy: keyType)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { node.append().unkeyedContainer() }
    func superEncoder() -> any Encoder { JSONNodeEncoder(node: node.append()) }
}

private struct JSONNodeObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { try node.node(of: key).store(nil) }
    func encode(_ value: some Encodable, forKey key: Key) throws { try node.node(of: key).store(value) }
    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        node.node(of: key).container(keyedBy: keyType)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        node.node(of: key).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { JSONNodeEncoder(node: node.node(of: ColumnKey("super"))) }
    func superEncoder(forKey key: Key) -> any Encoder { JSONNodeEncoder(node: node.node(of: key)) }
}

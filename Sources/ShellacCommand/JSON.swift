// JSON for other programs: what the verbs print with `--as json` and `--as jsonl`.

import Shellac

/// A JSON value, whose objects keep the order of their members.
enum JSON {
    case value(DatabaseValue)
    case bool(Bool)
    case array([JSON])
    case object([(name: String, value: JSON)])

    static let null = JSON.value(.null)

    static func text(_ text: String?) -> JSON { .value(text?.databaseValue ?? .null) }

    static func number(_ number: Int?) -> JSON { .value(number?.databaseValue ?? .null) }

    static func texts(_ texts: [String]) -> JSON { .array(texts.map { .text($0) }) }

    /// An object with the values of columns. Of columns with the same name, the first one counts.
    static func row(_ names: [String], _ values: [DatabaseValue]) -> JSON {
        var members: [(name: String, value: JSON)] = []
        for (name, value) in zip(names, values) where !members.contains(where: { $0.name == name }) {
            members.append((name, .value(value)))
        }
        return .object(members)
    }

    /// The value in one line.
    var line: String {
        switch self {
        case .value(let value): JSONText.text(value)
        case .bool(let value): value ? "true" : "false"
        case .array(let elements): "[" + elements.map(\.line).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.name) + ":" + $0.value.line }.joined(separator: ",") + "}"
        }
    }

    /// The value in lines, of which each has one member or element that holds no others.
    func lines(indentation: String = "") -> String {
        let inner = indentation + "  "
        func list(_ opening: String, _ parts: [String], _ closing: String) -> String {
            if parts.isEmpty { return opening + closing }
            return opening + "\n" + parts.map { inner + $0 }.joined(separator: ",\n")
                + "\n\(indentation)\(closing)"
        }
        switch self {
        case .value, .bool: return line
        case .array(let elements) where elements.allSatisfy(\.isScalar): return line
        case .array(let elements): return list("[", elements.map { $0.lines(indentation: inner) }, "]")
        case .object(let members):
            return list(
                "{",
                members.map { Self.quoted($0.name) + ": " + $0.value.lines(indentation: inner) }, "}")
        }
    }

    private var isScalar: Bool {
        switch self {
        case .value, .bool: true
        case .array, .object: false
        }
    }

    private static func quoted(_ text: String) -> String { JSONText.text(text.databaseValue) }
}

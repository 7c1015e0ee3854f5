/// Invented JSON for a type that decodes itself from it: see ``InventedRow``.
///
/// It begins as `{}`. Each error of the decoder describes what is missing or wrong, and where.
struct InventedJSON {
    private var root = Value.object([:])
    private var attempts = 0

    private static let maximumAttempts = 500

    private indirect enum Value {
        case object([String: Value])
        case array([Value])
        /// A single value: one of ``guesses``.
        case guess(Int)

        static let guesses = ["1", "\"1\"", "true", "1.5", "\"\(date)\"", "\"\(uuid)\"", "[]", "{}", "null"]
        private static let date = "2001-01-01T00:00:00Z"
        private static let uuid = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"

        var text: String {
            switch self {
            case .object(let members):
                let list = members.sorted { $0.key < $1.key }.map { "\(Self.quoted($0)):\($1.text)" }
                return "{\(list.joined(separator: ","))}"
            case .array(let elements): return "[\(elements.map(\.text).joined(separator: ","))]"
            case .guess(let index): return Self.guesses[index]
            }
        }

        private static func quoted(_ name: String) -> String {
            var text = "\""
            for scalar in name.unicodeScalars {
                if scalar == "\"" || scalar == "\\" { text.unicodeScalars.append("\\") }
                text.unicodeScalars.append(scalar)
            }
            return text + "\""
        }

        /// Changes the value at the end of a path. Returns false if there is none, and if it cannot
        /// be changed.
        mutating func change(_ path: ArraySlice<any CodingKey>, _ change: (inout Value) -> Bool) -> Bool {
            guard let key = path.first else { return change(&self) }
            switch self {
            case .object(var members):
                guard var member = members[key.stringValue],
                    member.change(path.dropFirst(), change)
                else { return false }
                members[key.stringValue] = member
                self = .object(members)
            case .array(var elements):
                guard let index = key.intValue, elements.indices.contains(index),
                    elements[index].change(path.dropFirst(), change)
                else { return false }
                self = .array(elements)
            case .guess: return false
            }
            return true
        }

        /// Moves on to the next value that may fit. Returns false if there is none.
        mutating func advance() -> Bool {
            switch self {
            case .guess(let index) where index + 1 < Self.guesses.count:
                switch Self.guesses[index + 1] {
                case "[]": self = .array([])
                case "{}": self = .object([:])
                default: self = .guess(index + 1)
                }
            case .guess: return false
            case .array: self = .object([:])
            case .object: self = .guess(Self.guesses.count - 1)
            }
            return true
        }
    }

    /// The JSON.
    var text: String { root.text }

    /// Changes the JSON according to an error of its decoder. Returns false if nothing is left to
    /// try.
    mutating func heed(_ error: (any Error)?) -> Bool {
        attempts += 1
        guard attempts < Self.maximumAttempts, let error = error as? DecodingError else { return false }
        switch error {
        case .keyNotFound(let key, let context):
            return root.change(context.codingPath[...]) { value in
                guard case .object(var members) = value, members[key.stringValue] == nil else { return false }
                members[key.stringValue] = .guess(0)
                value = .object(members)
                return true
            }
        case .typeMismatch(_, let context), .dataCorrupted(let context), .valueNotFound(_, let context):
            // A text instead of `{}` is a value of its own column.
            guard !context.codingPath.isEmpty else { return false }
            return root.change(context.codingPath[...]) { $0.advance() }
        @unknown default: return false
        }
    }
}

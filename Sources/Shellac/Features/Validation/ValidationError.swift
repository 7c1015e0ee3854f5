// The messages of a record that must not be saved, by column.

/// The reasons why a record must not be saved: messages by column, several at once.
///
/// ```swift
/// override func validate(_ db: Database) throws {
///     try ValidationError.collect { errors in
///         try errors.include { try super.validate(db) }
///         errors.require(name, "name")
///         errors.check(score >= 0, "score", "must not be negative")
///     }
/// }
/// ```
///
/// A save throws the error that `validate(_:)` throws. ``init(_:for:)`` returns it, and makes such
/// an error from a constraint that SQLite found violated, so that a form needs only one `catch`:
///
/// ```swift
/// do {
///     try dbQueue.write { db in try player.save(db) }
/// } catch {
///     guard let errors = ValidationError(error, for: player) else { throw error }
///     for message in errors["name"] { print("name", message) }     // name is taken
/// }
/// ```
public struct ValidationError: Error, Hashable, Sendable {
    private struct Entry: Hashable {
        let columns: [String]
        let message: Message
    }

    private var entries: [Entry] = []

    /// Creates an error without a message.
    public init() {}

    // MARK: - Reading

    /// Whether there is no message.
    public var isEmpty: Bool { entries.isEmpty }

    /// The columns that have messages, each once, in the order of their first messages.
    public var columns: [String] {
        var seen: Set<CaseInsensitiveName> = []
        return entries.flatMap(\.columns).filter { seen.insert(CaseInsensitiveName($0)).inserted }
    }

    /// The messages of a column. Upper and lower case letters match.
    ///
    /// - Parameter column: The name of the column.
    public subscript(column: String) -> [Message] {
        entries.filter { $0.columns.contains { CaseInsensitiveName.matches($0, column) } }.map(\.message)
    }

    /// The messages about the record as a whole, which name no column.
    public var recordMessages: [Message] { entries.filter(\.columns.isEmpty).map(\.message) }

    // MARK: - Collecting

    /// Runs a function that adds messages, and throws the error if it has added any.
    ///
    /// - Parameter body: Adds messages to the error that it gets.
    /// - Throws: the error with its messages, or the error that the function throws.
    public static func collect(_ body: (inout ValidationError) throws -> Void) throws {
        var errors = ValidationError()
        try body(&errors)
        if !errors.isEmpty { throw errors }
    }

    /// Adds a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - columns: The columns that it is about. None for the record as a whole.
    public mutating func add(_ message: Message, _ columns: String...) { add(message, columns) }

    mutating func add(_ message: Message, _ columns: [String]) {
        entries.append(Entry(columns: columns, message: message))
    }

    /// Adds a message unless a condition holds.
    ///
    /// - Parameters:
    ///   - isValid: The condition.
    ///   - columns: The columns that the message is about. None for the record as a whole.
    ///   - message: The message.
    /// - Returns: The condition, so that a further check can depend on it.
    @discardableResult
    public mutating func check(_ isValid: Bool, _ columns: String..., message: Message) -> Bool {
        if !isValid { add(message, columns) }
        return isValid
    }

    /// Adds a message about a column unless a condition holds.
    ///
    /// - Parameters:
    ///   - isValid: The condition.
    ///   - column: The column that the message is about.
    ///   - message: The message.
    /// - Returns: The condition, so that a further check can depend on it.
    @discardableResult
    public mutating func check(_ isValid: Bool, _ column: String, _ message: Message) -> Bool {
        check(isValid, column, message: message)
    }

    /// Adds a message if a value is nil.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - column: The column that the message is about.
    ///   - message: The message.
    /// - Returns: Whether there is a value, so that a further check can depend on it.
    @discardableResult
    public mutating func require(
        _ value: (some Any)?, _ column: String, _ message: Message = .missing
    ) -> Bool { check(value != nil, column, message) }

    /// Adds a message if a text is nil, empty, or blank.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - column: The column that the message is about.
    ///   - message: The message.
    /// - Returns: Whether there is a text, so that a further check can depend on it.
    @discardableResult
    public mutating func require(
        _ text: String?, _ column: String, _ message: Message = .missing
    ) -> Bool { check(text?.contains { !$0.isWhitespace } ?? false, column, message) }

    /// Runs a function, and adds the messages of any ``ValidationError`` that it throws.
    ///
    /// - Parameter body: The function, such as `super.validate(db)`.
    /// - Throws: other errors of the function.
    public mutating func include(_ body: () throws -> Void) throws {
        do { try body() } catch let other as ValidationError { entries += other.entries }
    }
}

extension ValidationError: CustomStringConvertible {
    /// All messages in English, each after the columns that it is about.
    public var description: String {
        entries.map { entry in
            (entry.columns.isEmpty ? "" : entry.columns.joined(separator: ", ") + " ") + entry.message.text()
        }.joined(separator: "; ")
    }
}

extension ValidationError {
    /// A message that can be translated: a key, with the values that it mentions.
    ///
    /// ```swift
    /// errors.check(score <= limit, "score", ValidationError.Message("must not be over %@", limit))
    /// // In the form:
    /// label.text = message.text { key in String(localized: String.LocalizationValue(key)) }
    /// ```
    ///
    /// A string literal is a message without values.
    public struct Message: Hashable, Sendable {
        /// The key to translate: the English text, with `%@` in place of each value.
        public let key: String

        /// The values, in the order in which the key mentions them.
        public let values: [DatabaseValue]

        /// Creates a message.
        ///
        /// - Parameters:
        ///   - key: The English text, with `%@` in place of each value.
        ///   - values: The values.
        public init(_ key: String, _ values: any DatabaseValueConvertible...) {
            self.init(key: key, values: values.map(\.databaseValue))
        }

        fileprivate init(key: String, values: [DatabaseValue]) { (self.key, self.values) = (key, values) }

        /// Returns the text of the message, with its values.
        ///
        /// - Parameter translate: Returns the translation of the key. The default returns the key
        ///   itself.
        public func text(_ translate: (String) -> String = { $0 }) -> String {
            var (text, rest) = ("", translate(key)[...])
            for value in values {
                guard let place = rest.firstRange(of: "%@") else { break }
                text += rest[..<place.lowerBound] + value.description
                rest = rest[place.upperBound...]
            }
            return text + rest
        }

        /// A value is missing.
        public static let missing = Message("is missing")
        /// Another row has the value.
        public static let taken = Message("is taken")
        /// The value is not allowed.
        public static let notAllowed = Message("is not allowed")
        /// The row that the value refers to does not exist.
        public static let noSuchRow = Message("refers to a row that does not exist")
        /// Other rows refer to the row, so it cannot be deleted, nor can its key change.
        public static let inUse = Message("is in use")
        /// The value is of a type that the column does not store.
        public static let wrongType = Message("has the wrong type")
    }
}

extension ValidationError.Message: ExpressibleByStringLiteral {
    public init(stringLiteral key: String) { self.init(key: key, values: []) }
}

extension ValidationError.Message: CustomStringConvertible {
    public var description: String { text() }
}

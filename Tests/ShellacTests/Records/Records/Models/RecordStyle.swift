import Testing

/// The styles in which a class declares its columns. The suites on records run over classes of all
/// three.
///
/// A class in a variable is fetched as the variable's type. So each test opens the class of its
/// style by a generic function, whose parameter is named after what the records are.
enum RecordStyle: String, CaseIterable, Codable, Sendable, CustomTestStringConvertible {
    /// By the older pair of `updateFromRow(_:)` and `encode(to:)`.
    case pair
    /// By a list in `columns(_:)`.
    case list
    /// By `Codable`, and not a line more.
    case codable

    var testDescription: String { rawValue }

    /// Returns what is of this style: classes, as a rule.
    func choose<Choice>(_ pair: Choice, _ list: Choice, _ codable: Choice) -> Choice {
        switch self {
        case .pair: pair
        case .list: list
        case .codable: codable
        }
    }

    /// Returns each style with each of some elements, which are one argument of a test together.
    static func each<Element>(_ elements: some Collection<Element>) -> [(style: RecordStyle, Element)] {
        allCases.flatMap { style in elements.map { (style, $0) } }
    }
}

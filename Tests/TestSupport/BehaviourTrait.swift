public import Testing

/// The guarantees that a test proves, or a whole suite: numbers of the article "What Shellac
/// guarantees".
public struct BehaviourTrait: TestTrait, SuiteTrait {
    public let numbers: [Int]

    public init(numbers: [Int]) { self.numbers = numbers }
}

extension Trait where Self == BehaviourTrait {
    /// Says which guarantees a test proves: `@Test("What is undone is forgotten", .behaviour(15))`.
    public static func behaviour(_ numbers: Int...) -> Self { Self(numbers: numbers) }
}

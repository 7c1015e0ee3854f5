import Testing

@testable import Shellac

@Suite("The names of coding keys")
struct CodingKeyNamesTests {
    @Test("a case that was given another value has its name")
    func renamed() {
        #expect(CodingKeyNames.caseName(of: Renamed.dueDate) == "dueDate")
        #expect(Renamed.dueDate.stringValue == "due_date")
        #expect(CodingKeyNames.caseName(of: Renamed.title) == "title")
        #expect(CodingKeyNames.caseName(of: Numbered.second) == "second")
        #expect(CodingKeyNames.caseName(of: Single.only) == "only")
        #expect(CodingKeyNames.caseName(of: Renamed.`class`) == "class")
        #expect(CodingKeyNames.caseName(of: Renamed.größe) == "größe")
    }

    @Test("printing a key does not tell its case, by any public way")
    func printing() {
        let key = Renamed.dueDate
        var dumped = ""
        dump(key, to: &dumped)
        for text in [String(describing: key), String(reflecting: key), "\(Optional(key) as Any)", dumped] {
            #expect(!text.contains("dueDate"))
        }
        #expect(Mirror(reflecting: key).children.isEmpty)
    }

    @Test("a key that is no enum has no case")
    func noEnum() {
        #expect(CodingKeyNames.caseName(of: AnyKey(stringValue: "title")) == nil)
        #expect(CodingKeyNames.caseName(of: Liar.one) == nil)
    }

    @Test("a wrapped property is found under its underscore, and one that has the name itself goes first")
    func underscore() throws {
        let properties = try #require(StoredProperties.of(Underscored.self))
        #expect(CodingKeyNames.property(named: "wrapped", in: properties)?.name == "_wrapped")
        #expect(CodingKeyNames.property(named: "both", in: properties)?.name == "both")
        #expect(CodingKeyNames.property(named: "_both", in: properties)?.name == "_both")
        #expect(CodingKeyNames.property(named: "other", in: properties) == nil)
    }
}

private enum Renamed: String, CodingKey {
    case title
    case dueDate = "due_date"
    case `class` = "kind"
    case größe = "size"
}

private enum Numbered: Int, CodingKey {
    case first, second
}

private enum Single: String, CodingKey {
    case only = "just_one"
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

private enum Liar: String, CodingKey, CustomReflectable {
    case one
    var customMirror: Mirror { Mirror(self, children: []) }
}

@propertyWrapper private struct Wrapped<Value> {
    var wrappedValue: Value
}

private final class Underscored {
    @Wrapped var wrapped = 1
    var both = 1
    var _both = 2
}

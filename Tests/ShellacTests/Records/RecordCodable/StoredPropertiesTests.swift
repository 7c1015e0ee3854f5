import Synchronization
import Testing

@testable import Shellac

@Suite("The stored properties of a class")
struct StoredPropertiesTests {
    @Test("this system's metadata is what is expected")
    func isTrusted() {
        #expect(StoredProperties.isTrusted)
        #expect(StoredProperties.ofProbe?.properties.count == 12)
    }

    @Test(
        "properties that do not fit into an object are not believed",
        arguments: [
            ([16, 24], true), ([24, 16], true), ([16, 32], false), ([8, 16], false), ([16, 20], false),
            ([16, 28], false), ([-8, 16], false),
        ])
    func fit(offsets: [Int], fits: Bool) {
        let properties = [
            StoredProperty(name: "first", type: Int.self, offset: offsets[0]),
            StoredProperty(name: "second", type: Double.self, offset: offsets[1]),
            // A property without memory is anywhere.
            StoredProperty(name: "nothing", type: Void.self, offset: 0),
        ]
        #expect(StoredProperties.fit(properties, in: 16..<32) == fits)
        #expect(!StoredProperties.fit(properties, in: 16..<31))
    }

    @Test("a class has its own properties, without those of its superclasses")
    func ownProperties() throws {
        #expect(try names(Upper.self) == ["id"])
        #expect(try names(Middle.self) == ["flag", "title"])
        #expect(try names(Lower.self) == ["tail"])
        #expect(try names(None.self) == [])
    }

    @Test("a generic class has the types that it is specialised with")
    func genericClass() throws {
        let ints = try #require(StoredProperties.of(Generic<Int>.self))
        #expect(ints["value"]?.type == Int.self)
        let texts = try #require(StoredProperties.of(Generic<String>.self))
        #expect(texts["value"]?.type == String.self)
        #expect(texts["values"]?.type == [String].self)
        #expect(try names(BelowGeneric.self) == ["number"])
    }

    @Test("a private class inside a function is like any other")
    func localClass() throws {
        class Local: Upper { var local = 1.5 }
        final class Last: Local { var last = "" }
        #expect(try names(Local.self) == ["local"])
        #expect(try names(Last.self) == ["last"])
    }

    @Test("lazy and wrapped properties have the names that they are stored under")
    func storedNames() throws {
        #expect(try names(Kinds.self).prefix(3) == ["constant", "$__lazy_storage_$_late", "_wrapped"])
    }

    @Test(
        "what is not a strong var of a type that decodes cannot be assigned",
        arguments: [
            "constant", "weakObject", "owner", "unsafeOwner", "optionalOwner", "weakExistential", "closure",
            "cFunction", "any", "existential", "nothing", "unique", "mutex", "metatype", "plain",
        ])
    func notAssignable(name: String) throws {
        let property = try #require(StoredProperties.of(Kinds.self)?[name])
        #expect(!property.isAssignable)
        #expect(property.isVariable == !["constant", "mutex"].contains(name))
    }

    @Test("whether a reference is strong is told")
    func strength() throws {
        let properties = try #require(StoredProperties.of(Kinds.self)).properties
        #expect(
            properties.filter { !$0.isStrong }.map(\.name)
                == ["weakObject", "owner", "unsafeOwner", "optionalOwner", "weakExistential"])
    }

    @Test(
        "what decodes can be assigned, whatever it is",
        arguments: ["_wrapped", "choice", "tail", "reference", "list", "optional", "$__lazy_storage_$_late"])
    func assignable(name: String) throws {
        #expect(try #require(StoredProperties.of(Kinds.self)?[name]).isAssignable)
    }

    @Test("two threads that ask at once are told the same")
    func concurrentUse() async throws {
        let counts = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<20 {
                group.addTask { StoredProperties.of(Generic<[UInt8]>.self)?.properties.count ?? -1 }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 2, count: 20))
    }
}

private func names(_ type: AnyClass) throws -> [String] {
    try #require(StoredProperties.of(type)).properties.map(\.name)
}

// MARK: - Classes

private class Upper {
    var id: Int8 = 1
}

private class Middle: Upper {
    var flag = false
    var title = ""
}

private final class Lower: Middle {
    var tail: UInt16 = 0
}

private final class None: Upper {}

private class Generic<Value>: Upper {
    var value: Value
    var values: [Value] = []

    init(_ value: Value) { self.value = value }
}

private final class BelowGeneric: Generic<String> {
    var number = 1
}

@propertyWrapper private struct Wrapped<Value: Codable & Sendable>: Codable, Sendable {
    var wrappedValue: Value
}

private struct Unique: ~Copyable {
    var number = 1
}

private enum Choice: Codable {
    case number(Int)
    case text(String)
    case none
}

private final class Kinds: Upper {
    let constant = 3
    lazy var late = "late"
    @Wrapped var wrapped = 1
    weak var weakObject: Upper?
    unowned var owner: Upper
    unowned(unsafe) var unsafeOwner: Upper
    unowned var optionalOwner: Upper?
    weak var weakExistential: (any Marker)?
    var closure: () -> Void = {}
    var cFunction: @convention(c) () -> Void = {}
    var any: Any = 1
    var existential: any Hashable = 1
    var nothing: Void = ()
    var choice = Choice.number(1)
    var unique = Unique()
    let mutex = Mutex(1)
    var metatype: any Any.Type = Int.self
    var plain = Plain()
    var reference: Reference?
    var list: [Reference?] = []
    var optional: Int??
    var tail = ""

    init(_ owner: Upper) {
        self.owner = owner
        unsafeOwner = owner
    }
}

private protocol Marker: AnyObject {}
private struct Plain { var number = 1 }
private final class Reference: Codable {}

import Testing

@testable import Shellac

@Suite("Stored properties that are copied")
struct StoredPropertyAssigningTests {
    @Test("all that decodes is copied, and the rest stays")
    func all() throws {
        let life = Life()
        let (source, target) = (Sample("source", life), Sample("target", life))
        try properties.assign(nil, from: source, to: target)
        #expect(target.title == "source, a text of more than fifteen bytes")
        #expect(target.tags == ["source"])
        #expect(target.number == 6)
        #expect(target.choice == .text("source"))
        #expect(target.flag == true)
        #expect(target.object === source.object)
        #expect(target.closure() == "target")
        #expect(target.parent === life)
        #expect(target.constant == "target")
        #expect(target.ignored as? String == "target")
    }

    @Test("only what is named is copied")
    func named() throws {
        let life = Life()
        let (source, target) = (Sample("source", life), Sample("target", life))
        try properties.assign(["tags", "number", "closure", "parent", "unheard"], from: source, to: target)
        #expect(target.title.hasPrefix("target"))
        #expect(target.tags == ["source"])
        #expect(target.number == 6)
        #expect(target.object !== source.object)
        #expect(target.closure() == "target")
    }

    @Test("an object below the class keeps what its own class declares")
    func subclass() throws {
        let life = Life()
        let (source, target) = (LowerSample("source", life), LowerSample("target", life))
        source.lower = "source"
        try properties.assign(nil, from: source, to: target)
        #expect(target.tags == ["source"])
        #expect(target.lower == "")
    }

    @Test("what lies behind a property, where an array would have room between its elements, stays")
    func neighbours() throws {
        let (source, target) = (Narrow(), Narrow())
        (source.number, source.flag, source.pair, source.last) = (1, true, Narrow.Pair(), true)
        let properties = try #require(StoredProperties.of(Narrow.self))
        let (number, flag) = try (#require(properties["number"]), #require(properties["flag"]))
        #expect(flag.offset == number.offset + 9)
        properties.assign(["number", "pair"], from: source, to: target)
        #expect(target.number == 1)
        #expect(!target.flag)
        #expect(target.pair?.text == "pair")
        #expect(!target.last)
    }

    @Test("an object that is copied to itself is as before")
    func itself() throws {
        let sample = Sample("source", Life())
        try properties.assign(nil, from: sample, to: sample)
        #expect(sample.tags == ["source"])
        #expect(sample.title == "source, a text of more than fifteen bytes")
    }

    @Test("every object is freed, once")
    func counts() throws {
        let life = Life()
        let properties = try self.properties
        do {
            let target = Sample("target", life)
            for index in 0..<1000 {
                let source = Sample("source \(index)", life)
                properties.assign(nil, from: source, to: target)
                properties.assign(["object", "tags"], from: source, to: target)
            }
            // Each object that was replaced is gone, each source, and what the last source had
            // lives on.
            #expect(life.living == 1)
            #expect(target.object?.name == "source 999")
            #expect(target.tags == ["source 999"])
        }
        #expect(life.living == 0)
    }

    @Test("what was copied outlives where it came from")
    func outlives() throws {
        let life = Life()
        let target = Sample("target", life)
        do { try properties.assign(nil, from: Sample("source", life), to: target) }
        // They take the memory of the source, if that was freed.
        let texts = (0..<100).map { Sample("other \($0)", life) }
        withExtendedLifetime(texts) {
            #expect(target.title + target.tags.joined() == "source, a text of more than fifteen bytessource")
            #expect(target.object?.name == "source")
        }
    }

    @Test("a property is read and set as what it is, and as nothing else")
    func values() throws {
        let sample = Sample("source", Life())
        let properties = try self.properties
        let (tags, number) = try (#require(properties["tags"]), #require(properties["number"]))
        #expect(tags.value(as: [String].self, in: sample) == ["source"])
        #expect(tags.value(as: String.self, in: sample) == nil)
        #expect(number.value(as: Int.self, in: sample) == nil)
        #expect(number.value(as: Int?.self, in: sample) == .some(.some(6)))
        #expect(number.set(Int?.none, in: sample))
        #expect(!number.set(7, in: sample))
        #expect(sample.number == nil)
        let closure = try #require(properties["closure"])
        #expect(closure.value(as: (() -> String).self, in: sample) == nil)
        #expect(try !#require(properties["constant"]).set("x", in: sample))
    }

    @Test("a property that is being modified is not copied to: the program stops")
    func exclusivity() async {
        await #expect(processExitsWith: .failure) {
            let (source, target) = (Sample("source", Life()), Sample("target", Life()))
            guard let properties = StoredProperties.of(Sample.self) else { return }
            during(&target.tags) { properties.assign(nil, from: source, to: target) }
        }
        await #expect(processExitsWith: .failure) {
            let target = Sample("target", Life())
            guard let tags = StoredProperties.of(Sample.self)?["tags"] else { return }
            during(&target.tags) { _ = tags.value(as: [String].self, in: target) }
        }
        await #expect(processExitsWith: .failure) {
            let target = Sample("target", Life())
            guard let tags = StoredProperties.of(Sample.self)?["tags"] else { return }
            during(&target.tags) { _ = tags.set(["x"], in: target) }
        }
        // Another property may be modified meanwhile.
        await #expect(processExitsWith: .success) {
            let (source, target) = (Sample("source", Life()), Sample("target", Life()))
            guard let properties = StoredProperties.of(Sample.self) else { return }
            during(&target.tags) { properties.assign(["title", "number"], from: source, to: target) }
        }
    }

    private var properties: StoredProperties { get throws { try #require(StoredProperties.of(Sample.self)) } }
}

@inline(never) private func during(_ tags: inout [String], _ body: () -> Void) {
    body()
    tags.append("after")
}

/// Properties that end where those behind them begin.
private final class Narrow {
    var number: Int64?
    var flag = false
    var pair: Pair?
    var last = false

    struct Pair: Codable {
        var text = "pair"
        var number: Int32? = 1
    }
}

/// Counts objects that live.
private final class Life {
    var living = 0
}

private final class Counted: Decodable {
    let name: String
    let life: Life?

    init(_ name: String, _ life: Life) {
        self.name = name
        self.life = life
        life.living += 1
    }
    init(from decoder: any Decoder) throws {
        name = ""
        life = nil
    }
    deinit { life?.living -= 1 }
}

private enum Choice: Codable, Equatable {
    case number(Int)
    case text(String)
}

private class Sample {
    var title: String
    var tags: [String]
    var number: Int?
    var flag: Bool?
    var choice: Choice
    var object: Counted?
    var closure: () -> String
    weak var parent: Life?
    let constant: String
    var ignored: Any

    init(_ name: String, _ life: Life) {
        title = name + ", a text of more than fifteen bytes"
        tags = [name]
        number = name.utf8.count
        flag = name == "source"
        choice = .text(name)
        object = Counted(name, life)
        closure = { name }
        parent = life
        constant = name
        ignored = name
    }
}

private final class LowerSample: Sample {
    var lower = ""
}

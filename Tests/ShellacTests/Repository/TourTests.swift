import Foundation
import TestSupport
import Testing

/// Tests that keep the tour's pages together. The pages themselves are run by `swift run Tour`.
@Suite struct TourTests {
    @Test("every page stands in a folder, in the playground's contents and in Package.swift")
    func pagesAgree() throws {
        let playground = Repository.root.appending(path: "Playgrounds/Tour.playground")
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: playground.appending(path: "Pages").path
        )
        .filter { $0.hasSuffix(".xcplaygroundpage") }
        .map { String($0.dropLast(".xcplaygroundpage".count)) }
        let contents = try text(playground.appending(path: "contents.xcplayground"))
            .matches(of: /<page name='(\w+)'\/>/).map { String($0.1) }
        let manifest = try text(Repository.root.appending(path: "Package.swift"))
        let list = try #require(manifest.firstMatch(of: /let pages = \[([^\]]*)\]/)).1
        let targets = list.matches(of: /"(\w+)"/).map { String($0.1) }
        #expect(!folders.isEmpty)
        #expect(contents.sorted() == folders.sorted())
        #expect(
            targets == contents, "Package.swift lists the pages in another order than contents.xcplayground")
    }

    private func text(_ url: URL) throws -> String {
        try String(decoding: Data(contentsOf: url), as: UTF8.self)
    }
}

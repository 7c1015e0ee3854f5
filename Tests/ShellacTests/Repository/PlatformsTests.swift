import Foundation
import TestSupport
import Testing

@Suite struct PlatformsTests {
    @Test("No Swift file of Sources names a C library, so a port to another one changes a C header alone")
    func imports() throws {
        let folder = Repository.root.appending(path: "Sources")
        let names = try #require(FileManager.default.subpaths(atPath: folder.path))
        var (count, faulty) = (0, [String]())
        for name in names where name.hasSuffix(".swift") {
            count += 1
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            if text.contains(/(?m)^\s*(?:\w+ )?import (?:Darwin|Glibc|Musl|Android|Bionic|ucrt)\b/) {
                faulty.append(name)
            }
        }
        #expect(count > 300)
        #expect(faulty == [])
    }
}

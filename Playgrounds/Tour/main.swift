// The tour: `swift run Tour` shows all pages, `swift run Tour rows values` some,
// `swift run Tour --list` their names.
//
// A page exists once, in Tour.playground, where Xcode opens it too, and is an executable of its
// own. The target Tour depends on the pages' targets. SwiftPM builds these executables, as it does
// a plugin's tools, and puts them beside this one, so `swift run Tour` is all it takes. Here they
// are run one after the other; a page that traps ends itself, and not the tour.

import Foundation

/// A page of the playground, and the first lines of its text.
struct Page {
    let name: String
    let title: String
    let introduction: [String]

    /// Reads `//: # Title` and the `//:` lines under it.
    init(name: String, in playground: URL) throws {
        self.name = name
        let file = playground.appending(path: "Pages/\(name).xcplaygroundpage/Contents.swift")
        let lines = try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        let text = lines.prefix { $0.hasPrefix("//:") }.map { line in
            line.dropFirst(3).trimmingCharacters(in: .whitespaces)
        }
        title = text.first.map { $0.trimmingPrefix("# ") }.map(String.init) ?? name
        introduction = Array(text.dropFirst())
    }

    /// Whether the page ran to its end.
    func show() throws -> Bool {
        let bold = isatty(STDOUT_FILENO) == 1 ? ("\u{1B}[1m", "\u{1B}[0m") : ("", "")
        write("\n\(bold.0)\(title)\(bold.1)\n\(String(repeating: "=", count: title.count))\n")
        write(introduction.map { $0 + "\n" }.joined() + "\n")
        guard let tour = Bundle.main.executableURL else { throw CocoaError(.fileNoSuchFile) }
        let process = Process()
        process.executableURL = tour.deletingLastPathComponent().appending(path: "Tour\(name)")
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationReason == .exit && process.terminationStatus == 0
    }
}

/// Writes at once, so that the pages' own output comes in its place.
func write(_ text: String, to handle: FileHandle = .standardOutput) {
    handle.write(Data(text.utf8))
}

func fail(_ sentence: String) -> Never {
    write("Tour: \(sentence)\n", to: .standardError)
    exit(1)
}

let playground = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Tour.playground")
let contents = try String(contentsOf: playground.appending(path: "contents.xcplayground"), encoding: .utf8)
let pages = try contents.matches(of: /<page name='(\w+)'\/>/).map { match in
    try Page(name: String(match.1), in: playground)
}

let arguments = CommandLine.arguments.dropFirst()
if arguments == ["--list"] {
    for page in pages { write("\(page.name.lowercased()): \(page.title)\n") }
    exit(0)
}

let asked = arguments.map { argument in
    guard let page = pages.first(where: { $0.name.lowercased() == argument.lowercased() }) else {
        fail(
            "no page is named '\(argument)'. The pages are: \(pages.map { $0.name.lowercased() }.joined(separator: ", "))"
        )
    }
    return page
}
for page in asked.isEmpty ? pages : asked {
    guard try page.show() else { fail("the page '\(page.name.lowercased())' failed") }
}

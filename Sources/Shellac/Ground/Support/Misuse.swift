/// The one place where Shellac traps.
///
/// What SQLite or the data can cause throws an error. A misuse of the API, such as accessing a database
/// from inside another access to it, stops the program, with a sentence that says what to do instead.
@usableFromInline
enum Misuse {
    @usableFromInline @inline(never)
    static func trap(_ sentence: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
        fatalError("Shellac was misused: \(sentence)", file: file, line: line)
    }
}

/// The one place where Shellac traps.
///
/// Anything that SQLite or the data can cause throws an error. A misuse of the API stops the
/// program instead, with a sentence that says what to do. An example is accessing a database from
/// inside another access to it.
@usableFromInline
enum Misuse {
    @usableFromInline @inline(never)
    static func trap(_ sentence: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
        fatalError("Shellac was misused: \(sentence)", file: file, line: line)
    }
}

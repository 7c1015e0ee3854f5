/// The options of the command line.
struct Options {
    /// The beginnings of the names of the workloads to run: all, when empty.
    var prefixes: [String] = []
    var rows: Int
    var rounds: Int
    /// The time for which rounds are added while a result is uncertain.
    var seconds: Int
    var json: String?
    var chart: String?
    /// The JSON of an earlier run, to compare with.
    var baseline: String?
    var memory = false
    var growth = false
    var list = false
    var help = false
    /// The one measurement to make, in a process that the program has started itself.
    var footprint: FootprintRequest?
    /// Whether CSV is read and written beside sqlite3, or the one step of it, in a process that the
    /// program has started itself.
    var exchange = false
    var exchangeStep: [String]?
    /// The one step of ``GrowthComparison``, in a process that the program has started itself.
    var growthStep: (name: String, size: Int)?
    /// The same for the start of a process.
    var startup = false
    var startupStep: [String]?

    static let usage = """
        USAGE: Benchmarks [WORKLOAD-PREFIX…] [OPTIONS]

          --rows N      the rows of each table (200000); all other counts go by it
          --rounds N    the rounds that count, after one to warm up (9, and on a busy machine more)
          --smoke       2000 rows, 1 round: shows that all workloads run and that checksums agree
          --memory      the memory workloads, each side in a process of its own, in bytes per record
          --growth      the workloads with 1000 to 1000000 rows, and more of other things
          --startup     the time and memory of a process that opens a file and reads one row
          --exchange    a million lines of CSV into and out of a table, beside sqlite3 (--rows says how many)
          --json FILE   writes the results as JSON
          --baseline FILE  marks what has changed since the run that has written this JSON
          --chart FILE  writes the results as an SVG
          --list        lists the workloads, and runs none
        """

    init(_ arguments: some Sequence<String>) throws {
        var rows: Int?
        var rounds: Int?
        var smoke = false
        var rest = Array(arguments)[...]

        func word(after option: String) throws -> String {
            guard let word = rest.popFirst() else { throw OptionError("\(option) wants a value") }
            return word
        }
        func number(after option: String) throws -> Int {
            let word = try word(after: option)
            guard let number = Int(word), number > 0 else {
                throw OptionError("\(option) wants a number from 1, not \(word)")
            }
            return number
        }

        (self.rows, self.rounds, seconds) = (0, 0, 0)
        while let argument = rest.popFirst() {
            switch argument {
            case "--rows": rows = try number(after: argument)
            case "--rounds": rounds = try number(after: argument)
            case "--json": json = try word(after: argument)
            case "--chart": chart = try word(after: argument)
            case "--smoke": smoke = true
            case "--memory": memory = true
            case "--list": list = true
            case "--growth": growth = true
            case GrowthComparison.step:
                growthStep = (try word(after: argument), try number(after: argument))
            case "--baseline": baseline = try word(after: argument)
            case StartupComparison.option: startup = true
            case StartupComparison.step:
                startupStep = try [word(after: argument), word(after: argument)]
            case ExchangeComparison.option: exchange = true
            case ExchangeComparison.step:
                exchangeStep = try [word(after: argument), word(after: argument), word(after: argument)]
            case "--help", "-h": help = true
            case FootprintRequest.option:
                footprint = FootprintRequest(
                    workload: try word(after: argument), side: try word(after: argument),
                    path: try word(after: argument), rows: try number(after: argument))
            case _ where argument.hasPrefix("-"): throw OptionError("unknown option \(argument)")
            default: prefixes.append(argument)
            }
        }
        self.rows = rows ?? (smoke ? 2_000 : exchange ? 1_000_000 : 200_000)
        self.rounds = rounds ?? (smoke ? 1 : 9)
        seconds = rounds == nil && !smoke ? 20 : 0
    }
}

struct OptionError: Error, CustomStringConvertible {
    let message: String
    init(_ message: String) { self.message = message }
    var description: String { "\(message)\n\n\(Options.usage)" }
}

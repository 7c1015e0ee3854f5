import Foundation

extension Report {
    /// The results as JSON, one in a line. Numbers are rounded, and keys are sorted.
    var json: String {
        let lines = outcomes.map { "    {" + $0.members.joined(separator: ", ") + "}" }
        return """
            {
              "machine": \(machine.json),
              "rounds": \(rounds),
              "results": [
            \(lines.joined(separator: ",\n"))
              ]
            }

            """
    }
}

extension Outcome {
    fileprivate var members: [String] {
        let unit = workload.unit == .memory ? "bytes" : "ns"
        let members: [(String, String?)] = [
            ("workload", workload.name.json),
            ("rows", String(operations)),
            ("c_\(unit)", c?.text(1)),
            ("shellac_\(unit)", shellac.text(1)),
            ("ratio", ratio?.text(2)),
            ("uncertainty", uncertainty.flatMap { $0.isFinite ? $0.text(3) : nil }),
            ("gate", workload.gate.text(2)),
            ("goal", workload.goal.text(2)),
            ("checksum", checksum.json),
        ]
        return members.compactMap { name, value in value.map { "\(name.json): \($0)" } }
    }
}

extension String {
    /// The text as a JSON string.
    fileprivate var json: String {
        var json = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": json += "\\\(scalar)"
            case _ where scalar.value < 32: json += String(format: "\\u%04x", scalar.value)
            default: json.unicodeScalars.append(scalar)
            }
        }
        return json + "\""
    }
}

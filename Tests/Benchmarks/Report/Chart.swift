extension Report {
    /// The results as a chart: for each workload a bar, a mark at its goal, and the gates in one
    /// line.
    var svg: String {
        let lineHeight = 26
        let height = 70 + outcomes.count * lineHeight
        let lines = outcomes.enumerated().map { index, outcome in
            outcome.bar(y: 54 + index * lineHeight)
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Bar.width)" height="\(height)" \
            font-family="sans-serif" font-size="12">
            <rect width="100%" height="100%" fill="white"/>
            <text x="12" y="20" font-size="14" font-weight="bold">Shellac beside the C API</text>
            <text x="12" y="38" fill="#666">\(machine.xml), rounds: \(rounds)</text>
            \(lines.joined(separator: "\n"))
            <line x1="\(Bar.gate)" x2="\(Bar.gate)" y1="46" y2="\(height - 16)" stroke="#b00"/>
            <text x="\(Bar.gate)" y="\(height - 4)" fill="#b00" text-anchor="middle">gate</text>
            </svg>

            """
    }
}

/// The places of a bar in the chart.
private enum Bar {
    static let width = 920
    static let start = 200
    /// The position of each workload's gate. A bar may be longer by a third.
    static let gate = 560
}

extension Outcome {
    fileprivate func bar(y: Int) -> String {
        func place(_ value: Double) -> Int {
            Int(Double(Bar.gate - Bar.start) * min(value / workload.gate, 4.0 / 3))
        }
        let colour = ["goal": "#2a7", "gate": "#db3"][verdict] ?? "#d43"
        let goal = Bar.start + place(workload.goal)
        let value = ratio.map { "\($0.text(2))×" } ?? "\(shellac.text(1)) ns"
        return """
            <text x="12" y="\(y + 13)">\(workload.name.xml)</text>
            <rect x="\(Bar.start)" y="\(y)" width="\(place(measured))" height="18" fill="\(colour)"/>
            <line x1="\(goal)" x2="\(goal)" y1="\(y - 2)" y2="\(y + 20)" stroke="black"/>
            <text x="700" y="\(y + 13)">\(value) (goal \(workload.goalText), gate \(workload.gateText))</text>
            """
    }
}

extension String {
    /// The text, for use in XML.
    fileprivate var xml: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

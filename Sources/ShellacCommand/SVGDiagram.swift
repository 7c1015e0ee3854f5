// Draws tables and their foreign keys as an SVG diagram.

import Shellac

/// A diagram as a picture: boxes of tables, in columns by their references, and lines for foreign
/// keys.
enum SVGDiagram {
    private static let (rowHeight, headHeight, letterWidth, padding) = (20, 26, 8, 12)
    private static let (gap, lineGap, margin) = (32, 90, 20)

    private struct Box {
        let table: SchemaFacts.Table
        let rows: [(name: String, type: String, isKey: Bool)]
        let width: Int
        var (x, y) = (0, 0)

        var height: Int { headHeight + max(rows.count, 1) * rowHeight + 6 }

        init(_ table: SchemaFacts.Table) {
            self.table = table
            rows = table.columns.map {
                (TextWidth.visible($0.name), TextWidth.visible($0.type), $0.primaryKeyIndex > 0)
            }
            let letters = rows.map { TextWidth.of($0.name) + TextWidth.of($0.type) + 3 }.max() ?? 0
            width = max(letters, TextWidth.of(table.name) + 2, 10) * letterWidth + 2 * padding
        }

        /// Returns the point where the line of a column begins or ends.
        func place(of column: String?, right: Bool) -> (Int, Int) {
            let index = column.flatMap { name in table.columns.firstIndex { $0.name.isSameName(as: name) } }
            let row = index.map { headHeight + $0 * rowHeight + rowHeight / 2 } ?? headHeight / 2
            return (right ? x + width : x, y + row)
        }
    }

    static func text(_ facts: SchemaFacts) -> String {
        let boxes = placed(facts.tables.map(Box.init))
        let width = (boxes.map { $0.x + $0.width }.max() ?? 200) + margin
        let height = (boxes.map { $0.y + $0.height }.max() ?? 60) + margin
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
            font-family="ui-monospace, Menlo, monospace" font-size="13">
            <rect width="\(width)" height="\(height)" fill="#ffffff"/>

            """
        for box in boxes { for key in box.table.foreignKeys { text += line(key, from: box, boxes) } }
        for box in boxes { text += picture(box) }
        return text + "</svg>\n"
    }

    /// Places each table to the right of the tables that it refers to.
    private static func placed(_ boxes: [Box]) -> [Box] {
        var levels = [Int](repeating: 0, count: boxes.count)
        // One round for each table, so that it ends even if tables refer to each other in a cycle.
        for _ in boxes.indices {
            for (index, box) in boxes.enumerated() {
                for key in box.table.foreignKeys {
                    guard
                        let other = boxes.firstIndex(where: {
                            $0.table.name.isSameName(as: key.destinationTable)
                        }),
                        other != index
                    else { continue }
                    levels[index] = min(max(levels[index], levels[other] + 1), boxes.count - 1)
                }
            }
        }
        var boxes = boxes
        var x = margin
        for level in Set(levels).sorted() {
            var (y, width) = (margin, 0)
            for index in boxes.indices where levels[index] == level {
                (boxes[index].x, boxes[index].y) = (x, y)
                y += boxes[index].height + gap
                width = max(width, boxes[index].width)
            }
            x += width + lineGap
        }
        return boxes
    }

    private static func line(_ key: ForeignKeyInfo, from box: Box, _ boxes: [Box]) -> String {
        guard let other = boxes.first(where: { $0.table.name.isSameName(as: key.destinationTable) }) else {
            return ""
        }
        let isLeft = other.x + other.width <= box.x
        let (x1, y1) = box.place(of: key.originColumns.first, right: !isLeft)
        let (x2, y2) = other.place(of: key.destinationColumns.first, right: isLeft || other.x == box.x)
        let bend = isLeft ? -lineGap / 2 : lineGap / 2
        let end = isLeft || other.x == box.x ? x2 + lineGap / 2 : x2 - lineGap / 2
        return
            "<path d=\"M \(x1) \(y1) C \(x1 + bend) \(y1), \(end) \(y2), \(x2) \(y2)\" fill=\"none\" stroke=\"#7a869a\"/>\n"
            + "<circle cx=\"\(x2)\" cy=\"\(y2)\" r=\"3\" fill=\"#7a869a\"/>\n"
    }

    private static func picture(_ box: Box) -> String {
        let (x, y, width) = (box.x, box.y, box.width)
        var text = """
            <rect x="\(x)" y="\(y)" width="\(width)" height="\(box.height)" rx="5" fill="#f7f8fa" stroke="#42526e"/>
            <text x="\(x + padding)" y="\(y + 18)" font-weight="bold" fill="#172b4d">\(escaped(TextWidth.visible(box.table.name)))</text>
            <line x1="\(x)" y1="\(y + headHeight)" x2="\(x + width)" y2="\(y + headHeight)" stroke="#42526e"/>

            """
        for (index, row) in box.rows.enumerated() {
            let base = y + headHeight + index * rowHeight + 15
            let style = row.isKey ? " text-decoration=\"underline\"" : ""
            text +=
                "<text x=\"\(x + padding)\" y=\"\(base)\" fill=\"#172b4d\"\(style)>\(escaped(row.name))</text>\n"
            text +=
                "<text x=\"\(x + width - padding)\" y=\"\(base)\" text-anchor=\"end\" fill=\"#7a869a\">\(escaped(row.type))</text>\n"
        }
        return text
    }

    private static func escaped(_ text: String) -> String {
        // (A sign is one character with an accent behind it.)
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            default: String(scalar)
            }
        }.joined()
    }
}

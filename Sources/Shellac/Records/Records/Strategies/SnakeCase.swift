// Conversion of names between snake case and camel case.

extension String {
    /// The name in snake case: `createdAt` is `created_at`, `myURLString` is `my_url_string`.
    var snakeCased: String {
        var result = ""
        let letters = Array(self)
        for (index, letter) in letters.enumerated() {
            guard letter.isUppercase else {
                result.append(letter)
                continue
            }
            // A capital begins a word after a small letter, and before one, like the S of
            // `URLString`.
            if index > 0, letters[index - 1] != "_" {
                let isBehindSmall = !letters[index - 1].isUppercase
                let isBeforeSmall = index + 1 < letters.count && letters[index + 1].isLowercase
                if isBehindSmall || isBeforeSmall { result.append("_") }
            }
            result += letter.lowercased()
        }
        return result
    }

    /// The name in camel case: `created_at` is `createdAt`. Underscores around the name are kept.
    var camelCased: String {
        guard let first = firstIndex(where: { $0 != "_" }), let last = lastIndex(where: { $0 != "_" })
        else { return self }
        let words = self[first...last].split(separator: "_")
        guard words.count > 1, let head = words.first else { return self }
        let tail = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
        return self[..<first] + head.lowercased() + tail.joined() + self[index(after: last)...]
    }
}

/// Columns for people. A column without any entry is left out.
struct TextTable {
    private let titles: [String]
    private var rows: [[String]] = []

    init(_ titles: [String]) { self.titles = titles }

    mutating func add(_ row: [String]) { rows.append(row) }

    var isEmpty: Bool { rows.isEmpty }

    func lines(style: Style, indent: String = "  ") -> [String] {
        let columns = titles.indices.filter { index in rows.contains { !$0[index].isEmpty } }
        let widths = columns.map { index in (rows.map { $0[index] } + [titles[index]]).map(\.count).max() ?? 0 }
        func line(_ row: [String]) -> String {
            var cells = zip(columns, widths).map { row[$0] + String(repeating: " ", count: $1 - row[$0].count) }
            if let last = columns.last { cells[cells.count - 1] = row[last] }
            return indent + cells.joined(separator: "  ")
        }
        return [style.bold(line(titles))] + rows.map { line($0).trimmedEnd }
    }
}

extension String {
    fileprivate var trimmedEnd: String {
        var rest = self[...]
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}

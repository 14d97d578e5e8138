internal import Glibc
internal import MeasurementModel

/// Where the device went, as a plain drawing: north is up, metres are true in both directions, and colour is the signal.
struct TrackMap {
    private struct Point {
        let offset: Double
        let latitude: Double
        /// Continued over the date line.
        let longitude: Double
        let accuracy: Double?
        let grade: SignalGrade
    }

    private static let maximumPoints = 2000
    private static let metresPerDegree = 111_195.0
    private static let width = 800.0
    private static let margin = 40.0
    private let points: [Point]

    init(_ report: JSONValue, _ connection: ConnectionTrace) {
        var found: [Point] = []
        var first: Double?
        for snapshot in report["geolocation_trace"]?.array ?? [] {
            guard let latitude = snapshot["latitude"]?.double, let longitude = snapshot["longitude"]?.double,
                (-90...90).contains(latitude), (-180...180).contains(longitude)
            else { continue }
            let origin = first ?? longitude
            first = origin
            let continued = longitude - origin > 180 ? longitude - 360 : longitude - origin < -180 ? longitude + 360 : longitude
            let offset = snapshot["offset_ms"]?.double ?? 0
            found.append(
                Point(
                    offset: offset, latitude: latitude, longitude: continued, accuracy: snapshot["horizontal_accuracy"]?.double,
                    grade: SignalGrade(connection.snapshot(at: offset))))
        }
        // A long track is thinned: a drawing of this size shows no more.
        let step = max(1, (found.count + Self.maximumPoints - 1) / Self.maximumPoints)
        points = found.enumerated().compactMap { $0.offset % step == 0 || $0.offset == found.count - 1 ? $0.element : nil }
    }

    var markup: Markup {
        guard let first = points.first, let last = points.last else {
            return "<p class=\"none\">The report has no positions: none were recorded, or none were permitted.</p>"
        }
        let frame = Frame(points)
        let grades = SignalGrade.allCases.filter { grade in points.contains { $0.grade == grade } }
        let legend = grades.map { "<li><i class=\"swatch signal-\($0.rawValue)\"></i>\($0.meaning)</li>" as Markup }
        return """
            <figure>
            <svg class="track" viewBox="0 0 \(frame.viewWidth) \(frame.viewHeight)" role="img" aria-label="Track of \(points.count) positions">
            <g class="casing">\(segments(frame) { _ in "casing" })</g>
            <g class="line">\(segments(frame) { "signal-\($0.rawValue)" })</g>
            <g class="fixes">\(fixes(frame))</g>
            \(marker(frame.place(first.latitude, first.longitude), "start", "Start"))
            \(marker(frame.place(last.latitude, last.longitude), "end", "End"))
            \(frame.scale)
            <g class="north"><path d="M 776 44 V 16 m -6 9 l 6 -9 l 6 9"/><text x="776" y="60">N</text></g>
            </svg>
            <figcaption><ul class="legend">\(legend)</ul>\(frame.caption)</figcaption>
            </figure>
            """
    }

    private func segments(_ frame: Frame, _ style: (SignalGrade) -> String) -> [Markup] {
        zip(points, points.dropFirst()).map { from, to in
            let (x1, y1) = frame.place(from.latitude, from.longitude)
            let (x2, y2) = frame.place(to.latitude, to.longitude)
            return "<path class=\"\(style(from.grade))\" d=\"M \(x1) \(y1) L \(x2) \(y2)\"/>"
        }
    }

    private func fixes(_ frame: Frame) -> [Markup] {
        points.map { point in
            let (x, y) = frame.place(point.latitude, point.longitude)
            let accuracy = point.accuracy.map { ", within \(Numbers.decimal($0, 1)) m" } ?? ""
            let place = "\(Numbers.decimal(point.latitude, 6)), \(Numbers.decimal(point.longitude, 6))\(accuracy)"
            let moment = "after \(Numbers.decimal(point.offset / 1000, 1)) s"
            return
                "<circle class=\"signal-\(point.grade.rawValue)\" cx=\"\(x)\" cy=\"\(y)\" r=\"4\"><title>\(moment): \(place)</title></circle>"
        }
    }

    private func marker(_ place: (x: String, y: String), _ style: String, _ name: String) -> Markup {
        "<g class=\"\(style)\"><circle cx=\"\(place.x)\" cy=\"\(place.y)\" r=\"7\"/><title>\(name)</title></g>"
    }

    /// From degrees to the drawing.
    private struct Frame {
        private let west: Double
        private let north: Double
        private let narrowing: Double
        private let scaleFactor: Double
        let viewWidth: String
        let viewHeight: String
        private let height: Double
        private let metresAcross: Double

        init(_ points: [Point]) {
            let latitudes = points.map(\.latitude)
            let longitudes = points.map(\.longitude)
            let south = latitudes.min() ?? 0
            let top = latitudes.max() ?? 0
            let left = longitudes.min() ?? 0
            let right = longitudes.max() ?? 0
            // A degree of longitude is shorter away from the equator; at a pole it is nothing, and the drawing is still one.
            narrowing = max(0.01, cos((south + top) / 2 * .pi / 180))
            let across = (right - left) * narrowing * TrackMap.metresPerDegree
            let down = (top - south) * TrackMap.metresPerDegree
            // A device that stood still has no extent: ten metres around it.
            let space = TrackMap.width - 2 * TrackMap.margin
            let extent = max(across, down / 0.7, 10)
            scaleFactor = space / extent
            height = max(220, down * scaleFactor + 2 * TrackMap.margin + 24)
            west = left - (extent - across) / 2 / (narrowing * TrackMap.metresPerDegree)
            let room = (height - 24 - 2 * TrackMap.margin) / scaleFactor
            north = top + (room - down) / 2 / TrackMap.metresPerDegree
            metresAcross = extent
            viewWidth = Numbers.decimal(TrackMap.width, 0)
            viewHeight = Numbers.decimal(height, 0)
        }

        func place(_ latitude: Double, _ longitude: Double) -> (x: String, y: String) {
            let x = TrackMap.margin + (longitude - west) * narrowing * TrackMap.metresPerDegree * scaleFactor
            let y = TrackMap.margin + (north - latitude) * TrackMap.metresPerDegree * scaleFactor
            return (Numbers.decimal(x, 1), Numbers.decimal(y, 1))
        }

        /// A round length of about a quarter of the drawing.
        private var barMetres: Double {
            let wanted = metresAcross / 4
            let power = pow(10, floor(log10(wanted)))
            return ([5, 2, 1].first { $0 * power <= wanted } ?? 1) * power
        }

        var scale: Markup {
            let end = Numbers.decimal(TrackMap.margin + barMetres * scaleFactor, 1)
            let y = Numbers.decimal(height - 18, 0)
            let start = Numbers.decimal(TrackMap.margin, 0)
            let label = Numbers.decimal(height - 26, 0)
            return """
                <g class="scale"><path d="M \(start) \(y) m 0 -5 v 5 H \(end) v -5"/><text x="\(start)" y="\(label)">\(Numbers.metres(barMetres))</text></g>
                """
        }

        var caption: Markup { "<p class=\"hint\">North is up. Rest on a point for its time and place.</p>" }
    }
}

@testable import Geolocation
import MeasurementModel
import Testing

/// The silence of the other side, and the times between attempts. Covers R-24, P48, P53, P70.
@Suite struct LinkWatchTests {
    private let report = GPSDLine.tpv(.full())

    @Test("who does not greet is no gpsd (P50)")
    func noGreeting() {
        var watch = LinkWatch(connectedAt: at(0), timing: Timing())
        #expect(watch.deadline == at(5))
        #expect(watch.tick(at: at(4.9)) == nil)
        #expect(watch.tick(at: at(5)) == .reconnect(reason: "no gpsd answers there"))
    }

    @Test("without reports gpsd is asked again each ten seconds, and given up after 75 (P48)")
    func silence() {
        var watch = LinkWatch(connectedAt: at(0), timing: Timing())
        watch.heard(.version(release: nil), at: at(0))
        watch.heard(report, at: at(1))
        var asked: [Int] = []
        for second in 2..<76 where watch.tick(at: at(Double(second))) == .watchAgain { asked.append(second) }
        #expect(asked == [11, 21, 31, 41, 51, 61, 71])
        #expect(watch.tick(at: at(76)) == .reconnect(reason: "nothing was heard for 75.0 s"))
    }

    @Test("reports keep it quiet")
    func reports() {
        var watch = LinkWatch(connectedAt: at(0), timing: Timing())
        for second in 0..<200 {
            watch.heard(report, at: at(Double(second)))
            #expect(watch.tick(at: at(Double(second))) == nil)
        }
    }

    @Test("a gpsd that answers and has no receiver is asked, and not given up (P50)")
    func noReceiver() {
        var watch = LinkWatch(connectedAt: at(0), timing: Timing())
        watch.expectsReports = false
        for second in 0..<300 {
            let action = watch.tick(at: at(Double(second)))
            #expect(action == nil || action == .watchAgain)
            if second == 0 || action == .watchAgain { watch.heard(.devices([]), at: at(Double(second))) }
        }
        #expect(watch.tick(at: at(400)) == .reconnect(reason: "nothing was heard for 75.0 s"))
    }

    @Test("waits double from a tenth of a second to five, with jitter; ten minutes are at most 170 attempts (P70)")
    func backOff() {
        var backOff = BackOff(first: .milliseconds(100), longest: .seconds(5))
        #expect((0..<8).map { _ in backOff.wait(random: 0).milliseconds } == [100, 200, 400, 800, 1600, 3200, 5000, 5000])
        backOff.reset()
        #expect(backOff.wait(random: 1).milliseconds == 75)
        var total = Duration.zero
        var attempts = 0
        while total < .seconds(600) {
            total += backOff.wait(random: 1)
            attempts += 1
        }
        #expect(attempts <= 170)
    }

    @Test("the request names the pinned receiver, as JSON whatever its name")
    func requests() throws {
        #expect(WatchRequest.text(device: nil) == "?WATCH={\"enable\":true,\"json\":true};\n")
        let text = WatchRequest.text(device: "/dev/\"a\\\n;b")
        let json = try JSONValue(parsing: String(text.dropFirst(7).dropLast(2)))
        #expect(json["device"]?.string == "/dev/\"a\\;b" && !text.dropLast().contains("\n"))
    }
}

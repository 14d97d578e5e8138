/// The times that the collector works by. Tests shorten them; people cannot set them.
struct Timing: Sendable {
    /// How long the reports about one moment are waited for.
    var settle: Duration = .milliseconds(300)
    /// After so many moments in a row with one report each, the next one is not waited for: the receiver has said what it says.
    var habit = 5
    /// A fix that was held up longer is no longer where the probe is.
    var maximumLag: Duration = .seconds(10)
    /// The same for one that a newer fix at hand has overtaken.
    var maximumLagOvertaken: Duration = .seconds(1)
    /// A receiver without a fix for so long makes room for another.
    var receiverLoyalty: Duration = .seconds(10)
    /// No report, or no acceptable one, for so long is a gap.
    var silence: Duration = .seconds(5)
    /// No report for so long: ask gpsd again, which also makes it look at its receivers again.
    var watchAgain: Duration = .seconds(10)
    /// Nothing at all for so long: the connection is dead. gpsd itself can freeze for 60 s.
    var reconnect: Duration = .seconds(75)
    /// Connected, and no gpsd has spoken.
    var greeting: Duration = .seconds(5)
    /// For one attempt to connect.
    var connect: Duration = .seconds(3)
    var firstBackOff: Duration = .milliseconds(100)
    var longestBackOff: Duration = .seconds(5)
    /// A connection that lasted so long was a good one: the next attempt is made soon again.
    var goodConnection: Duration = .seconds(5)
    /// How often a standing state is told to the trace again.
    var heartbeat: Duration = .seconds(10)
}

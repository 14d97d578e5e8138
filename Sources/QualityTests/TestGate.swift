public import MeasurementModel

/// Decides whether a test of a kind may run on this device now.
public protocol TestGate: Sendable {
    /// Answers at once and from what is known locally: it is asked when a test is built, and once more when it starts.
    ///
    /// - Throws: ``TestRefusal``, or another error that says what to do.
    func admit(_ kind: TestKind) throws -> TestAdmission
}

/// What an admitted test needs to know of the client that it runs for.
public struct TestAdmission: Sendable, Hashable {
    /// Nil where tests run without registration.
    public var client: Report.Client?
    /// The server's clock minus the device's, as learned at authentication.
    public var clockOffset: Duration?
    /// How much longer tests may run; nil is without limit.
    public var left: Duration?

    public init(client: Report.Client? = nil, clockOffset: Duration? = nil, left: Duration? = nil) {
        self.client = client
        self.clockOffset = clockOffset
        self.left = left
    }
}

/// A gate that stands open: for tests that stay on this device.
public struct OpenGate: TestGate {
    public init() {}
    public func admit(_ kind: TestKind) throws -> TestAdmission { TestAdmission() }
}

/// Why a test may not run, and what to do about it.
public struct TestRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// Why, for programs to compare. There may be more codes in a later version.
    public struct Code: Sendable, Hashable {
        private enum Value { case notRegistered, confirmationExpired, forbidden, badKind, alreadyRun }
        private let value: Value
        private init(_ value: Value) { self.value = value }

        public static let notRegistered = Code(.notRegistered)
        /// The server's confirmation of the registration has run out.
        public static let confirmationExpired = Code(.confirmationExpired)
        /// The capability does not allow this type and subject.
        public static let forbidden = Code(.forbidden)
        /// The type or the subject is no word.
        public static let badKind = Code(.badKind)
        /// A test object runs one test.
        public static let alreadyRun = Code(.alreadyRun)
    }

    public let code: Code
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }

    public static let notRegistered = TestRefusal(
        .notRegistered, "this device is not registered: register it with a registration key first")
    public static let confirmationExpired = TestRefusal(
        .confirmationExpired, "the server's confirmation of this device has run out: connect it to the server, so that it can authenticate")

    /// The device's capability says no to this kind of test.
    public static func forbidden(_ kind: TestKind) -> TestRefusal {
        TestRefusal(
            .forbidden,
            "this device's capability does not allow tests of type '\(kind.type)' and subject '\(kind.subject)': "
                + "choose another test, or ask the administrator for a wider capability")
    }
}

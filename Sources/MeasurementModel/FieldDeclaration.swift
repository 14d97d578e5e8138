/// One field that a collector can emit: nothing undeclared leaves a collector (R-26).
public struct FieldDeclaration: Sendable {
    public let name: String
    public let type: FieldType
    /// Nil where the value has none.
    public let unit: FieldUnit?
    public let privacy: PrivacyClass
    /// Without it the field is left out of every snapshot.
    public let permission: Permission?
    /// When a difference makes a new snapshot.
    public let changes: ChangeRule
    /// One line for people: what the value means.
    public let about: String
    /// What the value is for.
    public let purpose: String
    /// The fields of each record, where the type is ``FieldType/records``.
    public let members: [FieldDeclaration]

    /// The purpose of a field that declares no other.
    public static let standardPurpose = "Explains the measured quality by network and place"

    public init(
        _ name: String, _ type: FieldType, unit: FieldUnit? = nil, privacy: PrivacyClass, permission: Permission? = nil,
        changes: ChangeRule = .any, about: String, purpose: String = standardPurpose, members: [FieldDeclaration] = []
    ) {
        self.name = name
        self.type = type
        self.unit = unit
        self.privacy = privacy
        self.permission = permission
        self.changes = changes
        self.about = about
        self.purpose = purpose
        self.members = members
    }

    /// A field whose values are finite numbers.
    public static func number(
        _ name: String, unit: FieldUnit? = nil, privacy: PrivacyClass, permission: Permission? = nil, changes: ChangeRule = .any,
        about: String
    ) -> FieldDeclaration {
        FieldDeclaration(name, .number, unit: unit, privacy: privacy, permission: permission, changes: changes, about: about)
    }

    /// A field whose values are whole numbers.
    public static func integer(
        _ name: String, unit: FieldUnit? = nil, privacy: PrivacyClass, permission: Permission? = nil, changes: ChangeRule = .any,
        about: String
    ) -> FieldDeclaration {
        FieldDeclaration(name, .integer, unit: unit, privacy: privacy, permission: permission, changes: changes, about: about)
    }

    /// A field whose values are texts, never empty.
    public static func text(
        _ name: String, privacy: PrivacyClass, permission: Permission? = nil, changes: ChangeRule = .any, about: String
    ) -> FieldDeclaration {
        FieldDeclaration(name, .text, privacy: privacy, permission: permission, changes: changes, about: about)
    }

    /// A field whose values are true or false.
    public static func bool(
        _ name: String, privacy: PrivacyClass, permission: Permission? = nil, changes: ChangeRule = .any, about: String
    ) -> FieldDeclaration {
        FieldDeclaration(name, .bool, privacy: privacy, permission: permission, changes: changes, about: about)
    }
}

/// The type of a field's value.
public enum FieldType: String, Sendable {
    case bool
    case integer
    /// Any finite number; an integer is accepted too.
    case number
    case text
    case records

    /// Whether the value is of this type.
    public func admits(_ value: FieldValue) -> Bool {
        switch (self, value) {
        case (.bool, .bool), (.integer, .integer), (.number, .number), (.number, .integer), (.text, .text), (.records, .records): true
        default: false
        }
    }
}

/// A unit, by its usual symbol.
public struct FieldUnit: Sendable, Hashable, ExpressibleByStringLiteral {
    public let symbol: String

    public init(stringLiteral symbol: String) { self.symbol = symbol }
    public init(symbol: String) { self.symbol = symbol }

    public static let metres: FieldUnit = "m"
    public static let metresPerSecond: FieldUnit = "m/s"
    public static let degrees: FieldUnit = "deg"
    public static let celsius: FieldUnit = "degC"
    public static let milliseconds: FieldUnit = "ms"
    public static let dBm: FieldUnit = "dBm"
    public static let dB: FieldUnit = "dB"
    public static let megahertz: FieldUnit = "MHz"
    public static let megabitsPerSecond: FieldUnit = "Mbit/s"
    public static let octets: FieldUnit = "octets"
    public static let percent: FieldUnit = "%"
    public static let bits: FieldUnit = "bits"
}

/// What kind of personal data a field is, by the classes of the privacy manifest (R-27).
public enum PrivacyClass: String, Sendable, CaseIterable {
    case preciseLocation = "precise_location"
    case deviceIdentifier = "device_identifier"
    case performanceData = "performance_data"
    case otherDiagnosticData = "other_diagnostic_data"
    case connectionContext = "connection_and_measurement_context"
}

/// What the host app or the probe's administrator has to allow (R-25). Both are off until then.
public enum Permission: String, Sendable, CaseIterable, Comparable {
    case preciseLocation = "precise_location"
    case wifiIdentity = "wifi_identity"

    public static func < (left: Permission, right: Permission) -> Bool { left.rawValue < right.rawValue }
}

/// What counts as a change of a field since the last recorded snapshot (R-6). A value that appears or disappears is always a
/// change, unless the rule is ``never``.
public enum ChangeRule: Sendable {
    /// Any difference.
    case any
    /// A difference of at least so much, in the field's unit.
    case by(Double)
    /// The field is shown with each snapshot and is no reason for one.
    case never
    /// A movement of at least so many metres: this field is the latitude, `longitude` names the other one.
    case moved(metres: Double, longitude: String, distance: Distance)

    /// Metres between two positions on WGS 84, given as latitude and longitude in degrees.
    public typealias Distance = @Sendable (_ from: (Double, Double), _ to: (Double, Double)) -> Double

    /// The rule in words, for people.
    public func text(unit: FieldUnit?) -> String {
        switch self {
        case .any: "any difference"
        case .by(let amount): "\(amount) \(unit?.symbol ?? "")".trimmed + " or more"
        case .never: "never"
        case .moved(let metres, _, _): "moved \(metres) m or more"
        }
    }
}

extension String {
    fileprivate var trimmed: String { hasSuffix(" ") ? String(dropLast()) : self }
}

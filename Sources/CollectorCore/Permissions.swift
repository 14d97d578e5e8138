public import MeasurementModel

/// What one run may see. Nothing is granted unless somebody outside this package grants it.
public struct Permissions: Sendable, Hashable {
    /// A named purpose that was granted something for one run.
    public struct Purpose: Sendable, Hashable {
        public let key: String
        public let text: String

        public init(key: String, text: String) {
            self.key = key
            self.text = text
        }
    }

    public private(set) var granted: Set<Permission>
    public private(set) var purpose: Purpose?

    /// Nothing is granted: fields that need a permission are left out.
    public static let none = Permissions(granted: [])

    public init(granted: Set<Permission>) {
        self.granted = granted
        self.purpose = nil
    }

    /// The same, and more for one run and a named purpose. The grant lives in this value only, and so ends with the run.
    public func granting(_ more: Set<Permission>, for purpose: Purpose) -> Permissions {
        var result = self
        result.granted.formUnion(more)
        result.purpose = purpose
        return result
    }

    /// Whether what needs this permission may be seen; nil needs none.
    public func allows(_ permission: Permission?) -> Bool { permission.map(granted.contains) ?? true }

    /// As the report shows it.
    public var json: JSONObject {
        var object = JSONObject()
        for permission in Permission.allCases.sorted() { object[permission.rawValue] = .bool(granted.contains(permission)) }
        if let purpose { object["purpose"] = .object(["key": .string(purpose.key), "text": .string(purpose.text)]) }
        return object
    }
}

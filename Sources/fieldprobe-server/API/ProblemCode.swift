/// Every refusal of the server, by the stable code that programs go by. docs/client-api.yaml lists the same.
enum ProblemCode: String, Sendable, CaseIterable {
    // Registration
    case keyUnknown = "key_unknown"
    case keyRevoked = "key_revoked"
    case keyNotYetValid = "key_not_yet_valid"
    case keyExpired = "key_expired"
    case keyExhausted = "key_exhausted"
    case labelTaken = "label_taken"
    // Authentication
    case unknownCredentials = "unknown_credentials"
    case usageWindowElapsed = "usage_window_elapsed"
    case clientDisabled = "client_disabled"
    case machineChanged = "machine_changed"
    // Tokens
    case tokenExpired = "token_expired"
    case tokenInvalid = "token_invalid"
    // Measurements
    case kindNotAllowed = "kind_not_allowed"
    case idConflict = "id_conflict"
    case documentTooLarge = "document_too_large"
    case documentInvalid = "document_invalid"
    // Any request
    case invalidRequest = "invalid_request"
    case requestTooLarge = "request_too_large"
    case unsupportedMediaType = "unsupported_media_type"
    case rateLimited = "rate_limited"
    case notFound = "not_found"
    case methodNotAllowed = "method_not_allowed"
    case serverBusy = "server_busy"
    case storageFull = "storage_full"
    case internalError = "internal_error"

    var status: Int {
        switch self {
        case .unknownCredentials, .tokenExpired, .tokenInvalid: 401
        case .keyUnknown, .keyRevoked, .keyNotYetValid, .keyExpired, .keyExhausted, .usageWindowElapsed, .clientDisabled,
            .kindNotAllowed:
            403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .labelTaken, .machineChanged, .idConflict: 409
        case .documentTooLarge, .requestTooLarge: 413
        case .unsupportedMediaType: 415
        case .documentInvalid, .invalidRequest: 422
        case .rateLimited: 429
        case .internalError: 500
        case .serverBusy: 503
        case .storageFull: 507
        }
    }

    var title: String {
        switch self {
        case .keyUnknown: "Registration key unknown"
        case .keyRevoked: "Registration key revoked"
        case .keyNotYetValid: "Registration key not yet valid"
        case .keyExpired: "Registration key expired"
        case .keyExhausted: "Registration key exhausted"
        case .labelTaken: "Label taken"
        case .unknownCredentials: "Unknown credentials"
        case .usageWindowElapsed: "Usage window elapsed"
        case .clientDisabled: "Client disabled"
        case .machineChanged: "Another machine"
        case .tokenExpired: "Token expired"
        case .tokenInvalid: "Token invalid"
        case .kindNotAllowed: "Type or subject not allowed"
        case .idConflict: "Identifier belongs to another client"
        case .documentTooLarge: "Document too large"
        case .documentInvalid: "Document invalid"
        case .invalidRequest: "Invalid request"
        case .requestTooLarge: "Request too large"
        case .unsupportedMediaType: "Unsupported media type"
        case .rateLimited: "Too many requests"
        case .notFound: "Not found"
        case .methodNotAllowed: "Method not allowed"
        case .serverBusy: "Server busy"
        case .storageFull: "Storage full"
        case .internalError: "Internal error"
        }
    }

    /// What to do about it, where a request has nothing more exact to say.
    var advice: String {
        switch self {
        case .keyUnknown: "This server issued no such registration key. Check it for a typing error, and the server's address."
        case .keyRevoked: "The key accepts no more registrations. Ask the server's administrator for another one."
        case .keyNotYetValid: "The key accepts no registrations yet. Try again once its window has begun."
        case .keyExpired: "The key's window for registrations is over. Ask the server's administrator for another one."
        case .keyExhausted: "All slots of the key are taken. Unregister or disable a device, or ask for more slots."
        case .labelTaken: "Another client has this label. Choose one that is unique over all clients."
        case .unknownCredentials: "The server issued no such credentials. Register the device."
        case .usageWindowElapsed: "The time for which the key allows a device is over, and the slot is free. Register again."
        case .clientDisabled: "An administrator disabled this client. Do not register again: it would take a second slot."
        case .machineChanged:
            "These credentials belong to another machine. Register this one; if it has replaced the other one for good, adopt the identity."
        case .tokenExpired: "Authenticate again, and repeat the request with the new token."
        case .tokenInvalid: "This server issued no such token for this client. Authenticate, and repeat the request with the new token."
        case .kindNotAllowed: "The registration key does not allow this type and subject."
        case .idConflict: "Another client has stored a document of this identifier. Identifiers must be random UUIDs."
        case .documentTooLarge: "The document is larger than this server accepts."
        case .documentInvalid: "The document is no report that this server can store."
        case .invalidRequest: "The request does not follow docs/client-api.yaml."
        case .requestTooLarge: "The request's body is larger than this operation accepts."
        case .unsupportedMediaType: "Send application/json, plain or with Content-Encoding gzip."
        case .rateLimited: "Wait for the time that Retry-After says."
        case .notFound: "There is nothing at this path."
        case .methodNotAllowed: "The path does not take this method."
        case .serverBusy: "The server has too much to do at the moment. Try again later."
        case .storageFull: "The server could not store it: its disk is full. Try again later."
        case .internalError: "The server failed; its log says why. Try again later."
        }
    }
}

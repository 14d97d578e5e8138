struct Dashboard: Sendable {
    let service: Service
    let isSecure: Bool
    var routes: [Route] { [] }
}

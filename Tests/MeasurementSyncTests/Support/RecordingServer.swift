import LabSupport
import MeasurementModel
import Synchronization

/// A server that stores each report once, and answers as a test wants.
final class RecordingServer: Sendable {
    enum Behaviour: Sendable {
        case answers(String, headers: [String] = [], body: String = "")
        case stores
        /// Stores it, and the line is cut before the answer.
        case storesAndLeaves
        case leaves
        /// Reads on for ever and says nothing.
        case hangs
        case trickles
    }

    private struct State {
        var stored: Set<String> = []
        var deliveries: [String] = []
    }

    private let state = Mutex(State())
    private let listener = Mutex<LoopbackServer?>(nil)

    init(_ behaviour: @escaping @Sendable (_ id: String, _ number: Int) -> Behaviour = { _, _ in .stores }) throws {
        let server = try LoopbackServer { [state = Unowned(self)] connection in
            while let request = connection.readRequest() {
                guard let server = state.object, server.serve(connection, request, behaviour) else { return }
            }
        }
        listener.withLock { $0 = server }
    }

    private struct Unowned: Sendable {
        weak let object: RecordingServer?
        init(_ object: RecordingServer) { self.object = object }
    }

    var port: UInt16 { listener.withLock { $0!.port } }
    var connections: Int { listener.withLock { $0!.connections } }
    var stored: Set<String> { state.withLock { $0.stored } }
    /// Every arrival, repeats included.
    var deliveries: [String] { state.withLock { $0.deliveries } }

    func stop() { listener.withLock { $0 }?.stop() }

    private func serve(
        _ connection: LoopbackConnection, _ request: String, _ behaviour: (String, Int) -> Behaviour
    ) -> Bool {
        let id = request.split(separator: " ").dropFirst().first?.split(separator: "/").last.map(String.init) ?? ""
        let number = state.withLock { state in
            state.deliveries.append(id)
            return state.deliveries.count
        }
        switch behaviour(id, number) {
        case .stores:
            return connection.respond(
                store(id) ? "201 Created" : "200 OK", body: "{\"id\":\"\(id)\",\"already_stored\":\(!lastWasNew(id))}")
        case .storesAndLeaves:
            _ = store(id)
            return false
        case .leaves: return false
        case .hangs:
            connection.hang()
            return false
        case .trickles:
            _ = store(id)
            let body = "{\"id\":\"\(id)\"}"
            for octet in "HTTP/1.1 201 Created\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8 {
                guard connection.send([octet]) else { return false }
                connection.sleep(milliseconds: 2)
            }
            return true
        case .answers(let status, let headers, let body): return connection.respond(status, headers: headers, body: body)
        }
    }

    private func store(_ id: String) -> Bool { state.withLock { $0.stored.insert(id).inserted } }
    private func lastWasNew(_ id: String) -> Bool { state.withLock { state in state.deliveries.count { $0 == id } == 1 } }
}

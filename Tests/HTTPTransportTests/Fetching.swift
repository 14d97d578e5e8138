import HTTPTransport
import LabSupport
import Testing

/// Runs a test with a client that is closed at its end.
func withClient<Result>(
    _ settings: HTTPClient.Settings = HTTPClient.Settings(), _ body: (HTTPClient) async throws -> Result
) async throws -> Result {
    let client = HTTPClient(settings: settings)
    do {
        let result = try await body(client)
        await client.close()
        return result
    } catch {
        await client.close()
        throw error
    }
}

/// The error that a request ends with.
func failure(of request: HTTPRequest, _ client: HTTPClient) async -> HTTPError? {
    do {
        let response = try await client.send(request)
        Issue.record("a response came: \(response.status)")
        return nil
    } catch {
        return error as? HTTPError
    }
}

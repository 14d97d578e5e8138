/// How this program ends.
enum ExitStatus: Int32, CaseIterable {
    case success = 0
    case refused = 1
    case usage = 2
    case data = 3
    case notFound = 4
    case failure = 5

    /// For `--help`.
    var meaning: String {
        switch self {
        case .success: "all went well"
        case .refused: "what was asked for is not possible as things are, such as enabling a client of an exhausted key"
        case .usage: "the command line is wrong"
        case .data: "the data folder, its database or the server's key cannot be used"
        case .notFound: "there is no such key, client, measurement or capability"
        case .failure: "fieldprobe-server itself failed"
        }
    }
}

/// A failure with the status that it ends this program with.
struct CommandFailure: Error, CustomStringConvertible {
    let status: ExitStatus
    let description: String

    init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }
}

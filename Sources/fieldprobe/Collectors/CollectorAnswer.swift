internal import CollectorCore
internal import MeasurementModel

/// What a collector said when it was asked what it records.
struct CollectorAnswer: Sendable {
    let entry: CollectorEntry
    /// Nil when it could not be asked, or is turned off and was not.
    let descriptor: CollectorDescriptor?
    /// What is wrong with it, and what to do.
    let problem: String?

    /// Asks all of them, at the same time. A foreign one that is turned off is left alone.
    static func all(_ entries: [CollectorEntry]) async -> [CollectorAnswer] {
        await withTaskGroup(of: (Int, CollectorAnswer).self) { group in
            for (index, entry) in entries.enumerated() {
                group.addTask {
                    if !entry.isEnabled, entry.collector is any LateCollector {
                        return (index, CollectorAnswer(entry: entry, descriptor: nil, problem: nil))
                    }
                    do { return (index, CollectorAnswer(entry: entry, descriptor: try await entry.describe(), problem: nil)) } catch {
                        return (index, CollectorAnswer(entry: entry, descriptor: nil, problem: "\(error)"))
                    }
                }
            }
            var answers: [(Int, CollectorAnswer)] = []
            for await answer in group { answers.append(answer) }
            return withoutTwins(answers.sorted { $0.0 < $1.0 }.map(\.1))
        }
    }

    /// A trace belongs to the first collector that runs and declares it, as in a test.
    private static func withoutTwins(_ answers: [CollectorAnswer]) -> [CollectorAnswer] {
        var owners: [String: String] = [:]
        return answers.map { answer in
            guard answer.entry.isEnabled, let descriptor = answer.descriptor else { return answer }
            guard let owner = owners[descriptor.trace] else {
                owners[descriptor.trace] = descriptor.name
                return answer
            }
            let problem = "the trace '\(descriptor.trace)' is recorded by '\(owner)' already: declare another key"
            return CollectorAnswer(entry: answer.entry, descriptor: descriptor, problem: problem)
        }
    }

    var json: JSONValue {
        var object: JSONObject = ["name": .string(entry.name)]
        object["version"] = descriptor.map { .string($0.version) }
        object["trace"] = descriptor.map { .string($0.trace) }
        object["enabled"] = .bool(entry.isEnabled)
        object["source"] = .string(entry.source)
        object["about"] = descriptor.map { .string($0.about) }
        object["problem"] = problem.map(JSONValue.string)
        return .object(object)
    }
}

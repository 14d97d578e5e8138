internal import CollectorCore

/// The installed collectors, each asked what it records.
enum CollectorChecks {
    static func findings(_ configuration: Configuration) async -> [(name: String, finding: DoctorCheck.Finding)] {
        let answers = await CollectorAnswer.all(CollectorSelection.all(configuration))
        let foreign = answers.filter { $0.entry.collector is any LateCollector && $0.entry.isEnabled }
        guard !foreign.isEmpty else { return [("collectors", .ok("no collectors are installed beside the built-in ones"))] }
        return foreign.map { answer in
            let name = answer.entry.name
            guard let problem = answer.problem else { return ("collectors", .ok("the collector \(name) says what it records")) }
            let advice =
                answer.entry.refusal == nil ? "'fieldprobe collectors check \(name)' looks closer" : "until then it is not run"
            return ("collectors", .no("the collector \(name): \(problem)", advice))
        }
    }
}

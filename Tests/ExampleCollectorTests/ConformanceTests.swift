import CollectorCore
import CollectorTestKit
import ExternalCollector
import LabSupport
import Testing

/// the example collectors pass the kit that their readers are sent to.
@Suite(.serialized)
struct ConformanceTests {
    @Test("R-50 thermal and systemload conform", arguments: ["thermal", "systemload"])
    func conforms(_ name: String) async throws {
        let folder = try TemporaryFolder()
        let tree = try MadeUpTree(["class/thermal/thermal_zone0/type": "acpitz", "class/thermal/thermal_zone0/temp": "41500"])
        var own = ProgramCollector.Settings()
        let collector: ProgramCollector
        if name == "thermal" {
            own.configuration["sysfs"] = tree.path
            try ChildProcess.run("make", "-C", Plugin.path("Thermal"), "OUTPUT=\(folder.path)")
            collector = ProgramCollector(name: name, library: "\(folder.path)/thermal.so", settings: own)
        } else {
            collector = ProgramCollector(name: name, program: Plugin.path("SystemLoad/systemload"), settings: own)
        }
        var settings = CollectorConformance.Settings()
        settings.runs = 20
        settings.observation = .seconds(1)
        settings.stopDeadline = .seconds(10)
        let verdict = await ProgramConformance(collector, settings: settings).run()
        #expect(verdict.isConforming, "\(verdict)")
        #expect(verdict.checks.first { $0.name == "values" }?.outcome == .passed, "\(verdict.text)")
    }
}

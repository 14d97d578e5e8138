import CLinux
import CollectorCore
import CollectorTestKit
import Glibc
import LabSupport
import MeasurementModel
import Testing

extension KitTests {
    /// what does not end, and what stays behind. Each test takes away what its collector has left.
    @Suite struct LeakTests {
        /// A collector that does something at the end of each run.
        private static func leaving(_ something: @escaping @Sendable () -> Void) -> Specimen {
            Specimen { trace, session in
                await Specimen.tick(trace, session)
                something()
            }
        }

        @Test("One that never stops is given up once, and the rest is not tried")
        func stuck() async {
            let isReleased = Shared(false)
            let collector = Specimen { trace, _ in
                trace.record(["value": .integer(1)])
                while !isReleased.withLock({ $0 }) { usleep(1000) }
            }
            let verdict = await CollectorConformance(collector, settings: .short(stopDeadline: .milliseconds(100))).run()
            isReleased.withLock { $0 = true }
            #expect(verdict.failed.map(\.name) == ["start_stop"], "\(verdict)")
            #expect(verdict[.startStop]?.problem?.hasPrefix("it did not return within 100 ms ('stuck'") == true)
            #expect(verdict[.threads]?.outcome == .notApplicable("it does not stop"))
        }

        @Test("One that does not stop each time")
        func stuckAtLast() async {
            let runs = Shared(0)
            let isReleased = Shared(false)
            await expectFailure(
                of: .startStop, "in cycle 7 it did not return within", stopDeadline: .oneDeadline,
                Specimen { trace, session in
                    // Nine runs come before the cycles, and three cycles do not count.
                    let number = runs.withLock { count in
                        count += 1
                        return count
                    }
                    await Specimen.tick(trace, session)
                    while number >= 19, !isReleased.withLock({ $0 }) { usleep(1000) }
                })
            isReleased.withLock { $0 = true }
        }

        @Test("A descriptor for each run")
        func descriptors() async {
            let left = Shared<[Int32]>([])
            await expectFailure(
                of: .descriptors, "20 x /dev/null",
                Self.leaving {
                    let descriptor = clinux_open("/dev/null", O_RDONLY, 0)
                    left.withLock { $0.append(descriptor) }
                })
            for descriptor in left.withLock({ $0 }) { close(descriptor) }
        }

        @Test("A thread for each run")
        func threads() async {
            let left = Shared(0)
            let end = LabSemaphore()
            await expectFailure(
                of: .threads, "20 x left-behind",
                Self.leaving {
                    LabThread.start {
                        clinux_name_thread("left-behind")
                        end.wait()
                    }
                    left.withLock { $0 += 1 }
                })
            for _ in 0..<left.withLock({ $0 }) { end.signal() }
            // The next test counts threads.
            while ProcessCounts.threadNames().contains("left-behind") { try? await Task.sleep(for: .milliseconds(5)) }
        }

        @Test("A child for each run, that runs on or that nobody has waited for", arguments: [("sleep", "20 x sleep"), ("true", "zombie")])
        func children(program: String, words: String) async {
            let left = Shared<[pid_t]>([])
            await expectFailure(
                of: .children, words,
                Self.leaving {
                    let pid = Self.spawn(program == "sleep" ? ["sleep", "3600"] : [program])
                    left.withLock { $0.append(pid) }
                })
            for pid in left.withLock({ $0 }) where pid > 0 {
                kill(pid, SIGKILL)
                var status: Int32 = 0
                _ = clinux_waitpid(pid, &status, 0)
            }
        }

        private static func spawn(_ words: [String]) -> pid_t {
            var pid: pid_t = 0
            var pointers: [UnsafePointer<CChar>?] = words.map { UnsafePointer(strdup($0)) }
            pointers.append(nil)
            defer { for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) } }
            return clinux_spawn(&pid, pointers, nil, -1, -1, -1) == 0 ? pid : -1
        }

        @Test("A temporary file for each run")
        func files() async {
            let left = Shared<[String]>([])
            await expectFailure(
                of: .files, "20 of 20 cycles have left files",
                Self.leaving {
                    let number = left.withLock { $0.count }
                    let path = "/tmp/fieldprobe-left-\(getpid())-\(number)"
                    close(clinux_open(path, O_WRONLY | O_CREAT, 0o600))
                    left.withLock { $0.append(path) }
                })
            for path in left.withLock({ $0 }) { unlink(path) }
        }

        @Test("Memory for each run")
        func memory() async {
            let left = Shared<[[UInt8]]>([])
            let collector = Self.leaving { left.withLock { $0.append([UInt8](repeating: 1, count: 65_536)) } }
            guard isThreadSanitized else { return await expectFailure(of: .memory, "octets a run, and 4096 are the bound", collector) }
            let verdict = await CollectorConformance(collector, settings: .short()).run()
            #expect(verdict[.memory]?.outcome == .notApplicable("this process's allocator does not say what it holds"))
        }
    }
}

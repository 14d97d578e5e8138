import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import MeasurementSync

/// Disks that are full, read-only or somebody else's, each in a mount namespace of its own (P77, P78).
@Suite struct DiskTests {
    let lab: TemporaryFolder
    init() throws { lab = try TemporaryFolder() }

    /// Runs a script in which $W is the worker and $S a state folder on a small disk of memory.
    private func onSmallDisk(_ script: String, size: String = "512k") async throws -> [String] {
        let state = lab.path
        let lines = """
            set -eu
            W='\(Worker.path)' S='\(state)/disk'
            export QUEUE_RETRY_MS=50
            mkdir "$S"
            mount -t tmpfs -o size=\(size) none "$S"
            \(script)
            """
        let result = try await offPool { try ChildProcess(["unshare", "--mount", "sh", "-c", lines], merged: true).finish() }
        #expect(result.status == 0, "\(result.output)")
        return result.output.split(separator: "\n").map(String.init).filter {
            !$0.hasPrefix("error MeasurementQueue") && !$0.hasPrefix("started")
        }
    }

    /// Full to the last octet: queueing says so and loses nothing; sending and deleting go on, and then there is room again.
    @Test func aFullDisk() async throws {
        let server = try RecordingServer()
        defer { server.stop() }
        let lines = try await onSmallDisk(
            """
            $W enqueue $S a 3
            cat /dev/zero > $S/ballast 2> /dev/null || true
            QUEUE_PADDING=5000 $W enqueue $S b 1
            $W count $S
            QUEUE_DRAIN=1 $W upload $S \(server.port)
            rm $S/ballast
            $W enqueue $S c 1
            ls -A $S/queue
            """)
        #expect(lines.prefix(3) == ["ok a-0", "ok a-1", "ok a-2"])
        #expect(lines.dropFirst(3).first?.hasPrefix("error disk_full the disk is full: make space for") == true)
        #expect(Array(lines.dropFirst(4)) == ["pending 3", "drained", "ok c-0", "0000000000000001-c-0.json"])
        #expect(server.deliveries == ["a-0", "a-1", "a-2"])
    }

    /// A report that is refused goes aside on a full disk too.
    @Test func asideOnAFullDisk() async throws {
        let server = try RecordingServer { id, _ in
            id == "a-0" ? .answers("422 Unprocessable Content", body: #"{"code":"document_invalid"}"#) : .stores
        }
        defer { server.stop() }
        let lines = try await onSmallDisk(
            """
            $W enqueue $S a 2
            cat /dev/zero > $S/ballast 2> /dev/null || true
            QUEUE_DRAIN=1 $W upload $S \(server.port)
            ls $S/quarantine
            """)
        #expect(lines.filter { !$0.hasPrefix("ok") && !$0.hasSuffix(".txt") } == ["drained", "0000000000000001-a-0.document_invalid.json"])
    }

    /// Read-only: what is there can still be sent, once and not again each minute, and is deleted when the disk allows it.
    @Test func aReadOnlyDisk() async throws {
        let server = try RecordingServer()
        defer { server.stop() }
        let lines = try await onSmallDisk(
            """
            $W enqueue $S a 2
            $W upload $S \(server.port) > $S/../events & sender=$!
            while ! grep -q a-1 $S/../events; do sleep 0.05; done
            kill -9 $sender
            wait $sender || true
            $W enqueue $S b 2
            mount -o remount,ro $S
            $W enqueue $S c 1
            $W upload $S \(server.port) > $S/../events & sender=$!
            while ! grep -q b-1 $S/../events; do sleep 0.05; done
            sleep 0.5
            $W count $S
            mount -o remount,rw $S
            while $W count $S | grep -qv 'pending 0'; do sleep 0.05; done
            kill -9 $sender
            """)
        #expect(lines.contains { $0.hasPrefix("error read_only the file system is read-only: mount it writable for") })
        #expect(lines.contains("pending 2"))
        #expect(server.deliveries == ["a-0", "a-1", "b-0", "b-1"])
    }

    /// A folder of somebody else's.
    @Test func noPermission() async throws {
        #expect(try await Worker.run("enqueue", lab.path + "/state", "a", "1").lines == ["ok a-0"])
        chmod(lab.path, 0o755)
        let worker = lab.path + "/worker"
        // Where the other user can reach it.
        try ChildProcess.run("cp", Worker.path, worker)
        let path = lab.path
        let (output, _) = try await offPool {
            try ChildProcess(
                ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", worker, "enqueue", path + "/state", "b", "1"],
                environment: ["LD_LIBRARY_PATH": Self.libraries], merged: true
            ).finish()
        }
        #expect(output.contains("error no_permission this user may not use \(lab.path)/state"), "\(output)")
        #expect(try await Worker.run("count", lab.path + "/state").lines == ["pending 1"])
    }

    private static let libraries = getenv("LD_LIBRARY_PATH").map { String(cString: $0) } ?? ""

    /// A kernel that gives no watch: nothing is sent, because a test could not be heard, and the reason is told. Nothing is lost.
    @Test func noWatch() async throws {
        let server = try RecordingServer()
        defer { server.stop() }
        let state = lab.path + "/state"
        #expect(try await Worker.run("enqueue", state, "a", "1").lines == ["ok a-0"])
        let script = """
            echo 0 > /proc/sys/user/max_inotify_instances
            '\(Worker.path)' upload '\(state)' \(server.port) > '\(lab.path)/told' 2>&1 & sender=$!
            tenths=0
            until grep -q inotify '\(lab.path)/told' || [ $tenths -ge 600 ]; do
                sleep 0.1
                tenths=$((tenths + 1))
            done
            kill -9 $sender
            cat '\(lab.path)/told'
            """
        let (output, _) = try await offPool {
            try ChildProcess(["unshare", "--user", "--map-root-user", "sh", "-c", script], merged: true).finish()
        }
        #expect(output.contains("raise fs.inotify.max_user_instances"), "\(output)")
        #expect(server.deliveries == [])
        #expect(try await Worker.run("count", state).lines == ["pending 1"])
    }

    /// 5,000 reports and 64 descriptors: it starts, and sends them all; foreign and damaged files among them go aside.
    @Test func thousandsOfFiles() async throws {
        let server = try RecordingServer()
        defer { server.stop() }
        let state = lab.path + "/state"
        let folder = StateFolder(state)
        try folder.create()
        try await offPool {
            for number in 1...5000 {
                let name = QueuedName(sequence: UInt64(number), id: "p\(number)")
                let octets = number % 100 == 0 ? Array(Sample.json(name.id).dropLast()) : Sample.json(name.id)
                let file = number % 101 == 0 ? "\(number).foreign" : name.file
                let stream = fopen("\(folder.queue)/\(file)", "we")!
                fwrite(octets, 1, octets.count, stream)
                fclose(stream)
            }
        }
        let script = "ulimit -n 64; exec \(Worker.path) upload \(state) \(server.port)"
        let (output, status) = try await offPool {
            try ChildProcess(["sh", "-c", script], environment: ["QUEUE_DRAIN": "1"], merged: true).finish()
        }
        #expect(output.hasSuffix("drained\n") && status == 0)
        #expect(server.stored.count == 5000 - 50 - 49 && server.deliveries.count == server.stored.count)
        #expect(server.deliveries.prefix(3) == ["p1", "p2", "p3"])
        #expect(try StateFolder.names(in: folder.queue).isEmpty)
        #expect(try Quarantine(folder).list().count >= Quarantine.maximum - 1)
    }
}

import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import MeasurementSync

/// The files of one state folder.
@Suite struct StoreTests {
    let lab: TemporaryFolder
    let store: FolderStore

    init() throws {
        lab = try TemporaryFolder()
        store = FolderStore(StateFolder(lab.path + "/state"), limit: 5, maximumSize: 10_000)
        try store.folder.create()
    }

    private var queue: String { store.folder.queue }

    private func put(_ file: String, _ octets: [UInt8]) {
        let stream = fopen("\(queue)/\(file)", "we")!
        fwrite(octets, 1, octets.count, stream)
        fclose(stream)
    }

    private func mode(_ path: String) -> UInt32 {
        var facts = stat()
        return lstat(path, &facts) == 0 ? facts.st_mode & 0o777 : 0
    }

    @Test func namesSortAndReadBack() {
        let names = [1, 2, 15, 16, 255, UInt64.max].map { QueuedName(sequence: $0, id: "a-b_C9") }
        #expect(names.map(\.file) == names.map(\.file).sorted())
        #expect(names.map { QueuedName(file: $0.file) } == names)
        for wrong in [
            "", "x.json", "000000000000001-a.json", "000000000000000G-a.json", "000000000000000A-a.json", "0000000000000001-.json",
            "0000000000000001-a.txt", "0000000000000001-a/b.json", "0000000000000001-ä.json",
            "0000000000000001-\(String(repeating: "x", count: 65)).json",
        ] {
            #expect(QueuedName(file: wrong) == nil, "\(wrong)")
        }
    }

    /// R-37's care for the queue: for this user alone, and whole or not there.
    @Test func aQueuedReportIsAFileOfThisUser() throws {
        let name = try store.enqueue(id: "one", Sample.json("one")).name
        #expect(mode(store.path(name)) == 0o600)
        #expect(mode(queue) == 0o700)
        #expect(mode(store.folder.quarantine) == 0o700)
        #expect(TemporaryFolder.read(store.path(name)).map { Array($0.utf8) } == Sample.json("one"))
        #expect(try StateFolder.names(in: queue) == [name.file])
        guard case .body(let octets) = store.load(name) else { throw LabError("not readable") }
        #expect(octets == Sample.json("one"))
    }

    @Test func orderIsThatOfQueueing() throws {
        for id in ["z", "a", "m"] { _ = try store.enqueue(id: id, Sample.json(id)) }
        #expect(try store.list().names.map(\.id) == ["z", "a", "m"])
        try store.remove(try store.list().names[0])
        _ = try store.enqueue(id: "b", Sample.json("b"))
        #expect(try store.list().names.map(\.id) == ["a", "m", "b"])
    }

    /// R-45: the same report is one report.
    @Test func theSameReportIsQueuedOnce() throws {
        let first = try store.enqueue(id: "one", Sample.json("one"))
        let second = try store.enqueue(id: "one", Sample.json("one"))
        #expect(!first.isRepeat && second.isRepeat && first.name == second.name)
        #expect(try store.list().names.count == 1)
    }

    /// R-39.
    @Test func oneTooManyDropsTheOldest() throws {
        var dropped: [String] = []
        for number in 1...8 { dropped += try store.enqueue(id: "r\(number)", Sample.json("r\(number)")).dropped.map(\.id) }
        #expect(dropped == ["r1", "r2", "r3"])
        #expect(try store.list().names.map(\.id) == ["r4", "r5", "r6", "r7", "r8"])
    }

    @Test func aReportThatCannotBeIsRefusedWithAReason() throws {
        for id in ["", "a/b", "..", "a b", String(repeating: "x", count: 65)] {
            let error = #expect(throws: QueueError.self) { try store.enqueue(id: id, Sample.json("x")) }
            #expect(error?.code == .invalidReport)
        }
        let error = #expect(throws: QueueError.self) { try store.enqueue(id: "big", Sample.json("big", padding: 10_000)) }
        #expect(error?.code == .tooLarge)
        #expect(try StateFolder.names(in: queue) == [])
    }

    /// R-42, P71: whatever stands in a file, it is told apart and hurts nobody.
    @Test func damagedFiles() throws {
        let good = Sample.json("good")
        let cases: [(String, [UInt8], String)] = [
            ("cut", Array(good.dropLast(3)), "no_report"), ("empty", [], "no_report"),
            ("zeros", [UInt8](repeating: 0, count: 4096), "no_report"),
            ("otherid", good, "no_report"), ("text", Array("hello".utf8), "no_report"),
            ("schema", Array(#"{"id":"schema"}"#.utf8), "no_report"),
            ("huge", [UInt8](repeating: 0x20, count: 10_001), "too_large"),
        ]
        for (id, octets, code) in cases {
            let name = QueuedName(sequence: 1, id: id)
            put(name.file, octets)
            guard case .unreadable(let found, let detail) = store.load(name) else {
                Issue.record("\(id) was read")
                continue
            }
            #expect(found == code, "\(id)")
            try store.quarantine.take(store.path(name), code: found, detail: detail)
        }
        #expect(try StateFolder.names(in: queue) == [])
        let aside = try store.quarantine.list()
        #expect(Set(aside.compactMap(\.id)) == Set(cases.map(\.0)))
        #expect(aside.allSatisfy { $0.detail?.isEmpty == false })
    }

    /// A pipe, a link and a folder in the place of a report neither block nor lead elsewhere.
    @Test func whatIsNoFileIsNotOpened() throws {
        mkfifo("\(queue)/\(QueuedName(sequence: 1, id: "pipe").file)", 0o600)
        symlink("/etc/passwd", "\(queue)/\(QueuedName(sequence: 2, id: "link").file)")
        mkdir("\(queue)/\(QueuedName(sequence: 3, id: "folder").file)", 0o700)
        for name in try store.list().names {
            guard case .unreadable(let code, let detail) = store.load(name) else {
                Issue.record("\(name.id) was read")
                continue
            }
            try store.quarantine.take(store.path(name), code: code, detail: detail)
        }
        #expect(try StateFolder.names(in: queue) == [])
        #expect(try store.quarantine.list().count == 3)
        try store.quarantine.clear()
        #expect(try StateFolder.names(in: store.folder.quarantine) == [])
    }

    @Test func foreignFilesAreMovedAside() throws {
        put("notes.txt", [1])
        put("0000000000000001-a.json.bak", [2])
        put(".hidden", [3])
        _ = try store.enqueue(id: "good", Sample.json("good"))
        #expect(store.setForeignAside(try store.list()).count == 3)
        #expect(try StateFolder.names(in: queue).count == 1)
        #expect(try store.quarantine.list().allSatisfy { $0.code == "foreign" && $0.id == nil })
    }

    /// P79: what a dead process left behind goes; what a living one is writing stays.
    @Test func strayFiles() throws {
        put(".new-99999-1-1", Array("half a repo".utf8))
        let written = try DurableFile.write(Sample.json("alive"), in: queue)
        #expect(try DurableFile.sweep(queue) == 1)
        try written.publish(as: QueuedName(sequence: 1, id: "alive").file)
        #expect(try DurableFile.sweep(queue) == 0)
        #expect(try store.list().names.map(\.id) == ["alive"])
    }

    @Test func quarantineIsBounded() throws {
        for number in 0..<(Quarantine.maximum + 20) {
            put("f\(number)", [1])
            try store.quarantine.take("\(queue)/f\(number)", code: "Foreign/../x", detail: "d")
        }
        let aside = try store.quarantine.list()
        #expect((Quarantine.maximum - 1...Quarantine.maximum).contains(aside.count))
        #expect(aside.allSatisfy { $0.code == "Foreign____x" })
        #expect(try StateFolder.names(in: store.folder.quarantine).count <= 2 * Quarantine.maximum)
    }

    @Test func clearingTakesEverything() throws {
        for id in ["a", "b"] { _ = try store.enqueue(id: id, Sample.json(id)) }
        put("foreign", [1])
        put("aside", [1])
        try store.quarantine.take("\(queue)/aside", code: "x", detail: "y")
        #expect(try store.clear() == 2)
        #expect(try StateFolder.names(in: queue) == [])
        #expect(try StateFolder.names(in: store.folder.quarantine) == [])
    }
}

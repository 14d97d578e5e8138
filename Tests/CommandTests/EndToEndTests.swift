import LabSupport
import MeasurementModel
import Testing

/// A real server and the real program: registration, a report's way, an interruption of service, and the end of it.
@Suite(.serialized) struct EndToEndTests {
    private static let script = #"""
        set -u
        probe=$0 server=$(dirname "$0")/fieldprobe-server work=${1}
        serve() {
            "$server" serve --data "$work/data" --listen "127.0.0.1:$1" > "$work/out" 2> "$work/err" &
            pid=$!
            for try in $(seq 200); do
                port=$(sed -n 's/.*http:\/\/127\.0\.0\.1:\([0-9]*\).*/\1/p' "$work/out" "$work/err" | head -n 1)
                [ -z "$port" ] || return 0
                sleep 0.05
            done
            cat "$work/err"
            exit 1
        }
        stop() { kill $pid; wait $pid; }
        trap 'kill $pid 2> /dev/null' EXIT
        serve 0
        field() { sed -n "s/.*\"$1\": \"\\{0,1\\}\\([^\",]*\\).*/\\1/p" | head -n 1; }
        key=$("$server" key create --data "$work/data" --devices 1 --json | field key)
        options="--set fieldprobe.state-directory=$work/device --set fieldprobe.api-endpoint=http://127.0.0.1:$port/client_api/v1"
        stored() { "$server" measurement export --data "$work/data" 2> /dev/null | grep -c '"schema"'; }
        pending() { "$probe" queue list --json $options | field pending; }
        run() { "$probe" run --quiet --set collector.geolocation.enabled=no $options -- true 2>> "$work/run.log"; echo "run $?"; }

        run
        printf '%s\n' "$key" | "$probe" register --key - --label one $options > /dev/null; echo "register $?"
        run
        echo "stored $(stored) pending $(pending)"
        stop
        run
        "$probe" status --json $options | grep -c '"enqueued": 2' | sed 's/^/counted /'
        echo "stored $(stored) pending $(pending)"
        serve "$port"
        "$probe" queue send $options > /dev/null; echo "send $?"
        echo "stored $(stored) pending $(pending)"
        uuid=$("$server" client list --data "$work/data" --json | field uuid)
        [ -n "$uuid" ] || uuid=$("$server" client list --data "$work/data" --json | field client_uuid)
        "$server" client disable "$uuid" --data "$work/data" --reason 'Stolen.' > /dev/null; echo "disable $?"
        "$probe" authenticate $options > /dev/null 2>&1; echo "authenticate $?"
        run
        echo "stored $(stored)"
        printf '%s\n' "$key" | "$probe" register --key - $options > /dev/null 2>&1; echo "again $?"
        grep -c "$key" "$work/err" "$work/run.log" | sed 's/.*:/key in log /'
        """#

    @Test("R-2 R-28 R-33 R-38 R-41 R-42 R-45 Registered, run, offline, sent later and once, disabled, and no second slot by accident")
    func everything() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("script.sh", Self.script)
        let child = try ChildProcess(["bash", "-c", "source \(file)", Program.path, folder.path], merged: true)
        let (output, _) = try await offPool { child.finish() }
        #expect(
            output.split(separator: "\n").map(String.init) == [
                "run 200", "register 0", "run 0", "stored 1 pending 0", "run 0", "counted 1", "stored 1 pending 1", "send 0",
                "stored 2 pending 0",
                "disable 0", "authenticate 204", "run 204", "stored 2", "again 204", "key in log 0", "key in log 0",
            ])
    }
}

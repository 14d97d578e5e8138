/// A collector in Python, with nothing but its standard library.
enum PythonSkeleton {
    static let files = [
        Skeleton.File(path: "@NAME@", text: collector, isExecutable: true, about: "the collector"),
        Skeleton.File(path: "test", text: test, isExecutable: true, about: "its test"),
    ]

    private static let collector = #"""
        #!/usr/bin/python3 -IS
        """The collector `@NAME@`: records the load of the machine. Replace the fields and values() by your own.

        It speaks the collector protocol, JSON Lines: one message a line on standard output, FieldProbe's on standard input.
        """
        # -I -S: without the user's own modules, and quicker to start. Leave out -S if you need installed packages.
        import json
        import os
        import select
        import sys
        import time

        # Everything that can ever be recorded: what is not declared is dropped.
        DESCRIPTOR = {
            "protocol": 1,
            "name": "@NAME@",
            "version": "0.1",
            "trace": "@TRACE@",
            "about": "The load of the machine",
            "fields": [
                {
                    "name": "load",
                    "type": "number",
                    "privacy": "performance_data",
                    "changes": {"by": 0.5},
                    "about": "Processes that run or want to, over one minute",
                },
            ],
            # Its own keys: a misspelt one is refused before it starts.
            "configuration": [{"name": "interval-ms", "about": "Milliseconds between two readings, 1000 without it"}],
        }


        def values():
            """All that is known now. What is not known is left out: no zero, no estimate."""
            try:
                with open("/proc/loadavg", encoding="ascii") as file:
                    return {"load": float(file.read().split()[0])}
            except (OSError, ValueError, IndexError):
                return {}


        def say(message, **members):
            sys.stdout.write(json.dumps({"message": message, **members}) + "\n")
            # What waits in a buffer would be stamped late.
            sys.stdout.flush()


        class Input:
            """FieldProbe's messages, with a time limit. Unbuffered, because select(2) does not see what a buffer has swallowed."""

            def __init__(self):
                self.pending = b""

            def message(self, until=None):
                """None when the time has come. The end of the input means the same as a stop message."""
                while b"\n" not in self.pending:
                    left = None if until is None else max(0, until - time.monotonic())
                    if not select.select([0], [], [], left)[0]:
                        return None
                    octets = os.read(0, 65536)
                    if not octets:
                        return {"message": "stop"}
                    self.pending += octets
                line, self.pending = self.pending.split(b"\n", 1)
                try:
                    message = json.loads(line)
                except ValueError:
                    message = None
                # What is no message is passed over, as one that is not known: a newer FieldProbe may say more.
                return message if isinstance(message, dict) and "message" in message else {"message": "unknown"}


        def main():
            say("descriptor", **DESCRIPTOR)
            messages = Input()
            # Nothing may be opened or asked before the test starts: often the descriptor is all that is wanted.
            while (start := messages.message())["message"] != "start":
                if start["message"] == "stop":
                    return
            # Its own keys come as texts: [configuration] of /etc/fieldprobe/collectors.d/@NAME@.conf.
            try:
                interval = max(1, int(start.get("configuration", {}).get("interval-ms", "1000"))) / 1000
            except ValueError:
                return say("failed", reason="bad_configuration", detail="interval-ms is a whole number of milliseconds")
            due = time.monotonic()
            while True:
                known = values()
                # Every reading is said: FieldProbe decides whether something has changed. What is not there is a state and no error.
                if known:
                    say("record", values=known)
                else:
                    say("unavailable", reason="no_reading", detail="/proc/loadavg cannot be read")
                due = max(due + interval, time.monotonic())
                while (message := messages.message(until=due)) is not None:
                    if message["message"] == "stop":
                        # Release everything and end.
                        return


        if __name__ == "__main__":
            try:
                main()
            except BrokenPipeError:
                # Nobody listens any more; the interpreter would complain about what it could not flush.
                os._exit(0)

        """#

    private static let test = #"""
        #!/usr/bin/python3
        """Tests the collector: what it says, and then its manners."""
        import json
        import os
        import subprocess
        import sys

        os.chdir(os.path.dirname(os.path.abspath(__file__)))

        conversation = [
            {"message": "hello", "protocol": 1},
            {"message": "start", "type": "NETWORK", "subject": "ping", "permissions": {}, "configuration": {"interval-ms": "1000"}},
            {"message": "stop"},
        ]
        told = "".join(json.dumps(message) + "\n" for message in conversation)
        program = subprocess.run(["./@NAME@"], input=told, stdout=subprocess.PIPE, text=True, timeout=30)
        said = [json.loads(line) for line in program.stdout.splitlines()]
        assert program.returncode == 0, f"it ended with {program.returncode}"
        assert said[0]["message"] == "descriptor", f"it began with {said[0]}"
        records = [message["values"] for message in said if message["message"] == "record"]
        assert records, "it recorded nothing"
        assert 0 <= records[0]["load"] < 100000, f"this load is not plausible: {records[0]}"
        print("values: plausible", flush=True)

        fieldprobe = os.environ.get("FIELDPROBE", "fieldprobe")
        try:
            sys.exit(subprocess.call([fieldprobe, "collectors", "check", "--runs", "20", "./@NAME@"]))
        except FileNotFoundError:
            sys.exit(f"{fieldprobe} is not installed: put it into PATH, or its path into FIELDPROBE")

        """#
}

/// A collector in the language of every shell: for what another program prints, or a file says.
enum ShellSkeleton {
    static let files = [
        Skeleton.File(path: "@NAME@", text: collector, isExecutable: true, about: "the collector"),
        Skeleton.File(path: "test", text: test, isExecutable: true, about: "its test"),
    ]

    private static let collector = #"""
        #!/bin/sh
        # The collector `@NAME@`: records the load of the machine. Replace the field and reading() by your own.
        # It speaks the collector protocol, JSON Lines: one message a line on standard output, FieldProbe's on standard input.

        # First, what can ever be recorded: what is not declared is dropped. Nothing may be opened or asked before the test starts.
        printf '%s' '{"message":"descriptor","protocol":1,"name":"@NAME@","version":"0.1","trace":"@TRACE@",' \
            '"about":"The load of the machine","fields":[' \
            '{"name":"load","type":"number","privacy":"performance_data","changes":{"by":0.5},"about":"Processes that run or want to, over one minute"}' \
            '],"configuration":[{"name":"interval-ms","about":"Milliseconds between two readings, 1000 without it"}]}'
        echo

        # Says what is known now. Every reading is said: FieldProbe decides whether something has changed. What is not known is left out,
        # and what is not there is a state and no error.
        reading() {
            if read -r load rest < /proc/loadavg; then
                printf '{"message":"record","values":{"load":%s}}\n' "$load"
            else
                echo '{"message":"unavailable","reason":"no_reading","detail":"/proc/loadavg cannot be read"}'
            fi
        }

        # In the background, because a shell that reads its input cannot wait for time too. Leaves nothing behind when it is ended.
        readings() {
            trap 'kill "$pause" 2> /dev/null; exit 0' TERM
            while :; do
                sleep "$seconds" &
                pause=$!
                wait "$pause"
                reading
            done
        }

        background=
        while read -r message; do
            case $message in
                *'"message":"start"'*)
                    # Its own keys come as texts: [configuration] of /etc/fieldprobe/collectors.d/@NAME@.conf.
                    interval=$(printf '%s\n' "$message" | sed -n 's/.*"interval-ms":"\([1-9][0-9]\{0,6\}\)".*/\1/p')
                    case $message in
                        *'"interval-ms"'*)
                            if [ -z "$interval" ]; then
                                echo '{"message":"failed","reason":"bad_configuration","detail":"interval-ms is a whole number of milliseconds"}'
                                exit 1
                            fi
                            ;;
                    esac
                    interval=${interval:-1000}
                    seconds=$(printf '%d.%03d' $((interval / 1000)) $((interval % 1000)))
                    # The first reading at once, so that also the shortest test has one.
                    reading
                    readings &
                    background=$!
                    ;;
                *'"message":"stop"'*) break ;;
            esac
        done
        # Here the test has ended: by the message, or because the input is over. Release everything and end.
        if [ -n "$background" ]; then
            kill "$background"
            wait "$background" 2> /dev/null
        fi
        exit 0

        """#

    private static let test = #"""
        #!/bin/sh
        # Tests the collector: what it says, and then its manners.
        set -eu
        cd "$(dirname "$0")"

        said=$(printf '%s\n' '{"message":"hello","protocol":1}' \
            '{"message":"start","type":"NETWORK","subject":"ping","permissions":{},"configuration":{"interval-ms":"1000"}}' \
            '{"message":"stop"}' | ./@NAME@)
        case $said in
            *'"values":{"load":'[0-9]*) echo "values: plausible" ;;
            *)
                echo "values: no record with a plausible load in what it said:" >&2
                printf '%s\n' "$said" >&2
                exit 1
                ;;
        esac

        exec "${FIELDPROBE:-fieldprobe}" collectors check --runs 20 ./@NAME@

        """#
}

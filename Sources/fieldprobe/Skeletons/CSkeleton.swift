/// A collector in C, as a shared library. Its header goes along, so that nothing else has to be installed.
enum CSkeleton {
    static let files = [
        Skeleton.File(path: "@NAME@.c", text: collector, about: "the collector"),
        Skeleton.File(path: "fieldprobe_collector.h", text: CollectorHeader.text, about: "the interface between it and FieldProbe"),
        Skeleton.File(path: "test.c", text: test, about: "its test"),
        Skeleton.File(path: "Makefile", text: makefile, about: "builds and tests it"),
    ]

    private static let collector = #"""
        // The collector `@NAME@`: records the load of the machine. Replace the field and read_load() by your own.
        // fieldprobe_collector.h is the whole interface.
        #include "fieldprobe_collector.h"
        #include <stdbool.h>
        #include <stdio.h>
        #include <stdlib.h>

        // Whether it is known: what is not known is left out, so nobody takes a zero for a value.
        static bool read_load(const char *path, double *load) {
            FILE *file = fopen(path, "re");
            if (!file) return false;
            bool is_known = fscanf(file, "%lf", load) == 1 && *load >= 0;
            fclose(file);
            return is_known;
        }

        static int32_t collect(const fieldprobe_host *host, const fieldprobe_session *session) {
            (void)session;
            // Its own keys come as texts: [configuration] of /etc/fieldprobe/collectors.d/@NAME@.conf.
            const char *text = host->setting(host->context, "interval-ms");
            int64_t interval = text ? strtoll(text, NULL, 10) : 1000;
            if (interval < 100 || interval > 3600000) {
                host->failed(host->context, "bad_configuration", "'interval-ms' needs a number from 100 to 3600000");
                return 1;
            }
            for (;;) {
                double load;
                if (read_load("/proc/loadavg", &load)) {
                    char values[64];
                    snprintf(values, sizeof values, "{\"load\":%.2f}", load);
                    // Every reading is said: FieldProbe decides whether something has changed.
                    host->record(host->context, values, 0);
                } else {
                    // What is not there is a state and no error.
                    host->unavailable(host->context, "no_reading", "/proc/loadavg cannot be read");
                }
                // Never sleep(3): wait() ends with the test. An error is negative, and must not make this a loop without end.
                int32_t woken = host->wait(host->context, NULL, 0, interval * 1000000);
                if (woken < 0) return 1;
                if (woken & FIELDPROBE_STOP) break;
            }
            // Release everything here.
            return 0;
        }

        static const fieldprobe_collector collector = {
            .size = sizeof collector,
            .abi = FIELDPROBE_COLLECTOR_ABI,
            // Everything that can ever be recorded: what is not declared is dropped.
            .descriptor =
                "{\"name\":\"@NAME@\",\"version\":\"0.1\",\"trace\":\"@TRACE@\",\"about\":\"The load of the machine\",\"fields\":["
                "{\"name\":\"load\",\"type\":\"number\",\"privacy\":\"performance_data\",\"changes\":{\"by\":0.5},"
                "\"about\":\"Processes that run or want to, over one minute\"}"
                "],\"configuration\":[{\"name\":\"interval-ms\",\"about\":\"Milliseconds between two readings, 1000 without it\"}]}",
            .collect = collect,
        };

        // Gives the struct and does nothing else: it is also called when somebody only asks what the collector records.
        const fieldprobe_collector *fieldprobe_collector_entry(uint32_t host_abi) {
            return host_abi == FIELDPROBE_COLLECTOR_ABI ? &collector : NULL;
        }

        """#

    private static let test = #"""
        // Tests the collector without FieldProbe: what it reads, and what it says to a host that ends the test after three readings.
        #undef NDEBUG
        #include "@NAME@.c"
        #include <assert.h>
        #include <string.h>

        static int records, waits;

        static int32_t record(void *context, const char *values, int64_t at) {
            (void)context;
            double load;
            assert(at == 0);
            assert(sscanf(values, "{\"load\":%lf}", &load) == 1 && load >= 0 && load < 100000);
            records++;
            return 0;
        }

        static int32_t wait_for(void *context, struct pollfd *fds, size_t count, int64_t timeout) {
            (void)context, (void)fds, (void)count;
            assert(timeout == 200000000);
            return ++waits == 3 ? FIELDPROBE_STOP : 0;
        }

        static const char *setting(void *context, const char *key) {
            (void)context;
            return strcmp(key, "interval-ms") == 0 ? "200" : NULL;
        }

        int main(void) {
            double load;
            assert(!read_load("/dev/null", &load));

            const fieldprobe_host host = {
                .size = sizeof host, .abi = FIELDPROBE_COLLECTOR_ABI, .record = record, .wait = wait_for, .setting = setting,
            };
            const fieldprobe_session session = {.size = sizeof session, .abi = FIELDPROBE_COLLECTOR_ABI, .configuration = "{}"};
            const fieldprobe_collector *collector = fieldprobe_collector_entry(FIELDPROBE_COLLECTOR_ABI);
            assert(collector && collector->collect(&host, &session) == 0);
            assert(records == 3 && waits == 3);
            assert(!fieldprobe_collector_entry(FIELDPROBE_COLLECTOR_ABI + 1));
            puts("values: plausible");
            return 0;
        }

        """#

    private static let makefile = """
        CC = cc
        CFLAGS = -std=c11 -Wall -Wextra -Werror -O2
        FIELDPROBE = fieldprobe

        .PHONY: all test clean
        all: @NAME@.so

        @NAME@.so: @NAME@.c fieldprobe_collector.h
        \t$(CC) $(CFLAGS) -shared -fPIC -o $@ @NAME@.c

        test-program: test.c @NAME@.c fieldprobe_collector.h
        \t$(CC) $(CFLAGS) -o $@ test.c

        # What it says, and then its manners.
        test: @NAME@.so test-program
        \t./test-program
        \t$(FIELDPROBE) collectors check --runs 20 ./@NAME@.so

        clean:
        \trm -f @NAME@.so test-program

        """
}

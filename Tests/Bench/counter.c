// Writes so many records as fast as it can: as a collector library, as a collector program (-DPROGRAM), or as a program of collectd's exec
// plugin (-DCOLLECTD). One write for each record, as a collector of readings does it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELDS                                                                                                   \
    "\"name\":\"counter\",\"version\":\"1\",\"trace\":\"counter_trace\",\"fields\":["                             \
    "{\"name\":\"value\",\"type\":\"integer\",\"privacy\":\"other_diagnostic_data\",\"about\":\"A number\"},"     \
    "{\"name\":\"level\",\"type\":\"number\",\"unit\":\"dB\",\"privacy\":\"other_diagnostic_data\",\"about\":\"A level\"}," \
    "{\"name\":\"label\",\"type\":\"text\",\"privacy\":\"other_diagnostic_data\",\"about\":\"A text\"}]"
#define VALUES "{\"value\":%ld,\"level\":-67.5,\"label\":\"2.4 GHz, channel 6\"}"

#if defined PROGRAM || defined COLLECTD
static void put(const char *text, int length) {
    while (length > 0) {
        ssize_t written = write(1, text, (size_t)length);
        if (written <= 0) exit(1);
        text += written;
        length -= (int)written;
    }
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 0;
    char line[512];
#ifdef PROGRAM
    put("{\"message\":\"descriptor\",\"protocol\":1," FIELDS "}\n", (int)strlen("{\"message\":\"descriptor\",\"protocol\":1," FIELDS "}\n"));
    while (fgets(line, sizeof line, stdin) && !strstr(line, "\"start\"")) {}
    for (long number = 1; number <= count; number++)
        put(line, snprintf(line, sizeof line, "{\"message\":\"record\",\"values\":" VALUES "}\n", number));
    while (fgets(line, sizeof line, stdin)) {}
#else
    for (long number = 1; number <= count; number++)
        put(line, snprintf(line, sizeof line, "PUTVAL \"bench/counter-%ld/gauge-value\" interval=10 N:%ld\n", number % 3, number));
    // When the last line is taken, the pipe is empty: collectd has closed nothing, so this file tells that everything is written.
    FILE *done = fopen(argv[2], "w");
    if (done) fclose(done);
    pause();
#endif
    return 0;
}
#else
#include "fieldprobe_collector.h"

static int32_t collect(const fieldprobe_host *host, const fieldprobe_session *session) {
    (void)session;
    const char *count = host->setting(host->context, "count");
    char values[200];
    for (long number = 1; count && number <= atol(count); number++) {
        snprintf(values, sizeof values, VALUES, number);
        host->record(host->context, values, 0);
    }
    while (!(host->wait(host->context, NULL, 0, -1) & FIELDPROBE_STOP)) {}
    return 0;
}

const fieldprobe_collector *fieldprobe_collector_entry(uint32_t host_abi) {
    static const fieldprobe_collector collector = {
        .size = sizeof collector, .abi = FIELDPROBE_COLLECTOR_ABI, .descriptor = "{" FIELDS "}", .collect = collect};
    return host_abi == FIELDPROBE_COLLECTOR_ABI ? &collector : NULL;
}
#endif

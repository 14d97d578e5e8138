// The collector of `replay` and Replay.swift, in C: all three have to leave the same trace. As DEFECT says, it is also one that breaks.
#include "fieldprobe_collector.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char descriptor[] =
    "{\"name\":\"replay\",\"version\":\"1.0\",\"trace\":\"replay_trace\",\"about\":\"The same in every language\",\"fields\":["
    "{\"name\":\"value\",\"type\":\"integer\",\"privacy\":\"other_diagnostic_data\",\"about\":\"A number\"},"
    "{\"name\":\"level\",\"type\":\"number\",\"unit\":\"dB\",\"privacy\":\"other_diagnostic_data\",\"changes\":{\"by\":2},\"about\":\"A level\"},"
    "{\"name\":\"label\",\"type\":\"text\",\"privacy\":\"other_diagnostic_data\",\"about\":\"A text\"},"
    "{\"name\":\"is_on\",\"type\":\"bool\",\"privacy\":\"other_diagnostic_data\",\"changes\":\"never\",\"about\":\"A truth\"},"
    "{\"name\":\"place\",\"type\":\"text\",\"privacy\":\"precise_location\",\"permission\":\"precise_location\",\"about\":\"A place\"},"
    "{\"name\":\"parts\",\"type\":\"records\",\"privacy\":\"other_diagnostic_data\",\"about\":\"Some records\",\"members\":["
    "{\"name\":\"id\",\"type\":\"integer\",\"privacy\":\"other_diagnostic_data\",\"about\":\"A number\"},"
    "{\"name\":\"level\",\"type\":\"number\",\"privacy\":\"other_diagnostic_data\",\"changes\":{\"by\":5},\"about\":\"A level\"}]}]}";

static int32_t collect(const fieldprobe_host *host, const fieldprobe_session *session) {
    void *c = host->context;
#if defined DEFECT_FACTS
    char text[200];
    snprintf(text, sizeof text, "%s/%s %s %u %s %s %d", session->type, session->subject, session->target ? session->target : "-",
             session->permissions, host->setting(c, "zone"), host->setting(c, "none") ? "set" : "unset", session->started_at > 0);
    host->provenance(c, "facts", text);
    host->provenance(c, "configuration", session->configuration);
    host->record(c, "{\"value\":1}", 0);
    int32_t why;
    while (!((why = host->wait(c, NULL, 0, -1)) & FIELDPROBE_STOP)) {
        host->target(c, text, sizeof text);
        host->provenance(c, "target", text);
        host->record(c, "{\"value\":2}", 0);
    }
    return 0;
#elif defined DEFECT_SEGFAULT
    host->record(c, "{\"value\":1}", 0);
    *(volatile int *)8 = 1;
#elif defined DEFECT_PRINTS
    // A stray printf must not end up between the messages.
    printf("debugging output without a line feed");
    fflush(stdout);
#elif defined DEFECT_FAILS
    host->failed(c, "no_sensor", "the sensor is broken: replace it");
    return 1;
#elif defined DEFECT_DEAF
    host->record(c, "{\"value\":1}", 0);
    for (;;) host->wait(c, NULL, 0, 1000000000);
#endif
    (void)session;
    host->provenance(c, "value", "replay");
    host->record(c, "{\"value\":1,\"level\":10.0,\"label\":\"a\",\"is_on\":true}", 0);
    host->record(c, "{\"value\":1,\n\"level\":10.0,\n\"label\":\"a\",\n\"is_on\":false}", 0);
    host->record(c, "{\"value\":1,\"level\":11.5,\"label\":\"a\"}", 0);
    host->record(c, "{\"value\":2,\"level\":13}", 0);
    host->gap_began(c, "event_loss", 0);
    host->gap_ended(c, "event_loss", 0);
    host->unavailable(c, "no_hardware", "it was unplugged");
    host->available(c);
    host->resynced(c);
    host->rejected(c, "implausible", 3);
    host->record(c, "{\"value\":3,\"place\":\"here\",\"unheard\":1}", 0);
    host->record(c, "{\"value\":3,\"label\":\"Gr\xc3\xbc\xc3\x9f" "e, \\\"du\\\"\\n\xf0\x9f\x8c\x8d\",\"parts\":[{\"id\":1,\"level\":-60.5},{\"id\":2}]}", 0);
    host->record(c, "{\"value\":3,\"label\":\"Gr\xc3\xbc\xc3\x9f" "e, \\\"du\\\"\\n\xf0\x9f\x8c\x8d\",\"parts\":[{\"id\":1,\"level\":-62},{\"id\":2}]}", 0);
    host->record(c, "{\"value\":9007199254740993,\"label\":\"\"}", 0);
    host->record(c, "{\"value\":99}", 0);
    while (!(host->wait(c, NULL, 0, -1) & FIELDPROBE_STOP)) {}
    return 0;
}

static const fieldprobe_collector collector = {
#if defined DEFECT_VERSION
    .abi = 2,
#else
    .abi = FIELDPROBE_COLLECTOR_ABI,
#endif
    .size = sizeof collector, .descriptor = descriptor, .collect = collect};

#if !defined DEFECT_HIDDEN
const fieldprobe_collector *fieldprobe_collector_entry(uint32_t host_abi) {
#if defined DEFECT_REFUSES
    return NULL;
#endif
    return host_abi == FIELDPROBE_COLLECTOR_ABI ? &collector : NULL;
}
#endif

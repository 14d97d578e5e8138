/*
 * A FieldProbe collector as a shared library: the whole interface, for C and for every language that can call and be called as C is.
 *
 * The library exports one function, fieldprobe_collector_entry(). It is loaded by a process of its own (fieldprobe-collector-host),
 * one for each test, which speaks the collector protocol for it: a crash there costs this collector's trace and nothing else.
 *
 * Build it as `cc -shared -fPIC -o NAME.so NAME.c`; nothing has to be linked. Try it with `fieldprobe collectors check ./NAME.so`.
 *
 * Rules that keep libraries and hosts of different ages together:
 *   - Every struct begins with its size in octets and the ABI version, as whoever filled it was built.
 *   - Members are only ever added, at the end. A member is there if it lies within `size`.
 *   - The version changes only if something old would be understood wrongly. A host refuses a library of another version, and says so.
 *
 * All text is UTF-8 and ends with a zero octet. Payloads are JSON (RFC 8259). Times are nanoseconds of CLOCK_BOOTTIME (clock_gettime(2)).
 */
#ifndef FIELDPROBE_COLLECTOR_H
#define FIELDPROBE_COLLECTOR_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FIELDPROBE_COLLECTOR_ABI 1u

/* Bits of fieldprobe_session.permissions: what this run may see. What needs a permission that is off is dropped in any case. */
#define FIELDPROBE_PRECISE_LOCATION 1u
#define FIELDPROBE_WIFI_IDENTITY 2u

/* Bits of what fieldprobe_host.wait() gives; 0 is the time-out. */
#define FIELDPROBE_STOP 1   /* the test has ended: release everything and return */
#define FIELDPROBE_TARGET 2 /* the addresses of the test's target have become known */
#define FIELDPROBE_READY 4  /* a descriptor is ready: see its revents */

/* The test that the collector runs beside. It is valid until collect() returns. */
typedef struct fieldprobe_session {
    uint32_t size;
    uint32_t abi;
    const char *type;          /* such as "WEB" */
    const char *subject;       /* such as "website" */
    const char *target;        /* host or address that is measured against, NULL without one */
    int64_t started_at;        /* the test's start */
    uint32_t permissions;
    const char *configuration; /* the collector's own keys as one JSON object of strings, {} without any */
} fieldprobe_session;

/*
 * What the host does for the collector. The first argument of each function is `context`. Functions that tell something give 0, or a
 * negative errno: -EINVAL for an argument that is not what it should be, -EPIPE when nobody listens any more. Any thread may call them
 * until collect() returns.
 */
typedef struct fieldprobe_host {
    uint32_t size;
    uint32_t abi;
    void *context;

    /*
     * The current values of all fields that are known, as one JSON object: {"temperature":41.5}. What is not known is left out. The
     * recorder decides whether anything has changed; call it with every reading. `at` is when the values were so, 0 means now.
     */
    int32_t (*record)(void *context, const char *values, int64_t at);

    /* A time in which something may have been missed: it begins, it ends, or it has passed. Reasons are words such as "event_loss". */
    int32_t (*gap_began)(void *context, const char *reason, int64_t at);
    int32_t (*gap_ended)(void *context, const char *reason, int64_t at);
    int32_t (*gap_passed)(void *context, const char *reason, int64_t from, int64_t to);

    /* The subject cannot be seen, which is a state and no error: "no_hardware", "no_daemon". The next record ends it, or available().
     * `detail` is a sentence for people, or NULL. */
    int32_t (*unavailable)(void *context, const char *reason, const char *detail);
    int32_t (*available)(void *context);
    /* The subject is there, and this process may not look at it. */
    int32_t (*denied)(void *context, const char *reason, const char *detail);

    /* Everything was asked for again because events had been lost. */
    int32_t (*resynced)(void *context);
    /* So many readings were refused, for the reason. */
    int32_t (*rejected)(void *context, const char *reason, uint32_t count);
    /* How a field, or a group of fields, is known: ("temperature", "sysfs"). */
    int32_t (*provenance)(void *context, const char *subject, const char *source);
    /* Why collect() is about to return another value than 0, in a sentence for people. */
    int32_t (*failed)(void *context, const char *reason, const char *detail);

    /*
     * Waits like poll(2), and costs nothing meanwhile: until the test ends, the target becomes known, one of the descriptors is ready, or
     * `timeout` nanoseconds are over (negative: without limit). `fds` may be NULL. Gives FIELDPROBE_ bits, 0 at the time-out, or a
     * negative errno. For one thread at a time.
     */
    int32_t (*wait)(void *context, struct pollfd *fds, size_t count, int64_t timeout);
    /* For event loops of their own: a descriptor that becomes readable, and stays so, when the test ends. It is the host's to close. */
    int32_t (*stop_descriptor)(void *context);

    /*
     * The target as it is known now: {"host":"server.example","addresses":["192.0.2.1"]}. Works as snprintf(3): writes at most `capacity`
     * octets with the final zero, and gives the length of the whole text.
     */
    size_t (*target)(void *context, char *text, size_t capacity);
    /* The value of one configuration key, by the same rules; NULL when it is not set. Valid until collect() returns. */
    const char *(*setting)(void *context, const char *key);
} fieldprobe_host;

/* The collector. It stays valid as long as the library is loaded. */
typedef struct fieldprobe_collector {
    uint32_t size; /* sizeof(fieldprobe_collector) */
    uint32_t abi;  /* FIELDPROBE_COLLECTOR_ABI */

    /*
     * What the collector is and may record, as one JSON object: name, version, trace and fields, as the descriptor message of the
     * collector protocol (docs/collector-protocol.md) without its "message" and "protocol".
     */
    const char *descriptor;

    /*
     * Lives as long as the test: called when it starts, runs until wait() says FIELDPROBE_STOP, and has released everything when it
     * returns. 0 means that there is nothing more to say, anything else that it has failed. Called once in a process.
     */
    int32_t (*collect)(const fieldprobe_host *host, const fieldprobe_session *session);
} fieldprobe_collector;

/*
 * The one function that the library exports. It must do no more than give the struct: it is also called when somebody only asks what the
 * collector records. NULL means that the library cannot work with a host of this version.
 */
const fieldprobe_collector *fieldprobe_collector_entry(uint32_t host_abi);

#ifdef __cplusplus
}
#endif

#endif

// A collector as a shared library, made to look like a collector that is a program: docs/collector-protocol.md.
#define _GNU_SOURCE
#include "fieldprobe_collector.h"
#include "host.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

// Everything that the one collector of this process shares with the thread that listens to fieldprobe.
static struct {
    int out;              // where messages go; standard output itself is led to standard error, so that a stray printf does no harm
    pthread_mutex_t lock; // of out: a line at a time
    pthread_mutex_t target_lock; // its own, because a write to a full pipe takes as long as fieldprobe likes
    int stop;             // an eventfd that stays readable once the test has ended
    int attention;        // an eventfd that is readable while a new target has not been looked at
    char *target;
    json_t *configuration;
} host = {.lock = PTHREAD_MUTEX_INITIALIZER, .target_lock = PTHREAD_MUTEX_INITIALIZER};

// MARK: Out

static int write_all(const char *text, size_t length) {
    while (length > 0) {
        ssize_t count = write(host.out, text, length);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -errno;
        text += count;
        length -= (size_t)count;
    }
    return 0;
}

/// Takes over the message.
static int32_t tell(json_t *message) {
    if (!message) return -EINVAL;
    char *text = json_dumps(message, JSON_COMPACT);
    json_decref(message);
    if (!text) return -EINVAL;
    size_t length = strlen(text);
    text[length] = '\n'; // in the place of the final zero: one write for each line
    pthread_mutex_lock(&host.lock);
    int result = write_all(text, length + 1);
    pthread_mutex_unlock(&host.lock);
    free(text);
    return result;
}

/// Only for text that is UTF-8: jansson gives no string for anything else, and the whole message is then refused.
static json_t *words(const char *message, const char *first, const char *value, const char *second, const char *more) {
    if (!value) return NULL;
    json_t *object = json_pack("{s:s, s:s}", "message", message, first, value);
    if (object && more && json_object_set_new(object, second, json_string(more)) < 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int32_t host_record(void *context, const char *values, int64_t at) {
    (void)context;
    if (!values) return -EINVAL;
    // Not parsed here: fieldprobe does it, and it is the same for every collector. A line break, which JSON allows between values only,
    // would end the message.
    size_t length = strlen(values), size = length + 96;
    char *line = malloc(size);
    if (!line) return -ENOMEM;
    int head = at ? snprintf(line, size, "{\"message\":\"record\",\"at\":%lld,\"values\":", (long long)at)
                  : snprintf(line, size, "{\"message\":\"record\",\"values\":");
    for (size_t index = 0; index < length; index++)
        line[(size_t)head + index] = values[index] == '\n' || values[index] == '\r' ? ' ' : values[index];
    memcpy(line + head + length, "}\n", 2);
    pthread_mutex_lock(&host.lock);
    int result = write_all(line, (size_t)head + length + 2);
    pthread_mutex_unlock(&host.lock);
    free(line);
    return result;
}

static int32_t gap(const char *event, const char *reason, const char *first, int64_t at, const char *second, int64_t to) {
    if (!reason) return -EINVAL;
    json_t *message = json_pack("{s:s, s:s, s:s}", "message", "gap", "event", event, "reason", reason);
    if (message && at) json_object_set_new(message, first, json_integer(at));
    if (message && second) json_object_set_new(message, second, json_integer(to));
    return tell(message);
}

static int32_t host_gap_began(void *context, const char *reason, int64_t at) {
    (void)context;
    return gap("began", reason, "at", at, NULL, 0);
}

static int32_t host_gap_ended(void *context, const char *reason, int64_t at) {
    (void)context;
    return gap("ended", reason, "at", at, NULL, 0);
}

static int32_t host_gap_passed(void *context, const char *reason, int64_t from, int64_t to) {
    (void)context;
    return gap("passed", reason, "from", from, "to", to);
}

static int32_t host_unavailable(void *context, const char *reason, const char *detail) {
    (void)context;
    return tell(words("unavailable", "reason", reason, "detail", detail));
}

static int32_t host_available(void *context) {
    (void)context;
    return tell(json_pack("{s:s}", "message", "available"));
}

static int32_t host_denied(void *context, const char *reason, const char *detail) {
    (void)context;
    return tell(words("denied", "reason", reason, "detail", detail));
}

static int32_t host_resynced(void *context) {
    (void)context;
    return tell(json_pack("{s:s}", "message", "resynced"));
}

static int32_t host_rejected(void *context, const char *reason, uint32_t count) {
    (void)context;
    if (!reason) return -EINVAL;
    return tell(json_pack("{s:s, s:s, s:I}", "message", "rejected", "reason", reason, "count", (json_int_t)count));
}

static int32_t host_provenance(void *context, const char *subject, const char *source) {
    (void)context;
    if (!source) return -EINVAL;
    return tell(words("provenance", "subject", subject, "source", source));
}

static int32_t host_failed(void *context, const char *reason, const char *detail) {
    (void)context;
    return tell(words("failed", "reason", reason, "detail", detail));
}

// MARK: In

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void signal_event(int descriptor) {
    uint64_t one = 1;
    if (write(descriptor, &one, sizeof one) < 0) { /* it is readable already */ }
}

static int32_t host_wait(void *context, struct pollfd *fds, size_t count, int64_t timeout) {
    (void)context;
    if ((!fds && count) || count > 1024) return -EINVAL;
    struct pollfd all[count + 2];
    all[0] = (struct pollfd){.fd = host.stop, .events = POLLIN};
    all[1] = (struct pollfd){.fd = host.attention, .events = POLLIN};
    if (count) memcpy(all + 2, fds, count * sizeof *fds);
    // A century is for ever, and cannot overflow.
    const int64_t century = INT64_C(3155760000000000000);
    int64_t end = timeout < 0 ? 0 : now() + (timeout < century ? timeout : century);
    for (;;) {
        struct timespec left = {0};
        if (timeout >= 0) {
            int64_t ns = end - now();
            if (ns > 0) left = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
        }
        int ready = ppoll(all, count + 2, timeout < 0 ? NULL : &left, NULL);
        if (ready < 0 && errno == EINTR) continue;
        if (ready < 0) return -errno;
        break;
    }
    int32_t result = 0;
    if (all[0].revents) result |= FIELDPROBE_STOP;
    if (all[1].revents) {
        uint64_t seen;
        if (read(host.attention, &seen, sizeof seen) > 0) result |= FIELDPROBE_TARGET;
    }
    for (size_t index = 0; index < count; index++) {
        fds[index].revents = all[index + 2].revents;
        if (fds[index].revents) result |= FIELDPROBE_READY;
    }
    return result;
}

static int32_t host_stop_descriptor(void *context) {
    (void)context;
    return host.stop;
}

static size_t host_target(void *context, char *text, size_t capacity) {
    (void)context;
    pthread_mutex_lock(&host.target_lock);
    int length = snprintf(text, capacity, "%s", host.target);
    pthread_mutex_unlock(&host.target_lock);
    return (size_t)length;
}

static const char *host_setting(void *context, const char *key) {
    (void)context;
    return key ? json_string_value(json_object_get(host.configuration, key)) : NULL;
}

/// The next message with one of two names; NULL at the end of the input. What this host does not know is passed over: a newer fieldprobe
/// may say more.
static json_t *next_message(const char *first, const char *second) {
    static char *line;
    static size_t capacity;
    for (;;) {
        ssize_t length = getline(&line, &capacity, stdin);
        if (length < 0) return NULL;
        json_t *message = json_loadb(line, (size_t)length, 0, NULL);
        const char *name = json_string_value(json_object_get(message, "message"));
        if (name && (strcmp(name, first) == 0 || strcmp(name, second) == 0)) return message;
        json_decref(message);
    }
}

static void take_target(json_t *target) {
    char *text = target ? json_dumps(target, JSON_COMPACT) : strdup("{}");
    pthread_mutex_lock(&host.target_lock);
    char *old = host.target;
    host.target = text;
    pthread_mutex_unlock(&host.target_lock);
    free(old);
}

/// Until the test ends: a stop message, or the end of the input because fieldprobe is gone.
static void *listen_to_fieldprobe(void *unused) {
    json_t *message;
    while ((message = next_message("target", "stop"))) {
        if (strcmp(json_string_value(json_object_get(message, "message")), "stop") == 0) break;
        take_target(json_object_get(message, "target"));
        signal_event(host.attention);
        json_decref(message);
    }
    signal_event(host.stop);
    return unused;
}

// MARK: The library

static int refuse(const char *reason, const char *detail) {
    host_failed(NULL, reason, detail);
    return 1;
}

// What a library of the first version has. Members that came later are there if they lie within its `size`.
static const size_t first_size = offsetof(fieldprobe_collector, collect) + sizeof ((fieldprobe_collector *)0)->collect;

static const fieldprobe_collector *load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return refuse("cannot_load", dlerror()), NULL;
    const fieldprobe_collector *(*entry)(uint32_t) = NULL;
    *(void **)&entry = dlsym(library, "fieldprobe_collector_entry");
    if (!entry) {
        refuse("no_entry", "the library does not export fieldprobe_collector_entry(): it is no FieldProbe collector, or hides its symbols");
        return NULL;
    }
    const fieldprobe_collector *collector = entry(FIELDPROBE_COLLECTOR_ABI);
    char text[200];
    if (!collector) {
        snprintf(text, sizeof text, "the library cannot work with version %u of the collector ABI, which this FieldProbe has",
                 FIELDPROBE_COLLECTOR_ABI);
    } else if (collector->abi != FIELDPROBE_COLLECTOR_ABI || collector->size < first_size) {
        snprintf(text, sizeof text,
                 "the library was built for version %u of the collector ABI, and this FieldProbe has version %u: build it anew",
                 collector->abi, FIELDPROBE_COLLECTOR_ABI);
    } else {
        return collector;
    }
    refuse("protocol_version", text);
    return NULL;
}

static int describe(const fieldprobe_collector *collector) {
    json_error_t error;
    json_t *descriptor = collector->descriptor ? json_loads(collector->descriptor, JSON_REJECT_DUPLICATES, &error) : NULL;
    if (!json_is_object(descriptor)) {
        char text[300];
        snprintf(text, sizeof text, "the library's descriptor is no JSON object: %s", collector->descriptor ? error.text : "it is NULL");
        json_decref(descriptor);
        return refuse("bad_declaration", text);
    }
    json_object_set_new(descriptor, "message", json_string("descriptor"));
    json_object_set_new(descriptor, "protocol", json_integer(1));
    return tell(descriptor) == 0 ? 0 : 1;
}

/// "" for what is not there, so that a collector can print it.
static const char *text_of(json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static fieldprobe_session session_from(json_t *start) {
    json_t *permissions = json_object_get(start, "permissions"), *target = json_object_get(start, "target");
    host.configuration = json_object_get(start, "configuration");
    char *configuration = host.configuration ? json_dumps(host.configuration, JSON_COMPACT) : NULL;
    take_target(target);
    fieldprobe_session session = {
        .size = sizeof session,
        .abi = FIELDPROBE_COLLECTOR_ABI,
        .type = text_of(start, "type"),
        .subject = text_of(start, "subject"),
        .target = json_string_value(json_object_get(target, "host")),
        .started_at = json_integer_value(json_object_get(start, "started_at")),
        .configuration = configuration ? configuration : "{}",
    };
    if (json_is_true(json_object_get(permissions, "precise_location"))) session.permissions |= FIELDPROBE_PRECISE_LOCATION;
    if (json_is_true(json_object_get(permissions, "wifi_identity"))) session.permissions |= FIELDPROBE_WIFI_IDENTITY;
    return session;
}

int run_library(const char *path) {
    // The interface promises -EPIPE.
    signal(SIGPIPE, SIG_IGN);
    host.out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    host.stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    host.attention = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (host.out < 0 || host.stop < 0 || host.attention < 0 || dup2(2, 1) < 0) return 1;

    const fieldprobe_collector *collector = load(path);
    if (!collector || describe(collector) != 0) return 1;
    json_t *start = next_message("start", "stop");
    if (!start || strcmp(text_of(start, "message"), "stop") == 0) return 0;

    fieldprobe_session session = session_from(start);
    const fieldprobe_host services = {
        .size = sizeof services,
        .abi = FIELDPROBE_COLLECTOR_ABI,
        .record = host_record,
        .gap_began = host_gap_began,
        .gap_ended = host_gap_ended,
        .gap_passed = host_gap_passed,
        .unavailable = host_unavailable,
        .available = host_available,
        .denied = host_denied,
        .resynced = host_resynced,
        .rejected = host_rejected,
        .provenance = host_provenance,
        .failed = host_failed,
        .wait = host_wait,
        .stop_descriptor = host_stop_descriptor,
        .target = host_target,
        .setting = host_setting,
    };
    pthread_t listener;
    int error = pthread_create(&listener, NULL, listen_to_fieldprobe, NULL);
    if (error) return refuse("no_resources", strerror(error));
    int32_t result = collector->collect(&services, &session);
    // Without the library's exit handlers, which could take as long as they like: everything has been told.
    _exit(result == 0 ? 0 : 1);
}

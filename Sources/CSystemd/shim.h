// sd-bus is half variadic, which Swift cannot call: one static inline function for each shape of call that we make.
#pragma once
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>

/// Calls a method with one text argument (NULL: none) and reads one object path. Never starts the service. 0 or more on success, and
/// `path` is to be freed; otherwise -errno.
static inline int csystemd_call_for_path(sd_bus *bus, const char *service, const char *object, const char *interface,
                                         const char *method, const char *argument, char **path) {
    sd_bus_message *call = NULL, *reply = NULL;
    const char *found = NULL;
    int status = sd_bus_message_new_method_call(bus, &call, service, object, interface, method);
    if (status >= 0) status = sd_bus_message_set_auto_start(call, 0);
    if (status >= 0 && argument) status = sd_bus_message_append_basic(call, 's', argument);
    if (status >= 0) status = sd_bus_call(bus, call, 0, NULL, &reply);
    if (status >= 0) status = sd_bus_message_read_basic(reply, 'o', &found);
    if (status >= 0) {
        *path = strdup(found);
        if (!*path) status = -ENOMEM;
    }
    sd_bus_message_unref(call);
    sd_bus_message_unref(reply);
    return status;
}

/// Reads a property of type u. Never starts the service. 0 or more on success, otherwise -errno.
static inline int csystemd_get_u32(sd_bus *bus, const char *service, const char *object, const char *interface, const char *property,
                                   uint32_t *value) {
    sd_bus_message *call = NULL, *reply = NULL;
    int status = sd_bus_message_new_method_call(bus, &call, service, object, "org.freedesktop.DBus.Properties", "Get");
    if (status >= 0) status = sd_bus_message_set_auto_start(call, 0);
    if (status >= 0) status = sd_bus_message_append_basic(call, 's', interface);
    if (status >= 0) status = sd_bus_message_append_basic(call, 's', property);
    if (status >= 0) status = sd_bus_call(bus, call, 0, NULL, &reply);
    if (status >= 0) status = sd_bus_message_enter_container(reply, 'v', "u");
    if (status >= 0) status = sd_bus_message_read_basic(reply, 'u', value);
    sd_bus_message_unref(call);
    sd_bus_message_unref(reply);
    return status;
}

/// Calls a method with one text argument (NULL: none). Never starts the service. 0 or more on success and a
/// reply to unref; otherwise -errno.
static inline int csystemd_call(sd_bus *bus, const char *service, const char *object, const char *interface, const char *method,
                                const char *text, sd_bus_message **reply) {
    sd_bus_message *call = NULL;
    int status = sd_bus_message_new_method_call(bus, &call, service, object, interface, method);
    if (status >= 0) status = sd_bus_message_set_auto_start(call, 0);
    if (status >= 0 && text) status = sd_bus_message_append_basic(call, 's', text);
    if (status >= 0) status = sd_bus_call(bus, call, 0, NULL, reply);
    sd_bus_message_unref(call);
    return status;
}

/// Counts the messages that match a rule (a D-Bus match rule) in `counter`, which has to outlive the bus. 0 or more, otherwise -errno.
static inline int csystemd_count_message(sd_bus_message *message, void *counter, sd_bus_error *error) {
    (void)message;
    (void)error;
    ++*(unsigned *)counter;
    return 0;
}
static inline int csystemd_count_matches(sd_bus *bus, const char *rule, unsigned *counter) {
    return sd_bus_add_match(bus, NULL, rule, csystemd_count_message, counter);
}

/// Opens a message bus at an address. 0 or more on success, otherwise -errno.
static inline int csystemd_open(sd_bus **bus, const char *address) {
    sd_bus *opened = NULL;
    int status = sd_bus_new(&opened);
    if (status >= 0) status = sd_bus_set_address(opened, address);
    if (status >= 0) status = sd_bus_set_bus_client(opened, 1);
    if (status >= 0) status = sd_bus_start(opened);
    if (status < 0) {
        sd_bus_unref(opened);
        return status;
    }
    *bus = opened;
    return status;
}

/// Waits until the handshake with the bus is done, for so many microseconds at most: calls have time-outs, and the handshake has none.
/// 1 when it is done, 0 when the time is over, otherwise -errno.
static inline int csystemd_wait_ready(sd_bus *bus, uint64_t microseconds) {
    for (int round = 0; round < 20; round++) {
        int status = sd_bus_is_ready(bus);
        if (status != 0) return status;
        do status = sd_bus_process(bus, NULL); while (status > 0);
        if (status < 0) return status;
        status = sd_bus_is_ready(bus);
        if (status != 0) return status;
        status = sd_bus_wait(bus, microseconds / 20);
        if (status < 0 && status != -EINTR) return status;
    }
    return 0;
}

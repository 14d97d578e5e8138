// libgps changes struct gps_data_t with nearly every release, and since 3.24 keeps the host and port pointers that
// gps_open() was given. These accessors hide both, so that no version-dependent type and no dangling pointer
// reaches Swift. Only the transport is used: the fix is decoded from the raw line.
#pragma once
#include <gps.h>
#include <stdlib.h>
#include <string.h>

#if !defined(GPSD_API_MAJOR_VERSION) || GPSD_API_MAJOR_VERSION < 7
#error "libgps of gpsd 3.18 or newer is needed: install libgps-dev"
#endif

typedef struct cgpsd_connection {
    struct gps_data_t data;
    char *host, *port;
} cgpsd_connection;

/// Connects, blocking. NULL on failure, with gps_open's code in `error`: gps_errstr() tells its text.
static inline cgpsd_connection *cgpsd_open(const char *host, const char *port, int *error) {
    cgpsd_connection *connection = (cgpsd_connection *)calloc(1, sizeof *connection);
    if (!connection) { *error = -1; return NULL; }
    connection->host = strdup(host);
    connection->port = strdup(port);
    *error = gps_open(connection->host, connection->port, &connection->data);
    if (*error != 0) {
        free(connection->host);
        free(connection->port);
        free(connection);
        return NULL;
    }
    return connection;
}

static inline int cgpsd_descriptor(const cgpsd_connection *connection) { return (int)connection->data.gps_fd; }

/// Reads one line, without waiting. Its length, 0 when no whole line is there, -1 when the connection has ended.
/// `set` is cleared first: libgps keeps the bits of an earlier line.
static inline int cgpsd_read(cgpsd_connection *connection, char *line, int capacity) {
    connection->data.set = 0;
    return gps_read(&connection->data, line, capacity);
}

/// Sends a request such as ?WATCH. 0, or -1.
static inline int cgpsd_send(cgpsd_connection *connection, const char *request) {
    return gps_send(&connection->data, "%s", request);
}

static inline void cgpsd_close(cgpsd_connection *connection) {
    gps_close(&connection->data);
    free(connection->host);
    free(connection->port);
    free(connection);
}

// The least that a server of this kind can do: one libmicrohttpd handler that reads a body and inserts one SQLite row for each request.
// No check, no hash, no token. Usage: plain_server DATABASE; prints its port.
#include <arpa/inet.h>
#include <microhttpd.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sqlite3_stmt *insert;

struct body { char *octets; size_t size; };

static enum MHD_Result handle(void *unused, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
                              const char *data, size_t *size, void **context) {
    (void)unused; (void)url; (void)method; (void)version;
    struct body *body = *context;
    if (!body) {
        *context = calloc(1, sizeof *body);
        return *context ? MHD_YES : MHD_NO;
    }
    if (*size) {
        char *grown = realloc(body->octets, body->size + *size);
        if (!grown) return MHD_NO;
        memcpy(grown + body->size, data, *size);
        body->octets = grown;
        body->size += *size;
        *size = 0;
        return MHD_YES;
    }
    sqlite3_bind_blob(insert, 1, body->octets ? body->octets : "", (int)body->size, SQLITE_STATIC);
    int status = sqlite3_step(insert) == SQLITE_DONE ? 201 : 500;
    sqlite3_reset(insert);
    static char answer[] = "{}";
    struct MHD_Response *response = MHD_create_response_from_buffer(2, answer, MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(response, "Content-Type", "application/json");
    enum MHD_Result result = MHD_queue_response(connection, (unsigned)status, response);
    MHD_destroy_response(response);
    return result;
}

static void completed(void *unused, struct MHD_Connection *connection, void **context, enum MHD_RequestTerminationCode code) {
    (void)unused; (void)connection; (void)code;
    struct body *body = *context;
    if (body) free(body->octets);
    free(body);
}

int main(int count, char **arguments) {
    sqlite3 *database;
    if (count != 2 || sqlite3_open(arguments[1], &database) != SQLITE_OK) return 1;
    sqlite3_exec(database, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)", 0, 0, 0);
    if (sqlite3_prepare_v2(database, "INSERT INTO t (body) VALUES (?)", -1, &insert, 0) != SQLITE_OK) return 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    // One thread, as the one writer that SQLite has.
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, handle, NULL, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_COMPLETED, completed,
        NULL, MHD_OPTION_END);
    if (!daemon) return 1;
    printf("%u\n", MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    pause();
    return 0;
}

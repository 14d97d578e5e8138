// The least that a durable enqueue costs: the same system calls without anything around them, and one SQLite insert that is as durable.
// Usage: queue_peer calls|sqlite FOLDER COUNT OCTETS. Prints microseconds, one line for each enqueue.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void need(int ok, const char *what) {
    if (ok) return;
    perror(what);
    exit(1);
}

static void enqueue(const char *folder, int number, const char *body, size_t size) {
    char temporary[4096], name[4096];
    snprintf(temporary, sizeof temporary, "%s/.new-%d", folder, number);
    snprintf(name, sizeof name, "%s/%016x-r%d.json", folder, number, number);
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    need(file >= 0, "open");
    struct stat facts;
    need(flock(file, LOCK_EX) == 0 && fstat(file, &facts) == 0, "flock");
    need(write(file, body, size) == (ssize_t)size, "write");
    need(fsync(file) == 0, "fsync");
    DIR *stream = opendir(folder);
    need(stream != NULL, "opendir");
    while (readdir(stream)) {}
    closedir(stream);
    need(rename(temporary, name) == 0, "rename");
    close(file);
    int entry = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    need(entry >= 0 && fsync(entry) == 0, "fsync folder");
    close(entry);
}

int main(int count, char **words) {
    if (count != 5) return 2;
    int reports = atoi(words[3]);
    size_t size = (size_t)atol(words[4]);
    char *body = malloc(size);
    memset(body, 'x', size);
    sqlite3 *database = NULL;
    sqlite3_stmt *insert = NULL;
    if (!strcmp(words[1], "sqlite")) {
        char path[4096];
        snprintf(path, sizeof path, "%s/queue.db", words[2]);
        need(sqlite3_open(path, &database) == SQLITE_OK, "sqlite");
        sqlite3_exec(database, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE queue(id TEXT PRIMARY KEY, body BLOB)", 0, 0, 0);
        need(sqlite3_prepare_v2(database, "INSERT INTO queue VALUES(?,?)", -1, &insert, 0) == SQLITE_OK, "prepare");
    }
    for (int number = 0; number < reports; number++) {
        double start = now();
        if (database) {
            char id[32];
            snprintf(id, sizeof id, "r%d", number);
            sqlite3_bind_text(insert, 1, id, -1, SQLITE_TRANSIENT);
            sqlite3_bind_blob(insert, 2, body, (int)size, SQLITE_STATIC);
            need(sqlite3_step(insert) == SQLITE_DONE, "insert");
            sqlite3_reset(insert);
        } else {
            enqueue(words[2], number, body, size);
        }
        printf("%.1f\n", now() - start);
    }
    return 0;
}

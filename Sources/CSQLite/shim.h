// SQLITE_TRANSIENT is a cast of -1 to a function pointer and the extended codes are expressions: Swift imports neither.
#pragma once
#include <sqlite3.h>

static const int csqlite_constraint_unique = SQLITE_CONSTRAINT_UNIQUE;

/// Binds a copy of the octets.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int length) {
    return sqlite3_bind_text(statement, index, text, length, SQLITE_TRANSIENT);
}
static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *octets, sqlite3_uint64 length) {
    return sqlite3_bind_blob64(statement, index, octets, length, SQLITE_TRANSIENT);
}

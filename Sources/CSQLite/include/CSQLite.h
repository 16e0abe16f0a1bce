// SQLite for Swift: the header, and a function that uses SQLITE_TRANSIENT, a macro that Swift
// cannot import.
#pragma once

#include <sqlite3.h>

/// Binds a text to a parameter of a statement. SQLite copies the text.
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text,
                                    sqlite3_uint64 length) {
  return sqlite3_bind_text64(statement, index, text, length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

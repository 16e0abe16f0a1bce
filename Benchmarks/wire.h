/* What the small programs of the benchmark share: time, failing, and a client of the daemon's
 * protocol that does no more than measuring needs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ends the program with a sentence and errno's meaning. */
_Noreturn void fail(const char *what);
/* As above, where errno says nothing. */
_Noreturn void fail_text(const char *what, const char *text);

/* Nanoseconds of CLOCK_BOOTTIME, the daemon's clock. */
uint64_t now_ns(void);

/* A connected Unix stream socket. */
int connect_unix(const char *path);

/* One connection that speaks NUL-ended messages. */
struct channel {
  int fd;
  size_t start, end;
  char bytes[4096];
};

void channel_open(struct channel *channel, const char *path);
void channel_send(struct channel *channel, const char *text);
/* The next message, valid until the next call. Ends the program where the connection ends. */
const char *channel_receive(struct channel *channel);

/* Sends a call of `method` of org.taskschedd.Application, waits, and ends the program where it is
 * refused. Returns the answer. */
const char *call(struct channel *channel, const char *method, const char *parameters);

/* The integer after `"key":`; ends the program where there is none. */
int64_t integer_after(const char *message, const char *key);

/* A registered application: the event stream, and the connection for calls. */
struct application {
  struct channel events, calls;
};

/* Connects, registers `id` and waits for the answer that holds `registered`. */
void application_register(
  struct application *application, const char *socket, const char *id, bool in_background);
/* Waits for one callback and acknowledges it. */
void application_acknowledge(struct application *application);
/* Begins a background task and returns its id. */
int64_t application_begin(struct application *application);

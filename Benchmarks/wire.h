/* Functions that the C programs of the benchmarks share: the time, failures, and a minimal client
 * of the daemon. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Prints `what` and the error of errno, and exits. */
_Noreturn void fail(const char *what);
/* Prints `what` and `text`, and exits. */
_Noreturn void fail_text(const char *what, const char *text);

/* Returns the time of CLOCK_BOOTTIME, the daemon's clock, in nanoseconds. */
uint64_t now_ns(void);

/* Returns a Unix stream socket that is connected to `path`. */
int connect_unix(const char *path);

/* A connection for messages that end with a NUL byte. */
struct channel {
  int fd;
  size_t start, end;
  char bytes[4096];
};

void channel_open(struct channel *channel, const char *path);
void channel_send(struct channel *channel, const char *text);
/* Returns the next message, which is valid until the next call. Exits if the connection ends. */
const char *channel_receive(struct channel *channel);

/* Calls `method` of org.taskschedd.Application, and returns the reply. Exits if the daemon refuses
 * the call. */
const char *call(struct channel *channel, const char *method, const char *parameters);

/* Returns the integer after `"key":`. Exits if there is none. */
int64_t integer_after(const char *message, const char *key);

/* A registered application: the event stream, and the connection for calls. */
struct application {
  struct channel events, calls;
};

/* Connects to the daemon, registers the application `id`, and waits for the registration. */
void application_register(
  struct application *application, const char *socket, const char *id, bool in_background);
/* Waits for one callback and acknowledges it. */
void application_acknowledge(struct application *application);
/* Begins a background task and returns its id. */
int64_t application_begin(struct application *application);

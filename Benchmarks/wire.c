#include "wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

_Noreturn void fail(const char *what) { fail_text(what, strerror(errno)); }

_Noreturn void fail_text(const char *what, const char *text) {
  fprintf(stderr, "benchmark: %s: %s\n", what, text);
  exit(1);
}

uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int connect_unix(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) fail_text(path, "too long for a socket");
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) fail("socket");
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) fail(path);
  return fd;
}

void channel_open(struct channel *channel, const char *path) {
  channel->fd = connect_unix(path);
  channel->start = channel->end = 0;
}

void channel_send(struct channel *channel, const char *text) {
  size_t count = strlen(text) + 1;
  if (send(channel->fd, text, count, MSG_NOSIGNAL) != (ssize_t)count) fail("send");
}

const char *channel_receive(struct channel *channel) {
  for (;;) {
    char *first = channel->bytes + channel->start;
    char *nul = memchr(first, 0, channel->end - channel->start);
    if (nul) {
      channel->start = (size_t)(nul + 1 - channel->bytes);
      return first;
    }
    memmove(channel->bytes, first, channel->end - channel->start);
    channel->end -= channel->start;
    channel->start = 0;
    size_t room = sizeof channel->bytes - channel->end;
    if (room == 0) fail_text("receive", "a message is too long");
    ssize_t count = recv(channel->fd, channel->bytes + channel->end, room, 0);
    if (count < 0) fail("receive");
    if (count == 0) fail_text("receive", "the connection was closed");
    channel->end += (size_t)count;
  }
}

const char *call(struct channel *channel, const char *method, const char *parameters) {
  char text[512];
  snprintf(
    text, sizeof text, "{\"method\":\"org.taskschedd.Application.%s\",\"parameters\":%s}", method,
    parameters);
  channel_send(channel, text);
  const char *answer = channel_receive(channel);
  if (strstr(answer, "\"error\"")) fail_text(method, answer);
  return answer;
}

int64_t integer_after(const char *message, const char *key) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  const char *found = strstr(message, quoted);
  if (!found) fail_text(key, message);
  return strtoll(found + strlen(quoted), NULL, 10);
}

void application_register(
  struct application *application, const char *socket, const char *id, bool in_background) {
  channel_open(&application->events, socket);
  channel_open(&application->calls, socket);
  char text[512];
  snprintf(
    text, sizeof text,
    "{\"method\":\"org.taskschedd.Application.Register\",\"parameters\":"
    "{\"application\":\"%s\",\"background\":%s},\"more\":true}",
    id, in_background ? "true" : "false");
  channel_send(&application->events, text);
  const char *answer = channel_receive(&application->events);
  if (!strstr(answer, "\"registered\"")) fail_text("Register", answer);
}

void application_acknowledge(struct application *application) {
  const char *message = channel_receive(&application->events);
  const char *callback = strstr(message, "\"callback\"");
  if (!callback) fail_text("a callback was expected", message);
  char parameters[64];
  snprintf(
    parameters, sizeof parameters, "{\"callback\":%" PRId64 "}", integer_after(callback, "id"));
  call(&application->calls, "Acknowledge", parameters);
}

int64_t application_begin(struct application *application) {
  const char *answer =
    call(&application->calls, "BeginBackgroundTask", "{\"name\":\"benchmark\"}");
  return integer_after(answer, "task");
}

/* Floods the daemon as one user, until a signal kills the program.
 *
 *   flood calls SOCKET UID CONNECTIONS AHEAD
 *   flood storm SOCKET UID
 *
 * calls: sends calls, with AHEAD calls unanswered on each connection.
 * storm: connects and closes as fast as the daemon accepts connections.
 *
 * The program runs as UID, unless that is 0. It prints "floods COUNT" at the start, and for each
 * line on its standard input. COUNT is the number of replies, or of accepted connections.
 */
#include "wire.h"

#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CALL "{\"method\":\"org.taskschedd.Control.ListApplications\"}"
#define AHEAD_MAX 256

static uint64_t served;

static void become(const char *text) {
  uid_t uid = (uid_t)strtoul(text, NULL, 10);
  if (uid == 0) return;
  if (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0)
    fail("becoming another user");
}

static void say(void) {
  printf("floods %" PRIu64 "\n", served);
  fflush(stdout);
}

/* Prints the count for each line on standard input. Exits at the end of the input. */
static void answer(void) {
  char bytes[64];
  ssize_t count = read(0, bytes, sizeof bytes);
  if (count <= 0) exit(0);
  for (ssize_t index = 0; index < count; index++)
    if (bytes[index] == '\n') say();
}

static void send_calls(int fd, size_t count) {
  static char calls[AHEAD_MAX * sizeof CALL];
  if (!calls[0])
    for (size_t index = 0; index < AHEAD_MAX; index++)
      memcpy(calls + index * sizeof CALL, CALL, sizeof CALL);
  if (send(fd, calls, count * sizeof CALL, MSG_NOSIGNAL) != (ssize_t)(count * sizeof CALL))
    fail("send");
}

static void watch(int epoll, int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
}

static void flood_calls(const char *path, int connections, size_t ahead) {
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  watch(epoll, 0);
  for (int index = 0; index < connections; index++) {
    int fd = connect_unix(path);
    watch(epoll, fd);
    send_calls(fd, ahead);
  }
  say();
  static char bytes[1 << 16];
  for (;;) {
    struct epoll_event events[64];
    int ready = epoll_wait(epoll, events, 64, -1);
    for (int index = 0; index < ready; index++) {
      int fd = events[index].data.fd;
      if (fd == 0) {
        answer();
        continue;
      }
      ssize_t count = recv(fd, bytes, sizeof bytes, 0);
      if (count <= 0) fail("receive");
      size_t answers = 0;
      for (ssize_t byte = 0; byte < count; byte++) answers += bytes[byte] == 0;
      served += answers;
      if (answers > 0) send_calls(fd, answers);
    }
  }
}

static void flood_storm(const char *path) {
  fcntl(0, F_SETFL, O_NONBLOCK);
  say();
  for (;; served++) {
    close(connect_unix(path));
    struct pollfd input = {.fd = 0, .events = POLLIN};
    if (served % 64 == 0 && poll(&input, 1, 0) == 1) answer();
  }
}

int main(int count, char **arguments) {
  if (count == 6 && strcmp(arguments[1], "calls") == 0) {
    size_t ahead = (size_t)atoi(arguments[5]);
    if (ahead < 1 || ahead > AHEAD_MAX) fail_text(arguments[5], "calls ahead are 1 to 256");
    become(arguments[3]);
    flood_calls(arguments[2], atoi(arguments[4]), ahead);
  } else if (count == 4 && strcmp(arguments[1], "storm") == 0) {
    become(arguments[3]);
    flood_storm(arguments[2]);
  }
  fail_text("usage", "flood calls SOCKET UID CONNECTIONS AHEAD | flood storm SOCKET UID");
}

/* Times how long after a byte left its peer an application on another connection end learns of it.
 *
 *   socket-wake peer SAMPLES STATE
 *     Listens on TCP at 127.0.0.1, prints "port PORT", and takes one connection. SAMPLES times it
 *     waits until the process at the other end is in STATE, the letter of /proc/PID/stat (S: it
 *     sleeps), sends a byte, and reads the instant at which the process had it. Prints "P50 P99" in
 *     nanoseconds. The first tenth of the samples warms up and is left out.
 *   socket-wake plain PORT
 *     The process at the other end as any program does it: it runs, and waits in epoll_wait.
 */
#include "wire.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_NS 10000000000
/* For the machine to come to rest between samples. */
#define PAUSE_NS 500000

static void read_whole(int fd, void *bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    ssize_t got = read(fd, (char *)bytes + done, count - done);
    if (got == 0) fail_text("socket-wake", "the other end closed the connection");
    if (got < 0) fail("read");
    done += (size_t)got;
  }
}

static void write_whole(int fd, const void *bytes, size_t count) {
  if (send(fd, bytes, count, MSG_NOSIGNAL) != (ssize_t)count) fail("send");
}

static void send_at_once(int fd) {
  int on = 1;
  if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("TCP_NODELAY");
}

static struct sockaddr_in loopback(uint16_t port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

static char state_of(int stat) {
  char text[512];
  ssize_t count = pread(stat, text, sizeof text - 1, 0);
  if (count <= 0) fail("reading the state of the process");
  text[count] = 0;
  char *end = strrchr(text, ')');
  if (!end) fail_text("stat", text);
  return end[2];
}

static void wait_for_state(int stat, char state) {
  uint64_t limit = now_ns() + LIMIT_NS;
  struct timespec pause = {.tv_nsec = PAUSE_NS};
  do {
    if (now_ns() > limit) fail_text("socket-wake", "the process did not come to rest within 10 s");
    nanosleep(&pause, NULL);
  } while (state_of(stat) != state);
}

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static int accept_one(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  if (
    listener < 0 || bind(listener, (struct sockaddr *)&address, length) != 0
    || listen(listener, 1) != 0
    || getsockname(listener, (struct sockaddr *)&address, &length) != 0)
    fail("listening");
  printf("port %d\n", ntohs(address.sin_port));
  fflush(stdout);
  int fd = accept(listener, NULL, NULL);
  if (fd < 0) fail("accept");
  close(listener);
  send_at_once(fd);
  return fd;
}

static void be_peer(size_t count, char state) {
  uint64_t *samples = calloc(count, sizeof *samples);
  if (!samples || count < 10) fail_text("peer", "the number of samples is out of bounds");
  int fd = accept_one();
  int32_t pid;
  read_whole(fd, &pid, sizeof pid);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int stat = open(path, O_RDONLY | O_CLOEXEC);
  if (stat < 0) fail(path);
  for (size_t index = 0; index < count; index++) {
    wait_for_state(stat, state);
    uint64_t start = now_ns(), end;
    write_whole(fd, "", 1);
    read_whole(fd, &end, sizeof end);
    samples[index] = end - start;
  }
  uint64_t *rest = samples + count / 10;
  count -= count / 10;
  qsort(rest, count, sizeof *rest, compare);
  printf("%" PRIu64 " %" PRIu64 "\n", rest[count / 2], rest[count * 99 / 100]);
}

static void be_plain(uint16_t port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = loopback(port);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
  send_at_once(fd);
  int32_t pid = getpid();
  write_whole(fd, &pid, sizeof pid);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll");
  for (;;) {
    if (epoll_wait(epoll, &event, 1, -1) != 1) fail("epoll_wait");
    uint64_t end = now_ns();
    char byte;
    ssize_t got = read(fd, &byte, 1);
    if (got < 0) fail("read");
    if (got == 0) return;
    write_whole(fd, &end, sizeof end);
  }
}

int main(int count, char **arguments) {
  if (count == 4 && strcmp(arguments[1], "peer") == 0)
    be_peer((size_t)atol(arguments[2]), arguments[3][0]);
  else if (count == 3 && strcmp(arguments[1], "plain") == 0)
    be_plain((uint16_t)atoi(arguments[2]));
  else
    fail_text("usage", "socket-wake peer SAMPLES STATE | plain PORT");
  return 0;
}

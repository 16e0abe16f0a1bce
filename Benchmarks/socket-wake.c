/* Measures the time from the sending of a byte until the process at the other end has received it.
 *
 *   socket-wake peer SAMPLES STATE [SOCKET]
 *     Listens on TCP at 127.0.0.1, prints "port PORT", and accepts one connection. Then takes
 *     SAMPLES samples. For each, the peer waits until the process at the other end is in STATE, the
 *     letter of /proc/PID/stat (S: sleeping, T: stopped). It sends a byte, and reads the instant at
 *     which the process received the byte. If SOCKET names a daemon, the peer first waits until the
 *     daemon reports the suspension. Prints "P50 P99" in nanoseconds, without the first tenth of
 *     the samples, which warm up the machine.
 *   socket-wake plain PORT
 *     The process at the other end: it waits in epoll_wait, and is never suspended.
 *   socket-wake managed PORT SOCKET ID
 *     The process at the other end: it is the application ID of the daemon at SOCKET. It passes the
 *     connection to the daemon, which suspends the process. The instant that the process reports is
 *     that of its first instruction after the suspension.
 */
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
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
/* The pause between samples, in which the machine becomes idle. */
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
    if (now_ns() > limit) fail_text("socket-wake", "the process did not stop or sleep within 10 s");
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

static void open_monitor(struct channel *monitor, const char *path) {
  channel_open(monitor, path);
  channel_send(monitor, "{\"method\":\"org.taskschedd.Control.Monitor\",\"more\":true}");
  while (!strstr(channel_receive(monitor), "\"ready\"")) continue;
}

static void be_peer(size_t count, char state, const char *daemon) {
  uint64_t *samples = calloc(count, sizeof *samples);
  if (!samples || count < 10) fail_text("peer", "the number of samples is out of bounds");
  struct channel monitor;
  if (daemon) open_monitor(&monitor, daemon);
  int fd = accept_one();
  int32_t pid;
  read_whole(fd, &pid, sizeof pid);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int stat = open(path, O_RDONLY | O_CLOEXEC);
  if (stat < 0) fail(path);
  for (size_t index = 0; index < count; index++) {
    while (daemon && !strstr(channel_receive(&monitor), "\"to\":\"suspended\"")) continue;
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

static int connect_to_peer(uint16_t port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = loopback(port);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
  send_at_once(fd);
  int32_t pid = getpid();
  write_whole(fd, &pid, sizeof pid);
  return fd;
}

static void wait_for(int epoll, int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll");
}

static void be_plain(uint16_t port) {
  int fd = connect_to_peer(port);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event;
  wait_for(epoll, fd);
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

static void hand_over(struct channel *channel, int fd) {
  static const char text[] =
    "{\"method\":\"org.taskschedd.Application.ManageSocket\","
    "\"parameters\":{\"socketFileDescriptor\":0}}";
  struct iovec part = {.iov_base = (void *)text, .iov_len = sizeof text};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof fd)];
  } control = {.header = {
    .cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
  memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
  struct msghdr message = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
    .msg_controllen = sizeof control.bytes};
  if (sendmsg(channel->fd, &message, MSG_NOSIGNAL) != sizeof text) fail("sendmsg");
  const char *answer = channel_receive(channel);
  if (strstr(answer, "\"error\"")) fail_text("ManageSocket", answer);
}

static void acknowledge_event(struct application *application) {
  const char *event = strstr(channel_receive(&application->events), "\"socketEvent\"");
  if (!event) fail_text("socket-wake", "a socket event was expected");
  char parameters[64];
  snprintf(
    parameters, sizeof parameters, "{\"callback\":%" PRId64 "}", integer_after(event, "id"));
  call(&application->calls, "Acknowledge", parameters);
}

static void be_managed(uint16_t port, const char *socket, const char *id) {
  struct application application;
  application_register(&application, socket, id, true);
  int fd = connect_to_peer(port);
  hand_over(&application.calls, fd);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  wait_for(epoll, application.events.fd);
  /* The callback is the only entitlement, so its acknowledgement suspends the process. */
  application_acknowledge(&application);
  for (;;) {
    struct epoll_event event;
    /* The call fails with EINTR after the process was stopped. */
    int count = epoll_wait(epoll, &event, 1, -1);
    uint64_t end = now_ns();
    if (count < 0 && errno != EINTR) fail("epoll_wait");
    /* Reads the byte before the acknowledgement, after which the daemon suspends the process. */
    char byte;
    ssize_t got = recv(fd, &byte, 1, count < 0 ? MSG_DONTWAIT : 0);
    if (got < 0 && errno == EAGAIN) continue;
    if (got < 0) fail("read");
    if (got == 0) return;
    write_whole(fd, &end, sizeof end);
    acknowledge_event(&application);
  }
}

int main(int count, char **arguments) {
  if ((count == 4 || count == 5) && strcmp(arguments[1], "peer") == 0)
    be_peer((size_t)atol(arguments[2]), arguments[3][0], count == 5 ? arguments[4] : NULL);
  else if (count == 3 && strcmp(arguments[1], "plain") == 0)
    be_plain((uint16_t)atoi(arguments[2]));
  else if (count == 5 && strcmp(arguments[1], "managed") == 0)
    be_managed((uint16_t)atoi(arguments[2]), arguments[3], arguments[4]);
  else
    fail_text(
      "usage", "socket-wake peer SAMPLES STATE [SOCKET] | plain PORT | managed PORT SOCKET ID");
  return 0;
}
